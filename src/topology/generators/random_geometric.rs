//! Random geometric graphs.

use std::f64::consts::SQRT_2;

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::random_geometric_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, Randomness, edges_of, library_seed};
use crate::topology::TopologyError;

/// `n` uniform points of the unit square, an edge where two are closer than `radius` (Gilbert 1961): the
/// usual model of radio networks. Connected with high probability once π n radius² exceeds ln n
/// (Penrose 1997).
///
/// # Cost
/// O(n²), by rustworkx-core: every pair is compared, hence at most 20,000 nodes.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RandomGeometric {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Distance below which two points are joined, from 10⁻⁶ to √2.
    pub radius: f64,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for RandomGeometric {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "radius",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        if nodes > MOST_NODES {
            return Err(TopologyError::NodeCount {
                generator: "random-geometric",
                nodes,
                least: 1,
                most: MOST_NODES,
            });
        }
        if !(LEAST_RADIUS..=SQRT_2).contains(&self.radius) {
            return Err(TopologyError::NumberOutOfRange {
                generator: "random-geometric",
                parameter: "radius",
                found: self.radius,
                least: LEAST_RADIUS,
                most: SQRT_2,
            });
        }
        let seed = library_seed(random);
        let built: Built<Vec<f64>> =
            random_geometric_graph(nodes, self.radius, 2, None, 2.0, seed, || ())
                .expect("a number of nodes above 0 is checked above");
        Ok(edges_of(&built))
    }
}

/// Every pair is compared, and a draw of this size takes a second.
const MOST_NODES: usize = 20_000;

/// Below this no graph of that many nodes is ever connected.
const LEAST_RADIUS: f64 = 1e-6;
