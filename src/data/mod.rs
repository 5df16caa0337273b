//! Rating data and matrices: file formats, the interactions they hold, public filters, and dealing users to peers.
//!
//! ```no_run
//! use std::num::NonZeroU32;
//! use std::path::Path;
//! use undertone::data::{self, Format, Partition};
//! use undertone::vocabulary::Seed;
//!
//! let path = Path::new("sims/data/ml-latest-small/ratings.csv.gz");
//! let loaded = data::load(path, Format::MovielensCsv, 0.0)?;
//! let list = data::ItemNames::most_rated(&loaded.interactions, 200);
//! let (interactions, _counts) = list.restrict(&loaded.interactions);
//! let rows = interactions.normalised_rows(NonZeroU32::MIN);
//! let assignment = data::assign(rows.len(), 64, Partition::Random, &Seed::from_u64(7))?;
//! let peers = data::peer_rows(&rows, &assignment);
//! # Ok::<(), data::DataError>(())
//! ```

mod error;
mod filter;
mod formats;
#[cfg(test)]
mod hostile;
mod ids;
mod in_memory;
mod item_names;
mod matrix;
mod matrix_problem;
mod name_list;
mod names;
mod own_file;
mod own_ratings;
mod ratings;
mod source;
#[cfg(test)]
mod tests;
mod titles;
mod user_names;
mod user_peers;
mod vertices;

use std::fs::File;
use std::path::Path;

#[doc(no_inline)]
pub use crate::{
    dataset::{Dataset, DatasetError, Partition, RowBounds},
    interactions::{CapCounts, Interactions, InteractionsError},
};
pub use error::DataError;
pub use formats::{Format, TableColumn, TableColumns, TableOptions, read, read_table, read_values};
pub use in_memory::{InMemoryError, RatingColumns};
pub use matrix::{Column, MatrixFormat, MatrixOptions, load_matrix, read_matrix};
pub use matrix_problem::ColumnProblem;
pub use ratings::Loaded;
pub use source::Limits;

// For members' own files, and for integration tests.
#[doc(hidden)]
pub use {
    crate::dataset::{assign, assign_by_name, assign_sizes, peer_rows},
    item_names::ItemNames,
    own_file::{FileFormat, OwnFile, OwnFileError, OwnFileOptions},
};

pub(crate) use crate::dataset::assign_to;
pub(crate) use filter::FilterCounts;
pub(crate) use formats::fields::split_commas;
pub(crate) use ids::load_ids;
pub(crate) use matrix::{Generated, Preparation, centred};
pub(crate) use matrix_problem::PreparationError;
pub(crate) use own_ratings::load_own_ratings;
pub(crate) use ratings::ReadCounts;
pub(crate) use titles::load_titles;
pub(crate) use titles::titles_hint;
pub(crate) use user_names::UserNames;

/// Reads a rating file, plain or gzipped, under the default [`Limits`]; see [`read`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read`] refuses.
pub fn load(path: &Path, format: Format, threshold: f64) -> Result<Loaded, DataError> {
    let (file, name) = opened(path)?;
    read(file, &name, format, threshold, Limits::default())
}

/// Reads a rating file and keeps the ratings as numbers, under the default [`Limits`]; see [`read_values`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_values`] refuses.
pub fn load_values(path: &Path, format: Format) -> Result<Loaded, DataError> {
    let (file, name) = opened(path)?;
    read_values(file, &name, format, Limits::default())
}

/// Reads a table, plain or gzipped, under the default [`Limits`]; see [`read_table`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_table`] refuses.
pub fn load_table(
    path: &Path,
    options: &TableOptions,
    threshold: Option<f64>,
) -> Result<Loaded, DataError> {
    let (file, name) = opened(path)?;
    read_table(file, &name, options, threshold, Limits::default())
}

/// A file and what errors call it.
fn opened(path: &Path) -> Result<(File, String), DataError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => Ok((file, name)),
        Err(error) => Err(DataError::Open {
            file: name,
            kind: error.kind(),
        }),
    }
}
