//! Fixtures that several tests of this layer share.

use nalgebra::{DMatrix, SymmetricEigen};

use crate::topology::Graph;

/// λ₂ of the Laplacian by a dense eigensolver.
pub(super) fn algebraic_connectivity(graph: &Graph) -> f64 {
    let n = graph.nodes();
    let mut laplacian = DMatrix::zeros(n, n);
    for u in 0..n {
        laplacian[(u, u)] = graph.degree(u) as f64;
        for &v in graph.neighbours(u) {
            laplacian[(u, v as usize)] = -1.0;
        }
    }
    let mut values: Vec<f64> = SymmetricEigen::new(laplacian)
        .eigenvalues
        .iter()
        .copied()
        .collect();
    values.sort_by(f64::total_cmp);
    values[1]
}
