//! Random k-out graphs.

use chacha20::ChaCha20Rng;
use rand::seq::index;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family, Randomness, check_degree, check_edges};
use crate::topology::TopologyError;

/// Every node picks `k` distinct others uniformly; the edges are the union of the picks, so degrees are
/// at least k and 2k − k²/(n − 1) on average (Fenner & Frieze 1982; the graph of GOPA, Sabater, Bellet & Ramon 2022).
///
/// # Cost
/// O(n · k · log(n · k)).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct KOut {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Picks of every node, from 1 to n − 1.
    pub k: usize,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for KOut {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        2
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "k",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        check_degree("k-out", "k", self.k, nodes, (1, nodes - 1))?;
        check_edges("k-out", "k", nodes as u128 * self.k as u128)?;
        let mut edges = Vec::with_capacity(nodes * self.k);
        for u in 0..nodes {
            for pick in index::sample(random, nodes - 1, self.k) {
                // The others, numbered without u.
                let v = if pick < u { pick } else { pick + 1 };
                edges.push((u.min(v) as u32, u.max(v) as u32));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        Ok(edges)
    }
}
