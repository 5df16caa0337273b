//! The outcomes of an experiment: the run, and its two comparisons.

use super::references::References;
use crate::engine::central::{self, SumNoise};
use crate::engine::{EngineError, Outcome, Session, Silent};
use crate::linalg::Block;
use crate::scenario::{Clock, Experiment};

/// A run, and its comparisons from the same starting block.
pub(super) struct Outcomes {
    /// The run.
    pub(super) this_run: Outcome,
    /// The run under a trusted curator.
    pub(super) central: Result<Outcome, EngineError>,
    /// The run without noise.
    pub(super) non_private: Result<Outcome, EngineError>,
}

impl Outcomes {
    /// Makes both comparisons of a run of this session.
    pub(super) fn compare(
        this_run: Outcome,
        (experiment, session): (&Experiment, &Session),
        clock: &mut Clock,
    ) -> Self {
        Self {
            this_run,
            central: clock.time("central", || {
                central::run(session, SumNoise::Curator, &mut Silent)
            }),
            non_private: clock.time("non_private", || {
                References::non_private(experiment, session)
            }),
        }
    }

    /// The bases of the curator's run and of the one without noise, where these came to an end.
    pub(super) fn compared_bases(&self) -> [Option<&Block>; 2] {
        [&self.central, &self.non_private].map(|one| Some(one.as_ref().ok()?.basis()))
    }
}
