//! What methods of completion take from an experiment file: which ratings are kept aside, and what is public of the rows.
//!
//! Ratings are kept aside by the coins that keep interactions aside for rankings ([`super::filters`]): one per user and item, by
//! their names, before anything is centred, capped or contributed. So a user's training row is a function of that user's row
//! alone, and neighbours stay neighbours.

use std::path::Path;

use super::error::{CompletionTableError, DataTableError, ExperimentError};
use super::held_out::HeldOut;
use super::numbers;
use super::rating_test::RatingTest;
use crate::algorithm::{AlgorithmError, Completion, RatedRows};
use crate::config::{Centre, Config, NamedCentre, RangesConfig, RatingValues};
use crate::data::{Interactions, Loaded};
use crate::privacy::Adjacency;
use crate::protocol::SessionPlanError;

/// What predictions of these data are measured against: `kept` is what the peers hold.
pub(super) fn rating_test(
    config: &Config,
    base: &Path,
    loaded: &Loaded,
    (kept, held_out): (&Interactions, Option<&HeldOut>),
) -> Result<RatingTest, ExperimentError> {
    let limit = config.data.row_limit;
    let scale = numbers::rating_scale(config, base)?;
    let held = numbers::of_items(loaded, kept, |user| kept.row(user));
    let held = numbers::on_scale(&scale, &held, limit)?;
    let centres = (0..held.len()).map(|user| scale.centre_of(held.row(user).1));
    let aside = |user| held_out.map_or(&[][..], |held_out| held_out.test.row(user));
    let ratings = numbers::of_items(loaded, kept, aside);
    Ok(RatingTest {
        centres: centres.collect(),
        ratings: numbers::on_scale(&scale, &ratings, limit)?,
        scale,
    })
}

/// Whether a configuration asks for predictions of ratings.
pub(super) fn is_meant(config: &Config) -> bool {
    config.algorithm.table().requirements().completes
}

/// Refuses keys that do not go with each other, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let refuse = |key, why| Err(CompletionTableError::Key { key, why }.into());
    let table = &config.completion;
    if !is_meant(config) {
        let given = [
            ("test_share", table.test_share.is_some()),
            ("item_means", table.item_means.is_some()),
            ("shares", table.shares.is_some()),
        ];
        return match given.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => refuse(
                key,
                "is about predicting ratings, and this algorithm predicts none: leave it out, or set algorithm.kind to a method of completion, such as \"spectral-ridge\"",
            ),
            None => Ok(()),
        };
    }
    let algorithm = config.algorithm.name();
    if !config.algorithm.table().requirements().item_means {
        let given = [
            ("item_means", table.item_means.is_some()),
            ("shares", table.shares.is_some()),
        ];
        if let Some((key, _)) = given.into_iter().find(|(_, given)| *given) {
            return refuse(
                key,
                "is of algorithm.kind = \"spectral-ridge\", the only method that releases item means: leave it out",
            );
        }
    }
    if config.algorithm.table().requirements().published
        && config.privacy.adjacency == Adjacency::ReplaceUser
    {
        return Err(CompletionTableError::PublishedReplace.into());
    }
    if config.data.values != Some(RatingValues::Ratings) {
        return Err(SessionPlanError::from(AlgorithmError::Ratings { algorithm }).into());
    }
    if config.data.ranges.is_none() {
        let key = "ranges";
        let why = "is missing: predictions are clipped to the public range of ratings; give ranges = [low, high]";
        return Err(DataTableError::Key { key, why }.into());
    }
    if let Some(RangesConfig::All(range)) = &config.data.ranges {
        let usable = |[low, high]: &[f64; 2]| {
            let wide = (high - low).powi(2).is_normal();
            wide && low.powi(2).is_finite() && high.powi(2).is_finite()
        };
        let ends = [Some(range), config.data.scale.as_ref()];
        if !ends.into_iter().flatten().all(usable) {
            let key = "ranges";
            let why = "or data.scale is too wide or too narrow for numbers to be squared: choose units in which ratings and the width of their range lie \
                       between 1e-150 and 1e150";
            return Err(DataTableError::Key { key, why }.into());
        }
    }
    if let Some(found) = table.test_share
        && !(found > 0.0 && found < 1.0)
    {
        return Err(CompletionTableError::TestShare { found }.into());
    }
    if config.evaluation.holdout.is_some() || config.evaluation.test.is_some() {
        return refuse(
            "test_share",
            "is what keeps ratings aside to be predicted; evaluation.holdout and evaluation.test are about rankings: leave them out",
        );
    }
    let adjacency = config.privacy.adjacency;
    match adjacency {
        Adjacency::User | Adjacency::ReplaceUser => Ok(()),
        _ => Err(CompletionTableError::Adjacency {
            algorithm,
            adjacency,
        }
        .into()),
    }
}

/// What methods of completion are told of so many users and items; `None` where there are no ratings.
pub(super) fn told(config: &Config, users: usize, items: usize) -> Option<Completion> {
    let data = &config.data;
    if data.values != Some(RatingValues::Ratings) {
        return None;
    }
    let cap = data.degree_cap.map_or(items, |cap| cap as usize);
    Some(Completion {
        rows: RatedRows {
            slots: users,
            radius: data.row_clip?,
            most_ratings: cap.min(items),
            user_centred: data.centre.and_then(Centre::name) == Some(NamedCentre::User),
        },
        item_means: config.completion.item_means(),
        shares: config.completion.shares(),
    })
}
