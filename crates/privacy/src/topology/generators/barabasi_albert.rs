//! Barabási–Albert graphs.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::{barabasi_albert_graph, star_graph};
use serde::{Deserialize, Serialize};

use super::{
    Built, EdgeList, Family, Randomness, check_degree, check_edges, edges_of, library_seed,
};
use crate::topology::TopologyError;

/// Growth by preferential attachment: from a star of m + 1 nodes, every further node joins m =
/// `edges_per_node` distinct earlier ones, chosen with probability proportional to their degrees
/// (Barabási & Albert 1999). Always connected, with m(n − m) edges and a power-law tail of degrees.
///
/// # Cost
/// O(n · m), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct BarabasiAlbert {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Edges a new node brings, from 1 to n − 1.
    pub edges_per_node: usize,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for BarabasiAlbert {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        2
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "edges_per_node",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let m = self.edges_per_node;
        check_degree(
            "barabasi-albert",
            "edges_per_node",
            m,
            nodes,
            (1, nodes - 1),
        )?;
        check_edges(
            "barabasi-albert",
            "edges_per_node",
            nodes as u128 * m as u128,
        )?;
        // Without a start the library takes a star of m nodes, which for m = 1 has no edge to choose.
        let start: Built<()> = star_graph(Some(m + 1), None, || (), || (), false, false)
            .expect("refused only without a number of nodes");
        let built: Built<()> =
            barabasi_albert_graph(nodes, m, library_seed(random), Some(start), || (), || ())
                .expect("1 ≤ m < nodes is checked above");
        Ok(edges_of(&built))
    }
}
