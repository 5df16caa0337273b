//! Why a sweep cannot be run.

use std::path::PathBuf;

use crate::config::OverrideError;
use crate::run::output::OutputError;
use crate::scenario::ExperimentError;

/// The most cells of one sweep.
pub(super) const MOST_CELLS: usize = 100_000;

/// A `[sweep]` table that cannot be used. Every message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The experiment has no `[sweep]`.
    #[error("[sweep] is missing: add the table, with lists under [sweep.over]")]
    Missing,
    /// Something has no entries.
    #[error("[sweep] {what} is empty: give at least one value")]
    Empty {
        /// What.
        what: String,
    },
    /// Two methods of one name.
    #[error(
        "[sweep] two methods are called {name:?}: tables and plots tell methods apart by name, rename one"
    )]
    DuplicateMethod {
        /// The name.
        name: String,
    },
    /// A value twice.
    #[error("[sweep] over.\"{key}\" lists {value} twice: remove one")]
    DuplicateValue {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// A seed twice.
    #[error(
        "[sweep] seed {seed} is listed twice: a run counted twice narrows the bands, remove one"
    )]
    DuplicateSeed {
        /// The seed.
        seed: u64,
    },
    /// A seed that no experiment file can hold.
    #[error("[sweep] seed {seed} is too large: the largest is {}", i64::MAX)]
    SeedTooLarge {
        /// The seed.
        seed: u64,
    },
    /// A name of a method that is none.
    #[error("[sweep] {key} names {name:?}, which is no method; the methods are {known}")]
    UnknownMethod {
        /// The key.
        key: &'static str,
        /// What it says.
        name: String,
        /// All methods.
        known: String,
    },
    /// A target that no error can reach.
    #[error("[sweep] target = {target} must be a relative error above 0, for example 0.1")]
    Target {
        /// The target given.
        target: f64,
    },
    /// A crossing asked for on an axis that has none.
    #[error(
        "[sweep] target needs numbers under over.\"{key}\", the first key, which is the x axis: leave target out, or list \
         such a key first"
    )]
    NoAxis {
        /// The first key.
        key: String,
    },
    /// Too many cells.
    #[error(
        "[sweep] makes {cells} cells (methods x grid x seeds), more than {MOST_CELLS}: shorten a list, or split it into several files"
    )]
    TooManyCells {
        /// How many.
        cells: u128,
    },
    /// A key that is not the sweep's to change.
    #[error("[sweep] {whose} sets `{key}`, which {why}")]
    Key {
        /// The method or `over`.
        whose: String,
        /// The key.
        key: String,
        /// Why not.
        why: &'static str,
    },
    /// The values make no valid experiment.
    #[error("[sweep] {whose}: {source}")]
    Invalid {
        /// The method and grid point.
        whose: String,
        /// Why.
        source: Box<OverrideError>,
    },
    /// The experiment of a method and grid point cannot be run.
    #[error("[sweep] {whose}: {source}")]
    Experiment {
        /// The method and grid point.
        whose: String,
        /// Why.
        source: Box<ExperimentError>,
    },
    /// A method on another space than the reference.
    #[error(
        "[sweep] {whose} computes on {found} items, the reference on {expected}: their errors cannot be compared"
    )]
    Dimension {
        /// The method and grid point.
        whose: String,
        /// Its items.
        found: usize,
        /// The reference's.
        expected: usize,
    },
    /// Lists that nothing is held out for.
    #[error(
        "[sweep] error is of the users' lists, and {whose} holds no interactions out to find again: set evaluation.holdout, for example to 0.2, or \
         name a file in evaluation.test; or leave sweep.error out"
    )]
    NothingHeldOut {
        /// The method and grid point.
        whose: String,
    },
    /// A test that could never fail.
    #[error(
        "[sweep] coincide compares {tests} pairs of samples of {seeds} seeds: even the most different samples would have \
         a corrected p-value of {least:.1e}, above {significance:e}, so the check could never fail; use more seeds"
    )]
    CannotFail {
        /// Tests corrected for.
        tests: usize,
        /// Runs in each sample.
        seeds: usize,
        /// The least p-value.
        least: f64,
        /// What it would have to be below.
        significance: f64,
    },
}

/// What ended a sweep that had begun.
#[derive(Debug, thiserror::Error)]
pub enum SweepRunError {
    /// A result could not be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// A data file could not be read again.
    #[error("cannot read {path}: {source}", path = path.display())]
    Data {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A cell failed for a reason that need not return: memory, network.
    #[error("{whose}: {reason}; the finished cells are kept, run the same command again to go on")]
    Interrupted {
        /// The method, grid point and seed.
        whose: String,
        /// What happened.
        reason: String,
    },
    /// No threads to work on.
    #[error("cannot start a worker thread: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}
