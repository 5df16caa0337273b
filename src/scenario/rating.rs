//! One rating as the record: what has to be public of it, and what must not move with it.

use super::error::{DataTableError, ExperimentError};
use crate::config::{Centre, Config, NamedCentre, RangesConfig, RatingValues};
use crate::privacy::{Adjacency, RatingRange, SensitivityRule};

/// What one rating can do is bounded where no other number of its user moves with it.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let data = &config.data;
    let refuse = |key, why| Err(DataTableError::Key { key, why }.into());
    if data.values != Some(RatingValues::Ratings) || data.format.ratings().is_none() {
        return refuse(
            "values",
            "is not \"ratings\", which privacy.adjacency = \"rating\" is about: set it, or another adjacency",
        );
    }
    if config.privacy.sensitivity() != SensitivityRule::UnitRow {
        return refuse(
            "values",
            "= \"ratings\" with privacy.adjacency = \"rating\" is bounded by privacy.sensitivity = \"unit-row\": set that",
        );
    }
    if data.centre.and_then(Centre::name) == Some(NamedCentre::User) {
        return refuse(
            "centre",
            "= \"user\" moves all ratings of a user with any one of them, and privacy.adjacency = \"rating\" is about one: set a number, or \
             adjacency = \"user\"",
        );
    }
    if !matches!(data.ranges, Some(RangesConfig::All(_))) {
        return refuse(
            "ranges",
            "is missing: privacy.adjacency = \"rating\" needs the public range of a rating, ranges = [low, high]",
        );
    }
    Ok(())
}

/// What is public of one rating under `adjacency = "rating"`, in units of the longest row: how far it moves, being another or there or not,
/// and how large it is.
///
/// # Errors
/// [`DataTableError::RatingClip`] if a row could be shortened, which would move its other ratings too; [`DataTableError::Key`] if a rating is
/// nothing beside the longest row.
pub(super) fn range(config: &Config, items: usize) -> Result<Option<RatingRange>, ExperimentError> {
    let data = &config.data;
    if config.privacy.adjacency != Adjacency::Rating {
        return Ok(None);
    }
    let (Some(RangesConfig::All([low, high])), Some(clip)) = (&data.ranges, data.row_clip) else {
        return Ok(None);
    };
    let [low, high] = data.scale.unwrap_or([*low, *high]);
    let centre = match data.centre {
        Some(Centre::Constant(number)) => number,
        Some(Centre::Named(_)) | None => 0.0,
    };
    let largest = (low - centre).abs().max((high - centre).abs());
    let longest = largest * (items as f64).sqrt();
    // Rounding may take a row to its longest and no further.
    let fits = longest <= clip * (1.0 + 1e-12);
    if !fits {
        return Err(DataTableError::RatingClip { clip, longest }.into());
    }
    let range = RatingRange {
        moves: (high - low).abs().max(largest) / clip,
        largest: largest / clip,
    };
    // Bounds are made of the squares, and of an underflow they would be 0.
    match [range.moves, range.largest].map(|x| x.powi(2).is_normal()) {
        [true, true] => Ok(Some(range)),
        _ => {
            let why = "is so far from the range of a rating that what one rating moves is nothing beside it: set it nearer to the length of the \
                       longest row";
            let key = "row_clip";
            Err(DataTableError::Key { key, why }.into())
        }
    }
}
