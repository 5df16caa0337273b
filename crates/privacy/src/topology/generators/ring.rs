//! The cycle.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::cycle_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, edges_of};
use crate::topology::TopologyError;

/// C_n: node u is joined to u ± 1 modulo n. λ₂(L) = 2 − 2cos(2π/n), so averaging takes of the order of
/// n² plain or n accelerated rounds.
///
/// # Cost
/// O(n), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

impl Family for Ring {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        3
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let built: Built<()> = cycle_graph(Some(nodes), None, || (), || (), false)
            .expect("refused only without a number of nodes");
        Ok(edges_of(&built))
    }
}
