//! One rating as the record: what has to be public of it, and what must not move with it.

use super::error::{DataTableError, ExperimentError};
use super::rules::Rule;
use crate::config::{Centre, Config, DataConfig};
use crate::privacy::{Adjacency, RatingRange, SensitivityRule};

/// What one rating can do is bounded where no other number of its user moves with it.
pub(super) const RULES: &[Rule] = &[
    (
        "values",
        |config| !matches!(config.data, DataConfig::Ratings(_)),
        "is not \"ratings\", which privacy.adjacency = \"rating\" is about: set it, or another adjacency",
    ),
    (
        "values",
        |config| config.privacy.sensitivity() != SensitivityRule::UnitRow,
        "= \"ratings\" with privacy.adjacency = \"rating\" is bounded by privacy.sensitivity = \"unit-row\": set that",
    ),
    (
        "centre",
        |config| matches!(&config.data, DataConfig::Ratings(data) if data.is_user_centred()),
        "= \"user\" moves all ratings of a user with any one of them, and privacy.adjacency = \"rating\" is about one: set a number, or \
         adjacency = \"user\"",
    ),
    (
        "ranges",
        |config| matches!(&config.data, DataConfig::Ratings(data) if data.range().is_none()),
        "is missing: privacy.adjacency = \"rating\" needs the public range of a rating, ranges = [low, high]",
    ),
];

/// What is public of one rating under `adjacency = "rating"`, in units of the longest row: how far it moves, being another or there or not,
/// and how large it is.
///
/// # Errors
/// [`DataTableError::RatingClip`] if a row could be shortened, which would move its other ratings too; [`DataTableError::Key`] if a rating is
/// nothing beside the longest row.
pub(super) fn range(config: &Config, items: usize) -> Result<Option<RatingRange>, ExperimentError> {
    let (Adjacency::Rating, DataConfig::Ratings(data)) = (config.privacy.adjacency, &config.data)
    else {
        return Ok(None);
    };
    let (Some(_), Some([low, high])) = (data.range(), data.scale()) else {
        return Ok(None);
    };
    let clip = data.row_clip();
    let centre = match data.centre() {
        Centre::Constant(number) => number,
        Centre::Named(_) => 0.0,
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
