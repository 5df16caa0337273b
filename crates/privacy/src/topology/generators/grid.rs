//! The two-dimensional grid.

use chacha20::ChaCha20Rng;
use rustworkx_core::generators::grid_graph;
use serde::{Deserialize, Serialize};

use super::{Built, EdgeList, Family, edges_of};
use crate::topology::TopologyError;

/// The `rows` × `columns` lattice with borders; node r · columns + c is joined to its neighbours in row r
/// and column c. Without sides, the squarest factorisation of the number of nodes; a prime number has
/// none and is refused (for a line, ask for a path or for `rows = 1`).
/// λ₂(L) = 2 − 2cos(π / longest side).
///
/// # Cost
/// O(n), by rustworkx-core.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
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

impl Family for Grid {
    fn declared_nodes(&self) -> Option<usize> {
        declared(self.n, self.rows, self.columns)
    }

    fn edges(&self, nodes: usize, _: &mut ChaCha20Rng) -> Result<EdgeList, TopologyError> {
        let chosen = self.rows.is_some() || self.columns.is_some();
        let least = if chosen || nodes < 4 { 1 } else { 2 };
        let (rows, columns) = sides("grid", nodes, self.rows, self.columns, least)?;
        let built: Built<()> = grid_graph(Some(rows), Some(columns), None, || (), || (), false)
            .expect("refused only without sides");
        Ok(edges_of(&built))
    }
}

/// The number of nodes a lattice's keys give.
pub(super) fn declared(
    n: Option<usize>,
    rows: Option<usize>,
    columns: Option<usize>,
) -> Option<usize> {
    n.or_else(|| rows?.checked_mul(columns?))
}

/// The sides of a lattice of `nodes` nodes: the ones given, completed; or the squarest factorisation.
pub(super) fn sides(
    generator: &'static str,
    nodes: usize,
    rows: Option<usize>,
    columns: Option<usize>,
    least: usize,
) -> Result<(usize, usize), TopologyError> {
    let squarest = || {
        (1..=nodes.isqrt())
            .rev()
            .find(|side| nodes.is_multiple_of(*side))
            .unwrap_or(1)
    };
    let (rows, columns) = match (rows, columns) {
        (Some(rows), Some(columns)) => (rows, columns),
        (Some(rows), None) => (rows, nodes / rows.max(1)),
        (None, Some(columns)) => (nodes / columns.max(1), columns),
        (None, None) => (squarest(), nodes / squarest()),
    };
    if rows.checked_mul(columns) != Some(nodes) {
        return Err(TopologyError::Shape {
            generator,
            rows,
            columns,
            nodes,
        });
    }
    if rows.min(columns) < least {
        return Err(TopologyError::SideTooShort {
            generator,
            rows,
            columns,
            least,
        });
    }
    Ok((rows, columns))
}
