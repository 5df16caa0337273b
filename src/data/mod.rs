//! Rating data: file formats, the interactions they hold, public filters, and dealing users to peers.
//!
//! ```no_run
//! use std::num::NonZeroU32;
//! use std::path::Path;
//! use undertone::data::{self, Format, Partition};
//! use undertone::vocabulary::Seed;
//!
//! let path = Path::new("sims/data/ml-latest-small/ratings.csv.gz");
//! let loaded = data::load(path, Format::MovielensCsv, 0.0)?;
//! let (interactions, _counts) = loaded.interactions.most_rated(200);
//! let rows = interactions.normalised_rows(NonZeroU32::MIN);
//! let assignment = data::assign(rows.len(), 64, Partition::Random, &Seed::from_u64(7))?;
//! let peers = data::peer_rows(&rows, &assignment);
//! # Ok::<(), data::DataError>(())
//! ```

mod dataset;
mod error;
mod filter;
mod formats;
#[cfg(test)]
mod hostile;
mod ids;
mod interactions;
mod item_names;
mod names;
mod partition;
mod ratings;
mod source;
#[cfg(test)]
mod tests;
mod titles;

use std::fs::File;
use std::path::Path;

pub use dataset::{Dataset, RowBounds};
pub use error::{DataError, Problem};
pub use filter::{CapCounts, FilterCounts};
pub(crate) use formats::fields::split_commas;
pub use formats::{Format, read};
pub use ids::{load_ids, read_ids};
pub use interactions::Interactions;
pub use item_names::ItemNames;
pub use partition::{Partition, assign, peer_rows};
pub use ratings::{Loaded, ReadCounts};
pub use source::Limits;
pub use titles::{load_titles, read_titles};

/// Reads a rating file, plain or gzipped, under the default [`Limits`]; see [`read`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read`] refuses.
pub fn load(path: &Path, format: Format, threshold: f64) -> Result<Loaded, DataError> {
    let name = path.display().to_string();
    match File::open(path) {
        Ok(file) => read(file, &name, format, threshold, Limits::default()),
        Err(error) => Err(DataError::Open {
            file: name,
            kind: error.kind(),
        }),
    }
}
