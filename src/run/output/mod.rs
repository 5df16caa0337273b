//! Writes what a run produced: `summary.json`, `basis.npy`, `items.csv`, `metrics.csv`, `consensus.csv`,
//! `config.toml`, `receipt.json`, `trace/`; with `algorithm.output = "low-rank"` its two factors; of a run that predicts ratings what
//! predicts them; of a run that was chosen by advice `advice.json`; of one whose Gram matrix recommends what scores items; of a simulation on several hosts `simulation.toml`.
//!
//! A run whose peers tolerate losses also writes `faults.toml` and `faults.json`.
//!
//! All are written before the first takes its name, so that a full disk leaves the results of the run before.

mod written;

pub use written::{OutputError, write};
// For the command `undertone`, and for the Python package.
#[doc(hidden)]
pub use written::{create, metrics, write_advice, write_no_result};

pub(crate) use written::put;
#[cfg(all(feature = "cli", feature = "node"))]
pub(crate) use written::write_simulation;
#[cfg(feature = "cli")]
pub(crate) use written::{
    CONFIG, PAGE, ResultFile, SIMULATION, SUMMARY, TRACE, advice_file, files, names_hosts,
};
