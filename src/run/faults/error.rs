//! Why a run with faults came to nothing.

use super::told::Faulty;
use crate::engine::deviants::DeviantError;
use crate::engine::event::faults::FaultyError;
use crate::vocabulary::Named;

/// Why a run with faults came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum FaultsError {
    /// A peer could not go on; the text calls peers by their names.
    #[error(transparent)]
    Peer(Named<FaultyError>),
    /// The session cannot be run with peers that deviate.
    #[error("[faults] deviant: {0}")]
    Deviants(#[from] DeviantError),
    /// So much went wrong that nobody has a result.
    #[error(transparent)]
    NoResult(NoResult),
}

/// That nobody has a result, and what came of the run all the same.
#[derive(Clone, Debug)]
pub struct NoResult {
    /// What happened.
    pub faulty: Box<Faulty>,
}

impl std::fmt::Display for NoResult {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ends = &self.faulty.summary.ends;
        let ends: Vec<String> = ends
            .iter()
            .map(|(end, count)| format!("{count} {end}"))
            .collect();
        write!(
            f,
            "nobody has a result: of {} peers {}; raise [dropouts] tolerate or retries, or let less go wrong",
            self.faulty.summary.ends.values().sum::<usize>(),
            ends.join(", ")
        )
    }
}

impl std::error::Error for NoResult {}
