//! The star.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::star_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, edges_of};
use crate::topology::TopologyError;

/// K_{1,n−1}: node 0 is the hub of all others. λ₂(L) = 1. The hub sees every message: a topology for
/// comparison with a server, not for privacy against the hub.
///
/// # Cost
/// O(n), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

impl Family for Star {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        2
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let built: Built<()> = star_graph(Some(nodes), None, || (), || (), false, false)
            .expect("refused only without a number of nodes");
        Ok(edges_of(&built))
    }
}
