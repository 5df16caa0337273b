//! `[data]` of a matrix whose rows are the records.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{KeyRefusal, check_length, check_source, first};
use crate::config::numbers::{
    Centre, DataFormat, MeanShare, MeansConfig, NamedCentre, RangesConfig,
};
use crate::data::{Column, Generated};

/// The keys of formats of matrices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixTable {
    /// The file, relative to the experiment file; none where the matrix is generated.
    #[serde(default)]
    pub(super) path: PathBuf,
    /// Where to get the file; said where it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) obtain: Option<String>,
    /// Its format.
    pub(super) format: DataFormat,
    /// Whether the first line of `matrix-csv` names the columns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) header: Option<bool>,
    /// Columns that are left out: `"last"`, or numbers from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) drop: Option<Vec<Column>>,
    /// The matrix of `format = "generated"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) generate: Option<Generated>,
    /// A table of ids and titles of columns: names for reports. It decides nothing else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) titles: Option<PathBuf>,
    /// Rows and columns of the image that every row is, so that reports draw directions as images.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) image: Option<[usize; 2]>,
    /// The public ranges that numbers are clipped to and that are mapped to 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ranges: Option<RangesConfig>,
    /// A promise about the file: no row of it is longer. One that is makes the file invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) row_limit: Option<f64>,
    /// What is taken from every number; `"none"` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) centre: Option<Centre>,
    /// The public means of `centre = "public"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) means: Option<MeansConfig>,
    /// R_raw of `centre = "private"`: rows are shortened to this before they are summed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) raw_clip: Option<f64>,
    /// The share of the budget that a private mean is given; `"auto"` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) mean_share: Option<MeanShare>,
    /// R: rows are shortened to this length, after centring.
    pub(super) row_clip: f64,
}

/// What is taken from every column of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MatrixCentre<'a> {
    /// Nothing.
    None,
    /// These public means.
    Public(&'a MeansConfig),
    /// A mean that is released under noise first.
    Private {
        /// R_raw: rows are shortened to this before they are summed.
        raw_clip: f64,
        /// The share of the budget that the mean is given.
        share: MeanShare,
    },
}

impl MatrixTable {
    pub(super) fn check(&self) -> Result<(), KeyRefusal> {
        check_source(
            self.format,
            self.generate.as_ref(),
            self.header,
            self.drop.as_ref(),
        )?;
        check_length("row_clip", self.row_clip)?;
        self.raw_clip
            .map_or(Ok(()), |found| check_length("raw_clip", found))?;
        let named = self.centre.unwrap_or(Centre::NONE).name();
        let is_private = named == Some(NamedCentre::Private);
        first([
            (
                "centre",
                matches!(named, None | Some(NamedCentre::User)),
                "of a matrix is \"none\", \"public\" or \"private\"; a number, or \"user\", is for ratings",
            ),
            (
                "means",
                self.means.is_some() != (named == Some(NamedCentre::Public)),
                "belongs to centre = \"public\", which belongs to it: give both or neither",
            ),
            (
                "raw_clip",
                self.raw_clip.is_some() != is_private,
                "belongs to centre = \"private\", which needs it: the public length to which rows are shortened before they are summed",
            ),
            (
                "mean_share",
                self.mean_share.is_some() && !is_private,
                "belongs to centre = \"private\"; leave it out",
            ),
            (
                "mean_share",
                matches!(self.mean_share, Some(MeanShare::Share(share)) if !(share > 0.0 && share < 1.0)),
                "must lie strictly between 0 and 1, or be \"auto\"",
            ),
        ])
    }

    /// What is taken from every column.
    #[must_use]
    pub fn centre(&self) -> MatrixCentre<'_> {
        match (&self.means, self.raw_clip) {
            (Some(means), _) => MatrixCentre::Public(means),
            (None, Some(raw_clip)) => MatrixCentre::Private {
                raw_clip,
                share: self.mean_share.unwrap_or_default(),
            },
            (None, None) => MatrixCentre::None,
        }
    }

    /// Whether numbers are mapped to 0 to 1.
    #[must_use]
    pub fn is_in_unit_range(&self) -> bool {
        self.ranges.is_some()
    }

    /// R.
    #[must_use]
    pub fn row_clip(&self) -> f64 {
        self.row_clip
    }
}
