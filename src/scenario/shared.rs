//! What is found once for all sessions of an experiment.

use crate::engine::graphs_digest;
use crate::topology::Topology;

/// What all sessions of an experiment share and is costly to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// A number of hops in which a value reaches everybody.
    pub(super) scale_rounds: u32,
    /// Hash of both graphs.
    pub(super) topology: [u8; 32],
}

impl Shared {
    pub(super) fn of(topology: &Topology, noise: &Topology) -> Self {
        Self {
            // Engines that reveal only sums run on any graph and exchange no scales.
            scale_rounds: topology
                .diameter_bound()
                .unwrap_or(topology.graph().nodes() as u32),
            topology: graphs_digest(topology, noise),
        }
    }
}
