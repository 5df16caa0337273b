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
    /// A significance that is no probability, under which nothing could fail.
    #[error("the significance of a verification must lie strictly between 0 and 1, found {found}")]
    Significance {
        /// The number given.
        found: f64,
    },
}
