//! Orthonormal columns of a tall matrix with thousands of columns: blocked Gram–Schmidt.
//!
//! Only studies use it; bases that peers exchange come from [`orthonormalise`](super::orthonormalise).

use nalgebra::{Cholesky, DMatrix};
use rayon::prelude::*;

use super::{NotFullRank, add_product, product};

/// Rows in one block. Sums over blocks run in order, so results do not depend on the number of threads.
const BLOCK: usize = 1024;

/// Columns orthonormalised at once.
const PANEL: usize = 64;

/// The smallest part of a column that may be left by the columns before it.
const NEGLIGIBLE: f64 = 1e-7;

/// An n × k matrix in blocks of rows.
#[derive(Clone, Debug)]
pub struct TallMatrix {
    rows: usize,
    columns: usize,
    /// Transposed: every block is k × (rows of the block), so that one row of the matrix is contiguous and all
    /// products below are plain ones.
    blocks: Vec<DMatrix<f64>>,
}

impl TallMatrix {
    /// The rows × columns matrix whose row i is what `fill(i, row)` writes; rows are filled in parallel.
    #[must_use]
    pub fn from_rows(rows: usize, columns: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> Self {
        let blocks = (0..rows.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let first = block * BLOCK;
                let mut values = DMatrix::zeros(columns, BLOCK.min(rows - first));
                if columns > 0 {
                    let each = values.as_mut_slice().chunks_exact_mut(columns);
                    each.enumerate().for_each(|(i, row)| fill(first + i, row));
                }
                values
            })
            .collect();
        Self {
            rows,
            columns,
            blocks,
        }
    }

    /// Number of rows n.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns k.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Every row, in order.
    pub fn iter_rows(&self) -> impl Iterator<Item = &[f64]> {
        let width = self.columns.max(1);
        self.blocks
            .iter()
            .flat_map(move |block| block.as_slice().chunks_exact(width))
    }

    /// Replaces the matrix by the Q of its thin QR decomposition with positive diagonal, in place.
    ///
    /// The first j columns of Q are the Q of the first j columns, for every j: one factorisation serves all
    /// widths. `progress(done, total)` is told about every panel, in multiplications.
    ///
    /// # Method
    /// Block Gram–Schmidt with reorthogonalisation: each panel of 64 columns W is projected, W − Q(QᵀW), and
    /// orthonormalised by the Cholesky factor of WᵀW, and then both once more. After one pass the columns are
    /// orthogonal to about u/c (c: the smallest share of a column that lies outside the span before it, u: the
    /// rounding unit); the second pass starts from nearly orthonormal columns and brings that to u ("twice is
    /// enough", Giraud, Langou, Rozložník and van den Eshof 2005).
    ///
    /// # Errors
    /// [`NotFullRank`] if k > n, if less than 1e-7 of a column lies outside the span of those before it, or if
    /// something is not finite. The matrix is then of no use.
    ///
    /// # Cost
    /// 4nk² multiply–adds in matrix products; no memory beyond the matrix but panels.
    pub fn orthonormalise(
        &mut self,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), NotFullRank> {
        if self.rows < self.columns || self.columns == 0 {
            return Err(self.not_full_rank(self.rows, 0.0, 0.0));
        }
        let total = (self.columns * self.columns) as u64;
        for first in (0..self.columns).step_by(PANEL) {
            let width = PANEL.min(self.columns - first);
            for _ in 0..2 {
                let norms = self.norms(first, width);
                self.project(first, width);
                self.orthonormalise_panel(first, &norms)?;
            }
            progress(((first + width) * (first + width)) as u64, total);
        }
        Ok(())
    }

    /// W ← W − Q(QᵀW) for the panel W of `width` columns at `first`, where Q are the columns before it.
    fn project(&mut self, first: usize, width: usize) {
        if first == 0 {
            return;
        }
        let shares: Vec<DMatrix<f64>> = self
            .blocks
            .par_iter()
            .map(|block| product(&block.rows(0, first), &block.rows(first, width).transpose()))
            .collect();
        let overlap = sum(shares).transpose();
        self.blocks.par_iter_mut().for_each(|block| {
            let (before, mut panel) = block.rows_range_pair_mut(..first, first..first + width);
            add_product(&mut panel, -1.0, &overlap, &before);
        });
    }

    /// The norms of `width` columns at `first`.
    fn norms(&self, first: usize, width: usize) -> Vec<f64> {
        let mut squares = vec![0.0; width];
        for row in self.iter_rows() {
            for (sum, value) in squares.iter_mut().zip(&row[first..]) {
                *sum += value * value;
            }
        }
        squares.into_iter().map(f64::sqrt).collect()
    }

