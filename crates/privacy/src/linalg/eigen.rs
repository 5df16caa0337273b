//! Eigenpairs of small dense symmetric matrices, in descending order, and the sign of an eigenvector.

use nalgebra::{DMatrix, SymmetricEigen};

use super::Block;

/// The eigenvalues of a small symmetric matrix, descending, and the eigenvectors of the first `count` as columns (all, if there
/// are fewer); the average of the two triangles counts.
pub(super) fn descending(matrix: &DMatrix<f64>, count: usize) -> (Vec<f64>, DMatrix<f64>) {
    let eigen = SymmetricEigen::new((matrix + matrix.transpose()) * 0.5);
    let mut order: Vec<usize> = (0..matrix.nrows()).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    let count = count.min(order.len());
    (values, eigen.eigenvectors.select_columns(&order[..count]))
}

/// All eigenvalues of a small dense symmetric matrix, descending, and their orthonormal eigenvectors as columns; the average of
/// the two triangles counts.
///
/// # Cost
/// O(n³) time.
///
/// # Panics
/// If the matrix is not square or not finite.
#[must_use]
pub fn symmetric_eigenpairs(matrix: &DMatrix<f64>) -> (Vec<f64>, DMatrix<f64>) {
    descending(matrix, matrix.nrows())
}

/// The `rank` eigenvectors with the algebraically largest eigenvalues of a small dense symmetric matrix, in
/// descending order; the average of the two triangles counts.
///
/// # Panics
/// If the matrix is not square, smaller than `rank`, or not finite.
#[must_use]
pub fn small_leading_eigenvectors(matrix: &DMatrix<f64>, rank: usize) -> DMatrix<f64> {
    assert!(rank <= matrix.nrows(), "no more eigenvectors than rows");
    descending(matrix, rank).1
}

/// The vectors with a sign: the entry of largest magnitude of each is positive (the first of equals).
#[must_use]
pub fn signed(vectors: &DMatrix<f64>) -> Block {
    let mut vectors = vectors.clone();
    for mut column in vectors.column_iter_mut() {
        let mut largest = 0.0_f64;
        for &value in column.iter() {
            if value.abs() > largest.abs() {
                largest = value;
            }
        }
        if largest < 0.0 {
            column.neg_mut();
        }
    }
    Block::from_matrix(&vectors)
}
