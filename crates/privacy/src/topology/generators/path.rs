//! The path.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::path_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, edges_of};
use crate::topology::TopologyError;

/// P_n: node u is joined to u + 1. λ₂(L) = 2 − 2cos(π/n), the least of all connected graphs on n nodes
/// (Fiedler 1973): the worst case of every averaging scheme.
///
/// # Cost
/// O(n), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Path {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

impl Family for Path {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let built: Built<()> = path_graph(Some(nodes), None, || (), || (), false)
            .expect("refused only without a number of nodes");
        Ok(edges_of(&built))
    }
}
