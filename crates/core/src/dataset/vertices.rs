//! A graph as a matrix: one row per vertex, 1 at every neighbour.

use super::DatasetError;
use crate::interactions::Interactions;
use crate::linalg::SparseRows;

/// The symmetric adjacency matrix of a graph with so many vertices, row by row, each edge listed once.
///
/// # Errors
/// [`DatasetError::Row`] for an edge that is listed twice or joins a vertex to itself; [`DatasetError::Vertex`] for one that is of no vertex.
pub fn rows_of_edges(
    vertices: usize,
    edges: impl IntoIterator<Item = (u32, u32)>,
) -> Result<SparseRows, DatasetError> {
    let mut around = vec![Vec::new(); vertices];
    for (s, t) in edges {
        for (from, to) in [(s, t), (t, s)] {
            match around.get_mut(from as usize) {
                Some(row) => row.push(to),
                None => {
                    return Err(DatasetError::Vertex {
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
    }
}
