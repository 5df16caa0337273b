//! The swarm as a runner of sessions.

use super::{HostError, SwarmOptions};
use crate::engine::{Observer, Outcome, Runner, RunnerError, Session};
use crate::privacy::AdversaryView;
use crate::vocabulary::Named;

/// One libp2p node per peer, in this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Swarm {
    /// How nodes are connected, and how patient they are.
    pub options: SwarmOptions,
}

impl Runner for Swarm {
    fn name(&self) -> &'static str {
        "swarm"
    }

    fn seen(&self) -> AdversaryView {
        AdversaryView::Everything
    }

    fn run(&self, session: &Session, observer: &mut dyn Observer) -> Result<Outcome, RunnerError> {
        let named = |error: HostError| Named::new(error, session.graph().names());
        super::run(session, &self.options, observer)
            .map_err(|error| RunnerError::Other(Box::new(named(error))))
    }
}
