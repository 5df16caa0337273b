//! The hypercube.

use chacha20::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family};
use crate::topology::TopologyError;

/// Q_k on n = 2^k nodes: an edge where two node numbers differ in one bit. Degree and diameter are
/// log₂ n, λ₂(L) = 2.
///
/// # Cost
/// O(n log n).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Hypercube {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
}

impl Family for Hypercube {
    fn declared_nodes(&self) -> Option<usize> {
        self.n
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        if !nodes.is_power_of_two() {
            let above = nodes.next_power_of_two();
            let below = above / 2;
            let nearest = if nodes - below < above - nodes {
                below
            } else {
                above
            };
            return Err(TopologyError::NotPowerOfTwo { nodes, nearest });
        }
        let nodes = nodes as u32;
        let bits = nodes.trailing_zeros();
        Ok((0..nodes)
            .flat_map(|u| (0..bits).map(move |bit| (u, u ^ (1 << bit))))
            .filter(|(u, v)| u < v)
            .collect())
    }
}
