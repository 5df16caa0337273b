//! `[data]` of a rating file whose ratings are kept as numbers.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{KeyRefusal, check_length, first, lists};
use crate::config::numbers::{Centre, NamedCentre, RangesConfig, RatingValues};
use crate::data::{Format, TableColumns};

/// The keys of a rating file with `values = "ratings"`. The lists and the file are those of [`super::InteractionsTable`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RatingsTable {
    /// The file.
    #[serde(default)]
    pub(super) path: PathBuf,
    /// Where to get the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) obtain: Option<String>,
    /// Its format.
    pub(super) format: Format,
    /// Which columns of `format = "table"` hold what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) columns: Option<TableColumns>,
    /// Whether the first line of `format = "table"` names the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) header: Option<bool>,
    /// `"ratings"`.
    pub(super) values: RatingValues,
    /// The most rated items, or 0 for all.
    #[serde(default)]
    pub(super) items: usize,
    /// Or the items of this file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items_file: Option<PathBuf>,
    /// BLAKE3 of that list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) items_hash: Option<String>,
    /// The users of this file, in its order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) users_file: Option<PathBuf>,
    /// BLAKE3 of that list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) users_hash: Option<String>,
    /// A table of ids and titles of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) titles: Option<PathBuf>,
    /// d_cap: users keep at most this many ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) degree_cap: Option<u32>,
    /// The public range that ratings are clipped to, of all items or of each, and that is mapped to `scale`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ranges: Option<RangesConfig>,
    /// The range that ratings are mapped to; that of `ranges` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<[f64; 2]>,
    /// A promise about the file: no row of it is longer. One that is makes the file invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) row_limit: Option<f64>,
    /// What is taken from every rating: nothing, a public number, or the mean of the user's own ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) centre: Option<Centre>,
    /// R: rows are shortened to this length, after centring.
    pub(super) row_clip: f64,
}

impl RatingsTable {
    pub(super) fn check(&self) -> Result<(), KeyRefusal> {
        lists!(self)?;
        check_length("row_clip", self.row_clip)?;
        let centre = self.centre.unwrap_or(Centre::NONE);
        first([
            (
                "scale",
                self.scale.is_some() && self.ranges.is_none(),
                "maps the range of ratings: give that too, as ranges = [low, high]",
            ),
            (
                "centre",
                matches!(
                    centre.name(),
                    Some(NamedCentre::Public | NamedCentre::Private)
                ),
                "of ratings is \"none\", \"user\" or a number; \"public\" and \"private\" take a mean from every column of a matrix",
            ),
            (
                "centre",
                matches!(centre, Centre::Constant(found) if !found.is_finite()),
                "must be a finite number, or one of its names",
            ),
        ])
    }

    /// The public range of every rating, if there is one for all.
    #[must_use]
    pub fn range(&self) -> Option<[f64; 2]> {
        match self.ranges {
            Some(RangesConfig::All(range)) => Some(range),
            _ => None,
        }
    }

    /// What that range is mapped to, or itself.
    #[must_use]
    pub fn scale(&self) -> Option<[f64; 2]> {
        self.scale.or(self.range())
    }

    /// What is taken from every rating.
    #[must_use]
    pub fn centre(&self) -> Centre {
        self.centre.unwrap_or(Centre::NONE)
    }

    /// Whether the mean of a user's own ratings is taken from them, so that they all move with one.
    #[must_use]
    pub fn is_user_centred(&self) -> bool {
        self.centre().name() == Some(NamedCentre::User)
    }

    /// R.
    #[must_use]
    pub fn row_clip(&self) -> f64 {
        self.row_clip
    }
}
