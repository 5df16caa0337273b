//! The complete graph.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::complete_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, check_edges, edges_of};
use crate::topology::TopologyError;

/// K_n: every pair of nodes is an edge. λ₂(L) = n, and one Metropolis round averages exactly.
///
/// # Cost
/// O(n²), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

impl Family for Complete {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let pairs = nodes as u128 * (nodes as u128 - 1) / 2;
        check_edges("complete", "n", pairs)?;
        let built: Built<()> = complete_graph(Some(nodes), None, || (), || ())
            .expect("refused only without a number of nodes");
        Ok(edges_of(&built))
    }
}
