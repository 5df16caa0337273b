//! A graph as a matrix: one row per vertex, 1 at every neighbour.

use super::Interactions;
use super::error::DataError;
use super::ratings::{Loaded, ReadCounts};
use crate::linalg::SparseRows;

/// The symmetric adjacency matrix of a graph with so many vertices, row by row, each edge listed once.
///
/// # Errors
/// [`DataError::Row`] for an edge that is listed twice or joins a vertex to itself; [`DataError::Vertex`] for one that is of no vertex.
pub(super) fn rows_of_edges(
    vertices: usize,
    edges: impl IntoIterator<Item = (u32, u32)>,
) -> Result<SparseRows, DataError> {
    let mut around = vec![Vec::new(); vertices];
    for (s, t) in edges {
        for (from, to) in [(s, t), (t, s)] {
            match around.get_mut(from as usize) {
                Some(row) => row.push(to),
                None => {
                    return Err(DataError::Vertex {
                        found: from,
                        vertices,
                    });
                }
            }
        }
    }
    for row in &mut around {
        row.sort_unstable();
    }
    // Refuses what is listed twice; an edge from a vertex to itself stands in its row twice.
    let checked = Interactions::from_rows(vertices, &around)?;
    let mut rows = SparseRows::new(vertices);
    for v in 0..vertices {
        rows.push_row(checked.row(v).iter().map(|&t| (t, 1.0)))
            .expect("ascending vertices");
    }
    Ok(rows)
}

impl Loaded {
    /// The names of this matrix's rows and columns as those of as many vertices, without any entry.
    #[must_use]
    pub fn sides(&self) -> Interactions {
        let read = &self.interactions;
        let rows = (0..read.users()).map(|i| format!("row {}", read.user_name(i)));
        let columns = (0..read.items()).map(|j| format!("column {}", read.item_name(j)));
        let names: Vec<String> = rows.chain(columns).collect();
        let none = vec![0; names.len() + 1];
        Interactions::from_parts(none, Vec::new(), names.clone(), names)
    }

    /// A graph as a matrix of numbers, whose rows and columns are called what its vertices are.
    ///
    /// # Errors
    /// [`DataError::Row`] and [`DataError::Vertex`] for edges that are not of a simple graph on these vertices.
    pub fn of_graph(
        names: &[String],
        edges: impl IntoIterator<Item = (u32, u32)>,
    ) -> Result<Self, DataError> {
        let values = rows_of_edges(names.len(), edges)?;
        let none = vec![0; names.len() + 1];
        Ok(Self {
            interactions: Interactions::from_parts(
                none,
                Vec::new(),
                names.to_vec(),
                names.to_vec(),
            ),
            counts: ReadCounts {
                ratings: values.entries() as u64,
                ..ReadCounts::default()
            },
            values: Some(values),
            layout: None,
            peers: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_hold_an_edge_and_what_is_no_simple_graph_is_refused() {
        let rows = rows_of_edges(4, [(0, 1), (2, 0), (3, 0)]).expect("simple");
        assert_eq!(rows.row(0), (&[1, 2, 3][..], &[1.0; 3][..]));
        assert_eq!(rows.row(1), (&[0][..], &[1.0][..]));
        for bad in [&[(0, 1), (1, 0)][..], &[(2, 2)], &[(0, 4)], &[(4, 0)]] {
            assert!(rows_of_edges(4, bad.iter().copied()).is_err(), "{bad:?}");
        }
        let names = ["a", "b", "c"].map(str::to_owned);
        let loaded = Loaded::of_graph(&names, [(0, 2)]).expect("simple");
        assert_eq!(loaded.interactions.user_name(2), "c");
        assert_eq!(loaded.interactions.item_name(2), "c");
        assert!(loaded.interactions.is_empty());
        assert_eq!(loaded.values.expect("numbers").row(2).0, [0]);
    }
}
