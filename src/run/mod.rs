//! One experiment, run: the engine, what its result is measured against, and the documents that say so.

mod execute;
mod references;
mod rounds;

pub mod convergence_bounds;
pub mod disclosure;
pub mod items;
pub mod metrics;
pub mod output;
pub mod receipt;
pub mod recommend;
pub mod recommendation;
pub mod summary;

pub use execute::{MetricsRow, Report, RunError, peak_memory_bytes, run, run_engine};
pub use references::References;
pub use rounds::WATCHED_UP_TO;
