//! Erdős–Rényi graphs.

use chacha20::ChaCha20Rng;
use rand::distr::{Distribution, Uniform};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family, Randomness, check_edges};
use crate::topology::TopologyError;

/// G(n, p): every pair is an edge with probability `probability`, independently (Gilbert 1959). Connected
/// with high probability once p exceeds ln n / n (Erdős & Rényi 1959).
///
/// # Cost
/// O(n + edges) (Batagelj & Brandes 2005: gaps between edges are geometric). The graphs are those of rustworkx-core, whose logarithms
/// are the platform's.
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
        // ln(1 − p) is 0 for the tiniest p.
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
        Ok(self.draw(nodes as i64, random.next_u64()))
    }
}

impl ErdosRenyi {
    /// Pairs (v, w) with w < v, row after row.
    fn draw(&self, nodes: i64, seed: u64) -> EdgeList {
        if self.probability > 1.0 - f64::EPSILON {
            return (0..nodes as u32)
                .flat_map(|u| (u + 1..nodes as u32).map(move |v| (u, v)))
                .collect();
        }
        let mut random = Pcg64::seed_from_u64(seed);
        let uniform = Uniform::new(0.0, 1.0).expect("an interval");
        let no_edge = libm::log(1.0 - self.probability);
        let (mut v, mut w) = (1, -1);
        let mut edges = EdgeList::new();
        while v < nodes {
            let sample: f64 = uniform.sample(&mut random);
            // At most 53 ln 2/10⁻⁹.
            w += 1 + (libm::log(1.0 - sample) / no_edge) as i64;
            while w >= v && v < nodes {
                w -= v;
                v += 1;
            }
            if v < nodes {
                edges.push((v as u32, w as u32));
            }
        }
        edges
    }
}

const LEAST_PROBABILITY: f64 = 1e-9;

#[cfg(test)]
mod tests {
    use rustworkx_core::generators::gnp_random_graph;

    use super::super::{Built, edges_of};
    use super::*;

    #[test]
    fn graphs_are_those_of_rustworkx() {
        for (nodes, probability) in [
            (1, 0.5),
            (2, 0.5),
            (40, 1.0),
            (60, 0.1),
            (200, 0.9),
            (999, 0.002),
        ] {
            let family = ErdosRenyi {
                n: None,
                probability,
                seed: 1,
            };
            for seed in 0..20 {
                let built: Built<()> =
                    gnp_random_graph(nodes, probability, Some(seed), || (), || ()).expect("valid");
                assert_eq!(family.draw(nodes as i64, seed), edges_of(&built));
            }
        }
    }
}
