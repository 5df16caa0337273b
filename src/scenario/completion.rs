//! What methods of completion take from an experiment file: which ratings are kept aside, and what is public of the rows.
//!
//! Ratings are kept aside by the coins that keep interactions aside for rankings ([`super::filters`]): one per user and item, by
//! their names, before anything is centred, capped or contributed. So a user's training row is a function of that user's row
//! alone, and neighbours stay neighbours.

use std::path::Path;

use super::error::{CompletionTableError, ExperimentError};
use super::held_out::HeldOut;
use super::numbers;
use super::rating_test::RatingTest;
use super::rules::{Rule, keep, keep_data};
use crate::algorithm::{AlgorithmError, Completion, RatedRows};
use crate::config::{Config, DataConfig};
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
    let limit = config.data.row_limit().copied();
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

/// Keys of `[completion]` where nothing is predicted.
const WITHOUT: &[Rule] = &[
    (
        "test_share",
        |config| config.completion.test_share.is_some(),
        PREDICTS_NONE,
    ),
    (
        "item_means",
        |config| config.completion.item_means.is_some(),
        PREDICTS_NONE,
    ),
    (
        "shares",
        |config| config.completion.shares.is_some(),
        PREDICTS_NONE,
    ),
];
const PREDICTS_NONE: &str = "is about predicting ratings, and this algorithm predicts none: leave it out, or set algorithm.kind to a method of completion, \
     such as \"spectral-ridge\"";

/// Keys of `[completion]` where no item means are released.
const WITHOUT_MEANS: &[Rule] = &[
    (
        "item_means",
        |config| config.completion.item_means.is_some(),
        NO_MEANS,
    ),
    (
        "shares",
        |config| config.completion.shares.is_some(),
        NO_MEANS,
    ),
];
const NO_MEANS: &str = "is of algorithm.kind = \"spectral-ridge\", the only method that releases item means: leave it out";

/// What predictions take from `[data]`.
const RANGES: &[Rule] = &[
    (
        "ranges",
        |config| config.data.ranges().is_none(),
        "is missing: predictions are clipped to the public range of ratings; give ranges = [low, high]",
    ),
    (
        "ranges",
        |config| {
            let usable = |[low, high]: [f64; 2]| {
                let wide = (high - low).powi(2).is_normal();
                wide && low.powi(2).is_finite() && high.powi(2).is_finite()
            };
            let DataConfig::Ratings(data) = &config.data else {
                return false;
            };
            let range = data.range();
            range.is_some() && ![range, data.scale()].into_iter().flatten().all(usable)
        },
        "or data.scale is too wide or too narrow for numbers to be squared: choose units in which ratings and the width of their range lie \
         between 1e-150 and 1e150",
    ),
];

/// Rankings, which are measured in another way.
const RANKINGS: &[Rule] = &[(
    "test_share",
    |config| config.evaluation.holdout.is_some() || config.evaluation.test.is_some(),
    "is what keeps ratings aside to be predicted; evaluation.holdout and evaluation.test are about rankings: leave them out",
)];

/// Refuses keys that do not go with each other, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let refusal = |key, why| CompletionTableError::Key { key, why };
    if !is_meant(config) {
        return Ok(keep(WITHOUT, config, refusal)?);
    }
    let (algorithm, adjacency) = (config.algorithm.name(), config.privacy.adjacency);
    let required = config.algorithm.table().requirements();
    if !required.item_means {
        keep(WITHOUT_MEANS, config, refusal)?;
    }
    if required.published && adjacency == Adjacency::ReplaceUser {
        return Err(CompletionTableError::PublishedReplace.into());
    }
    if !matches!(config.data, DataConfig::Ratings(_)) {
        return Err(SessionPlanError::from(AlgorithmError::Ratings { algorithm }).into());
    }
    keep_data(RANGES, config)?;
    if let Some(found) = config.completion.test_share
        && !(found > 0.0 && found < 1.0)
    {
        return Err(CompletionTableError::TestShare { found }.into());
    }
    keep(RANKINGS, config, refusal)?;
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
    let DataConfig::Ratings(data) = &config.data else {
        return None;
    };
    let cap = config.data.degree_cap();
    let cap = cap.map_or(items, |cap| *cap as usize);
    Some(Completion {
        rows: RatedRows {
            slots: users,
            radius: data.row_clip(),
            most_ratings: cap.min(items),
            user_centred: data.is_user_centred(),
        },
        item_means: config.completion.item_means(),
        shares: config.completion.shares(),
    })
}
