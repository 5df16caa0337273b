//! Why an experiment cannot be verified.

use crate::run::RunError;
use crate::scenario::ExperimentError;

/// Why an experiment cannot be verified.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A verification needs more memory than the machine has free.
    #[error("a verification keeps what all peers publish in an iteration; {0}")]
    Memory(#[source] Box<ExperimentError>),
    /// A file of a run in which something goes wrong.
    #[error(
        "[faults] lets runs go wrong, and a verification compares runs in which everybody publishes: remove [faults]; what faults do to noise is tested in \
         engine::event::faults"
    )]
    Faults,
    /// A significance that is no probability, under which nothing could fail.
    #[error("the significance of a verification must lie strictly between 0 and 1, found {found}")]
    Significance {
        /// The number given.
        found: f64,
    },
}
