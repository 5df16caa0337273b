//! Leading eigenvectors of an indefinite matrix: blocks as wide as the answer, no restarts.

use std::convert::Infallible;

use nalgebra::DMatrix;

use super::super::eigen::{descending, signed};
use super::super::extension::{extend_basis, normal_columns};
use super::super::{Block, product};
use super::{KrylovSpace, Look, Stopped, lanczos};
use crate::vocabulary::{Label, Seed};

/// A Ritz pair is accepted when its residual is below this share of the largest Ritz value in size.
const RESIDUAL: f64 = 1e-11;

/// A direction that keeps less than this share of the longest one under projection carries rounding only.
const DEPENDENT: f64 = 1e-10;

/// The `rank` eigenvectors with the algebraically largest eigenvalues of a symmetric n × n matrix, which may be
/// indefinite.
///
/// `multiply` is X ↦ AX. Block Lanczos with blocks of `rank` columns and full reorthogonalisation (twice) from a
/// fixed pseudo-random start, with Rayleigh–Ritz whenever the space has grown by a fifth, until every residual
/// ‖Av − θv‖ is below 1e-11 of the largest |θ| or the space is everything. Blocks as wide as the answer find
/// eigenvalues of any multiplicity; directions that run out are replaced by fresh random ones.
///
/// The result depends on A alone, to the bit (see [`crate::linalg`]). Sign: the entry of largest magnitude of each vector is positive (the
/// first of equals).
///
/// # Shapes
/// n × `rank`, orthonormal, descending.
///
/// # Panics
/// If `rank` is 0 or above n, or the entries of A are not finite: both are checked when plans and sums are.
///
/// # Cost
/// For k steps O(k · rank · n²) in products and O(n (k·rank)²) in orthogonalisation; n = 2,000 needs tens of
/// steps, never n. Memory 2 n·k·rank for the space and its image, and a few (k·rank)².
///
/// # Source
/// Golub & Underwood 1977; Y. Saad, Numerical Methods for Large Eigenvalue Problems (2011), ch. 6.
#[must_use]
pub fn leading_eigenvectors(
    n: usize,
    rank: usize,
    multiply: impl Fn(&DMatrix<f64>) -> DMatrix<f64>,
) -> Block {
    assert!((1..=n).contains(&rank), "between one vector and all");
    let mut space = Columns::new(n, rank);
    let mut operator = |x: &DMatrix<f64>| Ok::<_, Infallible>(multiply(x));
    // The space ends as everything at the latest.
    match lanczos(&mut space, &mut operator, 1) {
        Ok(found) => signed(&found.pairs),
        Err(Stopped::Operator(never) | Stopped::Space(never)) => match never {},
    }
}

/// An orthonormal basis V, its image AV and VᵀAV.
struct Columns {
    rank: usize,
    basis: DMatrix<f64>,
    image: DMatrix<f64>,
    projected: DMatrix<f64>,
    /// The columns of the basis that have no image yet.
    newest: DMatrix<f64>,
    /// Columns when the Ritz pairs were last looked at.
    checked: usize,
    generator: chacha20::ChaCha20Rng,
}

impl Columns {
    fn new(n: usize, rank: usize) -> Self {
        let mut generator = Seed::from_u64(0).generator(Label::Probe);
        let candidates = normal_columns(n, rank, &mut generator);
        let mut space = Self {
            rank,
            basis: DMatrix::zeros(n, 0),
            image: DMatrix::zeros(n, 0),
            projected: DMatrix::zeros(0, 0),
            newest: DMatrix::zeros(n, 0),
            checked: 0,
            generator,
        };
        space.append(&candidates);
        space
    }

    /// Adds the part of `candidates` outside the basis to it; random directions where that is nothing.
    fn append(&mut self, candidates: &DMatrix<f64>) {
        let old = self.basis.ncols();
        let longest = candidates
            .column_iter()
            .map(|c| c.norm())
            .fold(0.0, f64::max);
        let basis = std::mem::replace(&mut self.basis, DMatrix::zeros(0, 0));
        self.basis = extend_basis(basis, candidates, DEPENDENT * longest, &mut self.generator);
        self.newest = self
            .basis
            .columns(old, self.basis.ncols() - old)
            .into_owned();
    }
}

impl KrylovSpace for Columns {
    type Vectors = DMatrix<f64>;
    type Pairs = DMatrix<f64>;
    type Error = Infallible;

    fn newest(&mut self) -> &DMatrix<f64> {
        if self.image.ncols() == self.basis.ncols() {
            let (before, width) = (
                self.image.ncols() - self.newest.ncols(),
                self.newest.ncols(),
            );
            let candidates = self.image.columns(before, width).into_owned();
            self.append(&candidates);
        }
        &self.newest
    }

