//! One experiment, run: the engine, what its result is measured against, and the documents that say so.

mod clipping;
mod compared;
mod consensus;
mod draws;
mod engine;
mod execute;
pub mod faults;
mod outcomes;
mod peak_memory;
mod references;
mod rounding;
mod rounds;
mod spread;

pub mod completion;
pub mod convergence_bounds;
pub mod directions;
pub mod disclosure;
pub mod items;
pub mod measure;
pub mod metrics;
pub mod noisy_power;
pub mod output;
pub mod predict;
pub mod predictor;
pub mod receipt;
pub mod recommend;
pub mod recommendation;
pub mod score_model;
pub mod signal;
pub mod summary;
pub mod variance;

pub use crate::scenario::WATCHED_UP_TO;
pub use clipping::ClipSummary;
pub use compared::ComparedRun;
pub use draws::DRAWS;
pub use engine::{RunError, run_engine, run_tolerant};
pub use execute::{MetricsRow, Report, run, run_by};
pub use peak_memory::peak_memory_bytes;
pub use references::References;
pub use spread::{Draws, DrawsSummary, Measure};
