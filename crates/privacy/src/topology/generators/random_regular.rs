//! Random regular graphs.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::random_regular_graph;
use serde::{Deserialize, Serialize};

use super::{
    Built, EdgeList, Family, Randomness, check_degree, check_edges, edges_of, library_seed,
};
use crate::topology::TopologyError;

/// A random simple graph in which every node has `degree` neighbours, nearly uniform among all of them
/// for small degrees: stubs are paired at random, and the pairs that would be loops or repeats are
/// paired again (Steger & Wormald 1999; Kim & Vu 2003). Beyond half of the possible degree the
/// complement is drawn, because pairing would rarely finish.
///
/// From degree 3 on these are expanders with high probability (Friedman 2008: λ₂(L) near
/// d − 2√(d − 1)), and the recommended noise graphs (the chapter on accounting of the guide, section 6).
///
/// # Cost
/// O(n · degree), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RandomRegular {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Neighbours of every node, from 2 to n − 1 (1 for two nodes); even where n is odd.
    pub degree: usize,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for RandomRegular {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        2
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "degree",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let degree = self.degree;
        let range = (2.min(nodes - 1), nodes - 1);
        check_degree("random-regular", "degree", degree, nodes, range)?;
        check_edges(
            "random-regular",
            "degree",
            nodes as u128 * degree as u128 / 2,
        )?;
        if !nodes.is_multiple_of(2) && !degree.is_multiple_of(2) {
            return Err(TopologyError::OddDegreeSum {
                generator: "random-regular",
                nodes,
                degree,
            });
        }
        let dense = degree > nodes / 2;
        let drawn = if dense { nodes - 1 - degree } else { degree };
        let built: Built<()> =
            random_regular_graph(nodes, drawn, library_seed(random), || (), || ())
                .expect("degree below nodes and an even sum of degrees are checked above");
        let edges = edges_of(&built);
        Ok(if dense {
            complement(nodes, &edges)
        } else {
            edges
        })
    }
}

/// The pairs of `nodes` nodes that are not in `edges`.
fn complement(nodes: usize, edges: &[(u32, u32)]) -> EdgeList {
    let mut present: Vec<_> = edges.iter().map(|&(u, v)| (u.min(v), u.max(v))).collect();
    present.sort_unstable();
    let mut rest = present.into_iter().peekable();
    let nodes = nodes as u32;
    (0..nodes)
        .flat_map(|u| (u + 1..nodes).map(move |v| (u, v)))
        .filter(|pair| rest.next_if_eq(pair).is_none())
        .collect()
}
