//! `report.html`: one file that shows a run or a sweep, with figures and tables, without network or scripts.
//!
//! | page | of |
//! | --- | --- |
//! | [`run_page()`] | a single run |
//! | `chosen_page()` | a single run whose algorithm was chosen, with its pilot and the choice |
//! | `sweep_page()` | many runs: error against ε by method |
//! | `study_page()` | a study: its figures and tables |
//!
//! Figures are SVG of the `plotters` crate, whose colours are replaced by variables of the style sheet, so that they
//! follow the reader's light or dark scheme. All text is escaped: names come from files.

mod axis;
mod choice;
mod convergence;
mod direction_image;
mod directions;
mod figure;
mod frontiers;
mod guarantee;
mod ink;
mod labels;
mod layout;
mod lost_peers;
mod markup;
mod network;
mod number;
mod page;
mod run_page;
mod series;
mod study_page;
mod sweep_page;
mod swept;
mod table;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::writing::replace;

pub use figure::FigureError;
pub use run_page::run_page;
// For the command `undertone`, and for the Python package.
#[doc(hidden)]
pub use {
    run_page::chosen_page, study_page::study_page, sweep_page::SweepReport, sweep_page::sweep_page,
};

#[cfg(feature = "live")]
pub(crate) use layout::places;
#[cfg(feature = "live")]
pub(crate) use network::{MOST_EDGES, is_drawn};

/// Name of the file in the folder of results.
pub(crate) const FILE: &str = "report.html";

/// A report that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A figure could not be drawn.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// The file could not be written.
    #[error("cannot write {path}: {source}; choose another folder", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Writes a page as `report.html` into `directory`, which must exist, whole or not at all. Returns its path.
///
/// # Errors
/// [`ReportError::Write`] with the path that failed.
pub fn write(directory: &Path, page: &str) -> Result<PathBuf, ReportError> {
    let path = directory.join(FILE);
    match replace(&path, page.as_bytes()) {
        Ok(()) => Ok(path),
        Err(source) => Err(ReportError::Write { path, source }),
    }
}
