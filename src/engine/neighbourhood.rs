//! A topology as averaging schemes see it.

use crate::protocol::averaging::{MixingBounds, Neighbourhood};
use crate::topology::Topology;

impl Neighbourhood for Topology {
    fn peers(&self) -> usize {
        self.graph().nodes()
    }

    fn neighbours(&self, peer: usize) -> &[u32] {
        self.graph().neighbours(peer)
    }

    fn weights(&self, peer: usize) -> &[f64] {
        self.mixing().neighbour_weights(peer)
    }

    fn self_weight(&self, peer: usize) -> f64 {
        self.mixing().self_weight(peer)
    }
}

/// Bounds of the eigenvalues of a graph's mixing matrix.
#[must_use]
pub fn mixing_bounds(topology: &Topology) -> MixingBounds {
    let spectrum = topology.spectrum();
    MixingBounds {
        lowest: spectrum.mixing_smallest.low,
        second: spectrum.mixing_second.high,
    }
}
