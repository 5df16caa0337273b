//! From an experiment file to a report: `sims/*.toml` → validated experiment → run → metrics → files.

pub mod audit;
pub mod config;
pub mod metrics;
pub mod output;
mod overrides;
mod resolve;
mod run;
pub mod summary;
mod topology_source;
pub mod verification;

pub use config::Config;
pub use overrides::{OverrideError, parse_set};
pub use resolve::{Experiment, ExperimentError, read_config};
pub use run::{MetricsRow, Report, RunError, frame_bytes, peak_memory_bytes, run, run_engine};
pub use topology_source::{FileSource, TopologySource};
