//! Watts–Strogatz small worlds.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family, Randomness, check_degree, check_edges};
use crate::topology::TopologyError;

/// A ring in which every node is joined to its `degree` nearest others, then the far end of each edge is
/// moved, with probability `rewire`, to a node chosen uniformly among those not yet joined to the near
/// end (Watts & Strogatz 1998). The number of edges stays n · degree / 2.
///
/// # Cost
/// O(n · degree · largest degree).
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct WattsStrogatz {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Neighbours of every node before rewiring: even, from 2 to n − 1.
    pub degree: usize,
    /// Probability that an edge is moved, from 0 to 1.
    pub rewire: f64,
    /// Seed; the same seed gives the same graph.
    pub seed: u64,
}

impl Family for WattsStrogatz {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn least_nodes(&self) -> usize {
        3
    }

    fn randomness(&self) -> Option<Randomness> {
        Some(Randomness {
            seed: self.seed,
            raise: "degree",
        })
    }

    fn edges(&self, nodes: usize, random: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let half = self.degree / 2;
        check_degree(
            "watts-strogatz",
            "degree",
            self.degree,
            nodes,
            (2, nodes - 1),
        )?;
        if !self.degree.is_multiple_of(2) {
            return Err(TopologyError::OddDegree {
                generator: "watts-strogatz",
                degree: self.degree,
            });
        }
        if !(0.0..=1.0).contains(&self.rewire) {
            return Err(TopologyError::NumberOutOfRange {
                generator: "watts-strogatz",
                parameter: "rewire",
                found: self.rewire,
                least: 0.0,
                most: 1.0,
            });
        }
        check_edges("watts-strogatz", "degree", nodes as u128 * half as u128)?;
        let mut joined: Vec<Vec<u32>> = (0..nodes)
            .map(|u| {
                (1..=half)
                    .flat_map(|step| [(u + step) % nodes, (u + nodes - step) % nodes])
                    .map(|v| v as u32)
                    .collect()
            })
            .collect();
        for step in 1..=half {
            for u in 0..nodes {
                if random.random_bool(self.rewire) && joined[u].len() < nodes - 1 {
                    move_far_end(&mut joined, u, (u + step) % nodes, random);
                }
            }
        }
        Ok((0..nodes as u32)
            .zip(&joined)
            .flat_map(|(u, list)| list.iter().filter(move |v| u < **v).map(move |v| (u, *v)))
            .collect())
    }
}

/// Replaces the edge u – v by u – w, w uniform among the nodes other than u that u is not joined to.
fn move_far_end(joined: &mut [Vec<u32>], u: usize, v: usize, random: &mut ChaCha20Rng) {
    let w = loop {
        let w = random.random_range(0..joined.len());
        if w != u && !joined[u].contains(&(w as u32)) {
            break w;
        }
    };
    joined[u].retain(|other| *other as usize != v);
    joined[v].retain(|other| *other as usize != u);
    joined[u].push(w as u32);
    joined[w].push(u as u32);
}
