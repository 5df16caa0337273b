//! From an experiment file to a report: `sims/*.toml` → validated experiment → run → metrics → files.

pub mod advise;
pub mod audit;
pub mod coalitions;
pub mod config;
pub mod convergence_bounds;
mod conversions;
#[cfg(test)]
mod difference_attack;
pub mod disclosure;
mod error;
pub mod evaluation;
pub mod items;
mod materials;
mod memory;
pub mod metrics;
mod npy;
pub mod output;
mod overrides;
mod peer_costs;
mod peer_names;
pub mod receipt;
pub mod recommend;
mod resolve;
mod rounds;
mod run;
mod session;
pub mod study;
pub mod summary;
pub mod sweep;
pub mod table;
mod topology_source;
pub mod verification;
mod warnings;

pub use config::Config;
pub use conversions::{Conversions, conversions};
pub use error::ExperimentError;
pub use memory::{FACTOR as MEMORY_FACTOR, MemoryPlan};
pub use npy::{NpyError, NpyProblem, read_basis};
pub use overrides::{OverrideError, parse_set};
pub use peer_costs::{PeerCost, PeerCostError, peer_costs};
pub use peer_names::PeerMatchError;
pub use resolve::{Experiment, read_config};
pub use rounds::WATCHED_UP_TO;
pub use run::{MetricsRow, Report, RunError, peak_memory_bytes, run, run_engine};
pub use topology_source::{FileSource, TopologySource};