    /// W ← W R⁻¹ with RᵀR = WᵀW, R upper triangular with positive diagonal. `norms` are those of W's columns
    /// before they were projected.
    fn orthonormalise_panel(&mut self, first: usize, norms: &[f64]) -> Result<(), NotFullRank> {
        let width = norms.len();
        let shares: Vec<DMatrix<f64>> = self
            .blocks
            .par_iter()
            .map(|block| {
                let panel = block.rows(first, width);
                product(&panel, &panel.transpose())
            })
            .collect();
        let gram = sum(shares);
        let largest = norms.iter().copied().fold(0.0, f64::max);
        let lower = Cholesky::new(gram)
            .map(Cholesky::unpack)
            .ok_or_else(|| self.not_full_rank(first, 0.0, largest))?;
        for (j, norm) in norms.iter().enumerate() {
            let magnitude = lower[(j, j)];
            if !magnitude.is_finite() || magnitude <= NEGLIGIBLE * norm {
                return Err(self.not_full_rank(first + j, magnitude, largest));
            }
        }
        let inverse = lower
            .solve_lower_triangular(&DMatrix::identity(width, width))
            .ok_or_else(|| self.not_full_rank(first, 0.0, largest))?;
        self.blocks.par_iter_mut().for_each(|block| {
            let new = product(&inverse, &block.rows(first, width));
            block.rows_mut(first, width).copy_from(&new);
        });
        Ok(())
    }

    fn not_full_rank(&self, column: usize, magnitude: f64, largest: f64) -> NotFullRank {
        NotFullRank {
            rows: self.rows,
            columns: self.columns,
            column,
            magnitude,
            largest,
        }
    }
}

/// The sum of equally shaped matrices, first to last.
fn sum(shares: Vec<DMatrix<f64>>) -> DMatrix<f64> {
    let mut shares = shares.into_iter();
    let first = shares.next().unwrap_or_else(|| DMatrix::zeros(0, 0));
    shares.fold(first, |sum, share| sum + share)
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;

    use super::*;
    use crate::linalg::{Block, orthonormalise};
    use crate::vocabulary::{Label, Seed};

    fn normals(rows: usize, columns: usize, seed: u64) -> Vec<f64> {
        let mut generator = Seed::from_u64(seed).generator(Label::Scenario);
        (0..rows * columns)
            .map(|_| StandardNormal.sample(&mut generator))
            .collect()
    }

    fn tall(rows: usize, columns: usize, values: &[f64]) -> TallMatrix {
        TallMatrix::from_rows(rows, columns, |i, row| {
            row.copy_from_slice(&values[i * columns..(i + 1) * columns]);
        })
    }

    /// Largest entry of QᵀQ − I.
    fn loss(matrix: &TallMatrix) -> f64 {
        let rows: Vec<f64> = matrix.iter_rows().flatten().copied().collect();
        let q = DMatrix::from_row_slice(matrix.rows(), matrix.columns(), &rows);
        let k = matrix.columns();
        (q.transpose() * &q - DMatrix::identity(k, k)).abs().max()
    }

    #[test]
    fn every_leading_part_is_the_householder_q_of_that_part() {
        let (rows, columns) = (1100, 150);
        let values = normals(rows, columns, 1);
        let mut matrix = tall(rows, columns, &values);
        matrix.orthonormalise(&mut |_, _| {}).expect("full rank");
        for part in [1, 63, 64, 65, 150] {
            let cut: Vec<f64> = values
                .chunks_exact(columns)
                .flat_map(|row| &row[..part])
                .copied()
                .collect();
            let direct = orthonormalise(&Block::from_values(rows, part, cut)).expect("full rank");
            for (i, row) in matrix.iter_rows().enumerate() {
                for (a, b) in row[..part].iter().zip(direct.row(i)) {
                    assert!((a - b).abs() < 1e-13, "row {i} of {part}: {a} and {b}");
                }
            }
        }
    }

    /// Columns of the second panel repeat those of the first up to a millionth, so that one pass leaves them
    /// orthogonal to 1e-10 only.
    #[test]
    fn nearly_dependent_panels_come_out_orthonormal() {
        let (rows, columns) = (300, 128);
        let mut values = normals(rows, columns, 2);
        for row in values.chunks_exact_mut(columns) {
            for j in 64..columns {
                row[j] = row[j - 64] + 1e-6 * row[j];
            }
        }
        let mut matrix = tall(rows, columns, &values);
        matrix.orthonormalise(&mut |_, _| {}).expect("full rank");
        assert!(loss(&matrix) < 1e-13, "{}", loss(&matrix));
    }

    #[test]
    fn dependent_columns_wide_matrices_and_nan_are_refused() {
        let twice = normals(50, 1, 3);
        let values: Vec<f64> = twice.iter().flat_map(|x| [*x, 2.0 * x]).collect();
        assert!(tall(50, 2, &values).orthonormalise(&mut |_, _| {}).is_err());
        assert!(
            tall(2, 3, &normals(2, 3, 4))
                .orthonormalise(&mut |_, _| {})
                .is_err()
        );
        let mut values = normals(5, 2, 5);
        values[3] = f64::NAN;
        assert!(tall(5, 2, &values).orthonormalise(&mut |_, _| {}).is_err());
    }
}
