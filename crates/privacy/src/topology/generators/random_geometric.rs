//! Random geometric graphs.

use std::f64::consts::SQRT_2;

use chacha20::ChaCha20Rng;
use rand::distr::{Distribution, Uniform};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family, Randomness};
use crate::topology::TopologyError;

/// `n` uniform points of the unit square, an edge where two are closer than `radius` (Gilbert 1961): the
/// usual model of radio networks. Connected with high probability once π n radius² exceeds ln n
/// (Penrose 1997).
///
/// # Cost
/// O(n²): every pair is compared, hence at most 20,000 nodes. The graphs are those of rustworkx-core, whose powers are the platform's.
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
        Ok(self.draw(nodes, random.next_u64()))
    }
}

impl RandomGeometric {
    fn draw(&self, nodes: usize, seed: u64) -> EdgeList {
        let mut random = Pcg64::seed_from_u64(seed);
        let uniform = Uniform::new(0.0, 1.0).expect("an interval");
        let mut sample = || -> f64 { uniform.sample(&mut random) };
        let points: Vec<[f64; 2]> = (0..nodes).map(|_| [sample(), sample()]).collect();
        let mut edges = EdgeList::new();
        for (u, [x, y]) in points.iter().enumerate() {
            for (v, [p, q]) in points.iter().enumerate().skip(u + 1) {
                let (along, across) = (x - p, y - q);
                if along * along + across * across < self.radius * self.radius {
                    edges.push((u as u32, v as u32));
                }
            }
        }
        edges
    }
}

/// Every pair is compared, and a draw of this size takes a second.
const MOST_NODES: usize = 20_000;

/// Below this no graph of that many nodes is ever connected.
const LEAST_RADIUS: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use rustworkx_core::generators::random_geometric_graph;

    use super::super::{Built, edges_of};
    use super::*;

    #[test]
    fn graphs_are_those_of_rustworkx() {
        for (nodes, radius) in [(1, 0.5), (60, 0.2), (200, 0.07), (30, SQRT_2)] {
            let family = RandomGeometric {
                n: None,
                radius,
                seed: 1,
            };
            for seed in 0..20 {
                let built: Built<Vec<f64>> =
                    random_geometric_graph(nodes, radius, 2, None, 2.0, Some(seed), || ())
                        .expect("nodes");
                assert_eq!(family.draw(nodes, seed), edges_of(&built));
            }
        }
    }
}