    fn extend(&mut self, image: DMatrix<f64>) -> Result<(), Infallible> {
        let width = self.basis.ncols();
        let old = width - image.ncols();
        let cross = self.basis.tr_mul(&image);
        let mut projected = DMatrix::zeros(width, width);
        projected
            .view_mut((0, 0), (old, old))
            .copy_from(&self.projected);
        projected
            .view_mut((0, old), cross.shape())
            .copy_from(&cross);
        projected
            .view_mut((old, 0), (width - old, width))
            .copy_from(&cross.transpose());
        self.projected = projected;
        let held = std::mem::replace(&mut self.image, DMatrix::zeros(0, 0));
        self.image = held.insert_columns(old, width - old, 0.0);
        self.image.columns_mut(old, width - old).copy_from(&image);
        Ok(())
    }

    /// Looks whenever the space has grown by a fifth.
    fn look(&mut self) -> Look<DMatrix<f64>> {
        let width = self.basis.ncols();
        let whole = width == self.basis.nrows();
        if !whole && 5 * width < 6 * self.checked {
            return Look::Unfinished;
        }
        self.checked = width;
        let (values, rotation) = descending(&self.projected, self.rank);
        let ritz = product(&self.basis, &rotation);
        let image = product(&self.image, &rotation);
        let largest = values.iter().fold(0.0_f64, |m, value| m.max(value.abs()));
        let converged = (0..self.rank).all(|j| {
            let residual = image.column(j) - ritz.column(j) * values[j];
            residual.norm() <= RESIDUAL * largest
        });
        if whole || converged {
            Look::Converged(ritz)
        } else {
            Look::Unfinished
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;

    use nalgebra::SymmetricEigen;

    use super::super::super::{PackedTriangle, subspace_distance};
    use super::*;

    fn noise(n: usize, seed: u64) -> Vec<f64> {
        let mut generator = Seed::from_u64(seed).generator(Label::Scenario);
        (0..PackedTriangle::coordinates(n))
            .map(|_| StandardNormal.sample(&mut generator))
            .collect()
    }

    fn dense_top(matrix: &DMatrix<f64>, rank: usize) -> (Block, Vec<f64>) {
        let eigen = SymmetricEigen::new(matrix.clone());
        let mut order: Vec<usize> = (0..matrix.nrows()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let vectors = eigen.eigenvectors.select_columns(&order[..rank]);
        let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
        (Block::from_matrix(&vectors), values)
    }

    #[test]
    fn indefinite_noise_gives_the_dense_decompositions_vectors() {
        for (n, rank) in [(1, 1), (5, 5), (40, 3), (120, 8), (150, 1)] {
            let values = noise(n, 3 + n as u64);
            let matrix = PackedTriangle::new(n, &values);
            let found = leading_eigenvectors(n, rank, |x| matrix.times(x));
            let (expected, _) = dense_top(&matrix.to_block().to_matrix(), rank);
            let apart = subspace_distance(&found, &expected);
            assert!(apart < 1e-7, "{n} {rank}: {apart:e}");
            let again = leading_eigenvectors(n, rank, |x| matrix.times(x));
            assert_eq!(found, again);
            for j in 0..rank {
                let column: Vec<f64> = (0..n).map(|i| found.row(i)[j]).collect();
                let largest = column.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
                assert!(column.contains(&largest), "the sign convention");
            }
        }
    }

    #[test]
    fn repeated_and_zero_eigenvalues_are_found_as_often_as_they_occur() {
        let n = 60;
        let diagonal = |i: usize| match i {
            0..6 => 2.0,
            6..30 => 1.0,
            30..40 => 0.0,
            _ => -5.0,
        };
        let multiply =
            |x: &DMatrix<f64>| DMatrix::from_fn(n, x.ncols(), |i, j| diagonal(i) * x[(i, j)]);
        for (rank, value) in [(6, 2.0), (8, 1.0), (31, 0.0)] {
            let found = leading_eigenvectors(n, rank, multiply);
            let gram = found.transpose_times(&found);
            assert!((gram - DMatrix::identity(rank, rank)).abs().max() < 1e-12);
            let last: f64 = (0..n)
                .map(|i| diagonal(i) * found.row(i)[rank - 1].powi(2))
                .sum();
            assert!((last - value).abs() < 1e-9, "{rank}: {last}");
        }
        let zero = leading_eigenvectors(7, 3, |x| DMatrix::zeros(7, x.ncols()));
        let gram = zero.transpose_times(&zero);
        assert!((gram - DMatrix::identity(3, 3)).abs().max() < 1e-12);
    }

    #[test]
    fn a_large_matrix_needs_no_full_decomposition() {
        let n = 400;
        let values = noise(n, 9);
        let matrix = PackedTriangle::new(n, &values);
        let widest = std::cell::Cell::new(0);
        let found = leading_eigenvectors(n, 2, |x| {
            widest.set(widest.get() + x.ncols());
            matrix.times(x)
        });
        assert!(widest.get() < n / 2, "{} products", widest.get());
        let (expected, values) = dense_top(&matrix.to_block().to_matrix(), 2);
        assert!(subspace_distance(&found, &expected) < 1e-6);
        // In descending order, each with its own eigenvalue.
        let image = Block::from_matrix(&matrix.times(&found.to_matrix()));
        let quotients = found.transpose_times(&image);
        for j in 0..2 {
            let gap = (quotients[(j, j)] - values[j]).abs();
            assert!(gap < 1e-8 * values[0], "{j}: {gap:e}");
        }
    }
}
