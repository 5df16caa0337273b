//! One experiment, run: the engine, what its result is measured against, and the documents that say so.

mod clipping;
mod compared;
mod consensus;
mod draws;
mod engine;
mod execute;
mod outcomes;
mod peak_memory;
mod references;
mod rounding;
mod rounds;
mod spread;

pub(crate) mod convergence_bounds;
pub mod faults;
pub mod items;
pub(crate) mod measure;
pub(crate) mod metrics;
pub(crate) mod noisy_power;
pub mod output;
// For the command `undertone predict`.
#[doc(hidden)]
pub mod predict;
pub mod receipt;
// For the command `undertone recommend`.
#[doc(hidden)]
pub mod recommend;
#[cfg(feature = "report")]
pub(crate) mod signal;

// For integration tests.
#[doc(hidden)]
pub mod completion;
// For the command `undertone recommend`, and for pages.
#[doc(hidden)]
pub mod directions;
// For reviewers: its matches name every way in which a run can end.
#[doc(hidden)]
pub mod disclosure;
// For integration tests.
#[doc(hidden)]
pub mod predictor;
// For integration tests.
#[doc(hidden)]
pub mod recommendation;
// For integration tests.
#[doc(hidden)]
pub mod score_model;
// For integration tests: parts of what `summary.json` holds.
#[doc(hidden)]
pub mod summary;
// For integration tests.
#[doc(hidden)]
pub mod variance;

pub use completion::Baselines;
pub use engine::RunError;
pub use execute::{Report, run};
pub use summary::Summary;

// For benchmarks.
#[doc(hidden)]
pub use peak_memory::peak_memory_bytes;

pub(crate) use engine::{run_engine, run_tolerant};
pub(crate) use references::References;

#[cfg(all(feature = "cli", feature = "node"))]
pub(crate) use execute::run_by;
#[cfg(feature = "cli")]
pub(crate) use {
    compared::ComparedRun,
    spread::{Draws, DrawsSummary, Measure},
};
