//! Why nothing was chosen, or what was chosen could not be run.

use crate::campaign::advise::{AdviseError, PilotCountsError};
use crate::run::RunError;
use crate::scenario::ExperimentError;

/// Why nothing was chosen, or what was chosen could not be run.
#[derive(Debug, thiserror::Error)]
pub enum AutoError {
    /// The experiment is none, or what was chosen is none.
    #[error(transparent)]
    Experiment(#[from] Box<ExperimentError>),
    /// The pilot or the run came to no end.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The pilot released what are no counts.
    #[error("the pilot's sum: {0}")]
    Counts(#[from] PilotCountsError),
    /// Nothing is advised.
    #[error("nothing could be chosen: {0}")]
    Advise(#[from] AdviseError),
}
