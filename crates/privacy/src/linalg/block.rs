//! A tall dense matrix, row-major.

use std::fmt;

use nalgebra::DMatrix;

/// A dense `rows × columns` matrix of `f64`, stored row after row.
///
/// Row-major because the sparse product reads and writes whole rows, and because a range of coordinates
/// of the flat storage is what gossip and noise work on. `Debug` prints the shape only: a block can hold
/// one peer's private product.
#[derive(Clone, PartialEq)]
pub struct Block {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Block {
    /// The zero matrix of this shape.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self {
            rows,
            columns,
            values: vec![0.0; rows * columns],
        }
    }

    /// A matrix from its row-major values.
    ///
    /// # Panics
    /// If `values.len() != rows * columns`: a bug of the caller, since shapes come from validated plans.
    #[must_use]
    pub fn from_values(rows: usize, columns: usize, values: Vec<f64>) -> Self {
        assert_eq!(
            values.len(),
            rows * columns,
            "a {rows} x {columns} block needs that many values"
        );
        Self {
            rows,
            columns,
            values,
        }
    }

    /// Number of rows, n.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns, p.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The values, row-major.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The values, row-major.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// The row-major storage itself.
    #[must_use]
    pub fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Row `i`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f64] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The Frobenius norm.
    #[must_use]
    pub fn norm(&self) -> f64 {
        self.values.iter().map(|v| v * v).sum::<f64>().sqrt()
    }

    /// max_i‖X_{i:}‖₂, the paper's D̂: the largest Euclidean norm of a row.
    #[must_use]
    pub fn max_row_norm(&self) -> f64 {
        self.values
            .chunks_exact(self.columns)
            .map(|row| row.iter().map(|v| v * v).sum::<f64>())
            .fold(0.0, f64::max)
            .sqrt()
    }

    /// ‖X‖_max: the largest absolute entry.
    #[must_use]
    pub fn max_entry(&self) -> f64 {
        self.values.iter().fold(0.0, |m, v| m.max(v.abs()))
    }

    /// BLAKE3 of the values in row-major order, little-endian: what a plan names its starting block by.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 start v1");
        for value in &self.values {
            hasher.update(&value.to_le_bytes());
        }
        *hasher.finalize().as_bytes()
    }

    /// max|XᵀX − I|: how far the columns are from orthonormal; NaN if a value is.
    #[must_use]
    pub fn orthonormality_defect(&self) -> f64 {
        let gram = self.transpose_times(self);
        let defect = gram - DMatrix::identity(self.columns, self.columns);
        // `f64::max` drops a NaN.
        if defect.iter().any(|d| d.is_nan()) {
            return f64::NAN;
        }
        defect.iter().fold(0.0, |worst, d| d.abs().max(worst))
    }

    /// Adds `factor * other`, entry by entry.
    ///
    /// # Panics
    /// If the shapes differ.
    pub fn add_scaled(&mut self, factor: f64, other: &Self) {
        assert_eq!(
            (self.rows, self.columns),
            (other.rows, other.columns),
            "blocks of one shape"
        );
        for (a, b) in self.values.iter_mut().zip(&other.values) {
            *a += factor * b;
        }
    }

    /// Multiplies every entry by `factor`.
    pub fn scale(&mut self, factor: f64) {
        for value in &mut self.values {
            *value *= factor;
        }
    }

    /// `selfᵀ · other`, a small `self.columns × other.columns` matrix.
    ///
    /// # Panics
    /// If the row counts differ.
    #[must_use]
    pub fn transpose_times(&self, other: &Self) -> DMatrix<f64> {
        assert_eq!(self.rows, other.rows, "blocks of equal height");
        let mut product = DMatrix::zeros(self.columns, other.columns);
        for i in 0..self.rows {
            for (j, b) in other.row(i).iter().enumerate() {
                for (k, a) in self.row(i).iter().enumerate() {
                    product[(k, j)] += a * b;
                }
            }
        }
        product
    }

    /// `self · small`, where `small` is `self.columns × k`.
    ///
    /// # Panics
    /// If `small` does not have `self.columns` rows.
    #[must_use]
    pub fn times(&self, small: &DMatrix<f64>) -> Self {
        assert_eq!(self.columns, small.nrows(), "inner dimensions agree");
        let mut out = Self::zeros(self.rows, small.ncols());
        for i in 0..self.rows {
            for j in 0..small.ncols() {
                let mut sum = 0.0;
                for (k, a) in self.row(i).iter().enumerate() {
                    sum += a * small[(k, j)];
                }
                out.values[i * small.ncols() + j] = sum;
            }
        }
        out
    }

    /// The same matrix as a nalgebra (column-major) matrix.
    #[must_use]
    pub fn to_matrix(&self) -> DMatrix<f64> {
        DMatrix::from_row_slice(self.rows, self.columns, &self.values)
    }

    /// A block with the content of a nalgebra matrix.
    #[must_use]
    pub fn from_matrix(matrix: &DMatrix<f64>) -> Self {
        let (rows, columns) = matrix.shape();
        let mut values = Vec::with_capacity(rows * columns);
        for i in 0..rows {
            values.extend(matrix.row(i).iter());
        }
        Self {
            rows,
            columns,
            values,
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} x {})", self.rows, self.columns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_agree_with_nalgebra() {
        let a = Block::from_values(3, 2, vec![1.0, 2.0, -3.0, 4.0, 0.5, 6.0]);
        let b = Block::from_values(3, 1, vec![2.0, 1.0, -1.0]);
        assert_eq!(
            a.transpose_times(&b),
            a.to_matrix().transpose() * b.to_matrix()
        );
        let small = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 2.0, -1.0]);
        assert_eq!(a.times(&small).to_matrix(), a.to_matrix() * small);
        assert_eq!(Block::from_matrix(&a.to_matrix()), a);
    }

    #[test]
    fn the_defect_of_a_known_block_and_of_nan() {
        let stretched = Block::from_values(2, 2, vec![1.0, 0.5, 0.0, 1.0]);
        assert_eq!(stretched.orthonormality_defect(), 0.5);
        let identity = Block::from_values(2, 2, vec![1.0, 0.0, 0.0, 1.0]);
        assert_eq!(identity.orthonormality_defect(), 0.0);
        for at in 0..4 {
            let mut values = identity.values().to_vec();
            values[at] = f64::NAN;
            let broken = Block::from_values(2, 2, values);
            assert!(broken.orthonormality_defect().is_nan(), "{at}");
        }
    }

    #[test]
    fn norms_of_a_known_block() {
        let a = Block::from_values(2, 2, vec![3.0, -4.0, 1.0, 0.0]);
        assert_eq!(
            (a.max_row_norm(), a.max_entry(), a.norm()),
            (5.0, 4.0, 26.0_f64.sqrt())
        );
    }
}
