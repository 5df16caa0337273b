//! The two-dimensional torus.

use chacha20::ChaCha20Rng;
use serde::{Deserialize, Serialize};

use super::{EdgeList, Family, grid};
use crate::topology::TopologyError;

/// The `rows` × `columns` lattice that wraps around: node r · columns + c is joined to the four nodes one
/// step away modulo the sides, which are at least 3. Without sides, the squarest factorisation of the
/// number of nodes. λ₂(L) = 2 − 2cos(2π / longest side).
///
/// # Cost
/// O(n).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Number of nodes; left to the user of the graph if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Number of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
    /// Number of columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub columns: Option<usize>,
}

impl Family for Torus {
    fn declared_nodes(&self) -> Option<usize> {
        grid::declared(self.n, self.rows, self.columns)
    }

    fn least_nodes(&self) -> usize {
        9
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let (rows, columns) = grid::sides("torus", nodes, self.rows, self.columns, 3)?;
        let number = |row: usize, column: usize| (row * columns + column) as u32;
        let mut edges = Vec::with_capacity(2 * nodes);
        for row in 0..rows {
            for column in 0..columns {
                let here = number(row, column);
                edges.push((here, number(row, (column + 1) % columns)));
                edges.push((here, number((row + 1) % rows, column)));
            }
        }
        Ok(edges)
    }
}
