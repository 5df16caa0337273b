//! Erdős–Rényi graphs.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::gnp_random_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, Randomness, check_edges, edges_of, library_seed};
use crate::topology::TopologyError;

/// G(n, p): every pair is an edge with probability `probability`, independently (Gilbert 1959). Connected
/// with high probability once p exceeds ln n / n (Erdős & Rényi 1959).
///
/// # Cost
/// O(n + edges), by rustworkx-core (Batagelj & Brandes 2005: gaps between edges are geometric).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ErdosRenyi {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Probability of each edge, from 10⁻⁹ to 1. No graph of a size built here is connected below that.
    pub probability: f64,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for ErdosRenyi {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "probability",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        // The library computes ln(1 − p), which is 0 for the tiniest p and breaks its skipping.
        if !(LEAST_PROBABILITY..=1.0).contains(&self.probability) {
            return Err(TopologyError::NumberOutOfRange {
                generator: "erdos-renyi",
                parameter: "probability",
                found: self.probability,
                least: LEAST_PROBABILITY,
                most: 1.0,
            });
        }
        let pairs = nodes as f64 * (nodes as f64 - 1.0) / 2.0;
        let expected = (pairs * self.probability) as u128;
        check_edges("erdos-renyi", "probability", expected)?;
        let built: Built<()> =
            gnp_random_graph(nodes, self.probability, library_seed(random), || (), || ())
                .expect("nodes above 0 and a probability in range are checked above");
        Ok(edges_of(&built))
    }
}

const LEAST_PROBABILITY: f64 = 1e-9;
