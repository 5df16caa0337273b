//! What runs the sessions of an experiment file.

use std::sync::Arc;

use crate::config::{Config, EngineKind};
use crate::engine::{Analytic, Central, Event, Federated, Lockstep, Runner};

/// What this configuration names, of a plan whose averaging shrinks the spread by so much.
pub(super) fn of(config: &Config, contraction: f64) -> Arc<dyn Runner> {
    let engine = &config.engine;
    match engine.kind {
        EngineKind::Central => Arc::new(Central),
        EngineKind::Federated => Arc::new(Federated),
        EngineKind::Lockstep => Arc::new(Lockstep),
        EngineKind::Analytic => Arc::new(Analytic {
            probes: engine.probes,
            contraction,
        }),
        EngineKind::Event => Arc::new(Event {
            latency: engine.latency,
        }),
        EngineKind::Swarm => swarm(config),
    }
}

#[cfg(feature = "node")]
fn swarm(config: &Config) -> Arc<dyn Runner> {
    use crate::config::TransportKind;
    use crate::node::{Swarm, SwarmOptions, Transport};
    let transport = match config.engine.transport {
        TransportKind::Memory => Transport::Memory,
        TransportKind::Tcp => Transport::Tcp,
    };
    let options = SwarmOptions {
        transport,
        ..SwarmOptions::default()
    };
    Arc::new(Swarm { options })
}

#[cfg(not(feature = "node"))]
fn swarm(_: &Config) -> Arc<dyn Runner> {
    Arc::new(without_node::Swarm)
}

#[cfg(not(feature = "node"))]
pub(crate) mod without_node {
    use crate::engine::{Observer, Outcome, Runner, RunnerError, Session};
    use crate::privacy::AdversaryView;

    /// A build without libp2p.
    #[derive(Clone, Copy, Debug, thiserror::Error)]
    #[error("no libp2p")]
    pub(crate) struct NoNode;

    /// The swarm of a build that has none.
    #[derive(Debug)]
    pub(super) struct Swarm;

    impl Runner for Swarm {
        fn name(&self) -> &'static str {
            "swarm"
        }

        fn seen(&self) -> AdversaryView {
            AdversaryView::Everything
        }

        fn run(&self, _: &Session, _: &mut dyn Observer) -> Result<Outcome, RunnerError> {
            Err(RunnerError::Other(Box::new(NoNode)))
        }
    }
}
