//! Many runs that differ in a few keys: methods × grid × seeds, spread over cores, resumable, compared.
//!
//! ```text
//! [sweep] ── checked ──▶ cells ── workers ──▶ cells.jsonl ──▶ sweep.csv ──▶ curves, crossings, coincidences
//! ```
//!
//! All cells of one seed start from the same X⁰, which depends on the seed and the shape alone. All methods of
//! one grid point and seed are measured against the same references: those of the experiment file with the
//! grid point's values and without any method's. What goes wrong in sessions that tolerate losses is drawn anew for every seed: the seed of `[faults]` counts up
//! with those of the sweep. Where a sweep is about the users' lists, runs are measured by what of the held-out interactions these find
//! again, beside what popularity alone does. A cell's numbers depend on its own configuration only, so
//! neither the number of threads nor an interruption nor [`Shard`]s on several machines change a byte of the results.

mod bands;
mod cells;
mod coincidence;
mod cross;
mod curve;
mod error;
mod execute;
mod frontier;
mod grid;
mod journal;
mod lists;
mod measures;
mod outcomes;
mod output;
mod permutation;
mod result;
mod shard;

pub use cells::Cell;
pub use curve::Curve;
pub use error::{SweepError, SweepRunError};
pub use execute::Advance;
pub use grid::Sweep;
pub use result::SweepResult;
pub use shard::{MergeError, Shard, Shards};

#[cfg(feature = "cli")]
pub(crate) use curve::CurvePoint;
#[cfg(feature = "report")]
pub(crate) use {
    coincidence::Coincidence,
    cross::Crossing,
    frontier::{Frontier, FrontierPoint},
};
