//! Block Krylov on a matrix that is at hand, for many trials of one run each.

use nalgebra::{DMatrix, DMatrixView};

use super::krylov::{ROUNDING, bordered, weighed};
use crate::linalg::{Spectrum, add_product, product};

/// What [`Krylov`](super::Krylov) estimates from a dense matrix A and noise drawn in advance: the same estimate, without peers, releases and what
/// is public in between.
///
/// # Beside [`Krylov`](super::Krylov)
/// The iteration, the weighing of products and the completion are that algorithm's; a test holds the two against each other. What differs is
/// rounding and cost: products are those of dense matrices, directions are made orthogonal a block at a time, only as many
/// eigenvectors are found as are used, and none after an iteration that is not the last.
#[derive(Clone, Copy, Debug)]
pub struct KrylovTrial<'a> {
    /// A, n × n, symmetric.
    pub matrix: &'a DMatrix<f64>,
    /// X⁰, n × b, orthonormal.
    pub start: &'a DMatrix<f64>,
    /// Standard normal numbers, n rows: iteration l takes the next b columns, from the first again where there are no more.
    pub normals: &'a DMatrix<f64>,
    /// Iterations L.
    pub iterations: usize,
    /// Eigenvectors wanted.
    pub rank: usize,
}

impl KrylovTrial<'_> {
    /// The estimate after the last iteration, where noise on the product of A and X has standard deviation σ(X).
    ///
    /// Directions that are short are not replaced, since with noise there are none; where noise is 0 they are what rounding says.
    pub fn estimate(&self, sigma: impl Fn(&DMatrix<f64>) -> f64) -> DMatrix<f64> {
        let (n, b) = self.start.shape();
        let all = (b * self.iterations).min(n);
        let (mut z, mut w) = (DMatrix::zeros(n, all), DMatrix::zeros(n, all));
        let mut variances = Vec::with_capacity(all);
        let (mut query, mut repeated) = (self.start.clone(), 0);
        let mut outside = DMatrix::zeros(n, 0);
        for iteration in 0..self.iterations {
            let noise = sigma(&query);
            let mut product = product(self.matrix, &query);
            for (column, mut sum) in product.column_iter_mut().enumerate() {
                let at = (iteration * b + column) % self.normals.ncols();
                sum.axpy(noise, &self.normals.column(at), 1.0);
            }
            let variance = noise * noise;
            let known = variances.len();
            let fresh = b.min(all - known);
            z.columns_mut(known, fresh)
                .copy_from(&query.columns(0, fresh));
            w.columns_mut(known, fresh)
                .copy_from(&product.columns(0, fresh));
            variances.extend(std::iter::repeat_n(variance, fresh));
            // Products of directions that were queried before are averaged by precision.
            for column in fresh..b {
                let direction = repeated % n;
                repeated += 1;
                let before: f64 = variances[direction];
                let total = before + variance;
                let share = if total > 0.0 { before / total } else { 0.5 };
                let mut mean = w.column_mut(direction);
                mean.axpy(share, &product.column(column), 1.0 - share);
                variances[direction] = before * (1.0 - share);
            }
            let known = variances.len();
            let left = b.min(n - known);
            outside = beyond(z.columns(0, known), product.columns(0, left).into_owned());
            let again = (left..b).map(|column| z.column((repeated + column - left) % n));
            let columns: Vec<_> = outside.column_iter().chain(again).collect();
            query = DMatrix::from_columns(&columns);
        }
        let small = self.completed(
            &weighed(&product(&z.transpose(), &w), &variances),
            &product(&outside.transpose(), &w),
            &variances,
        );
        let leading = Spectrum::leading(&small, self.rank).vectors(self.rank);
        let (inside, rest) = (leading.rows(0, all), leading.rows(all, outside.ncols()));
        let mut found = product(&z, &inside);
        add_product(&mut found, 1.0, &outside, &rest);
        found
    }

    /// Â from B and T.
    fn completed(&self, b: &DMatrix<f64>, t: &DMatrix<f64>, variances: &[f64]) -> DMatrix<f64> {
        let sigma = variances.iter().copied().fold(0.0, f64::max).sqrt();
        let edge = sigma * (2.0 * b.nrows() as f64).sqrt();
        let spectrum = Spectrum::above(b, |largest| edge.max(ROUNDING * largest));
        let mut image = product(t, &spectrum.vectors(spectrum.values().len()));
        for (mut column, value) in image.column_iter_mut().zip(spectrum.values()) {
            column *= value.sqrt().recip();
        }
        bordered(b, t, &product(&image, &image.transpose()))
    }
}

/// An orthonormal basis of what columns have outside an orthonormal one, projected twice.
fn beyond(basis: DMatrixView<'_, f64>, mut columns: DMatrix<f64>) -> DMatrix<f64> {
    for _ in 0..2 {
        let along = product(&basis.transpose(), &columns);
        add_product(&mut columns, -1.0, &basis, &along);
    }
    columns.qr().q()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rand_distr::{Distribution, StandardNormal};

    use super::super::{Algorithm, Krylov, PublicState};
    use super::*;
    use crate::linalg::{Block, start_block, subspace_distance};
    use crate::vocabulary::{Label, Seed};

    /// The algorithm itself with these sums.
    fn released(trial: &KrylovTrial<'_>, sigma: f64) -> Block {
        let (dimension, block) = trial.start.shape();
        let algorithm = Krylov {
            dimension,
            rank: trial.rank,
            block,
            iterations: trial.iterations as u32,
        };
        let mut state = PublicState::new(Arc::new(Block::from_matrix(trial.start)));
        for iteration in 0..trial.iterations {
            let mut sum = trial.matrix * state.query.to_matrix();
            for (column, mut one) in sum.column_iter_mut().enumerate() {
                let at = (iteration * block + column) % trial.normals.ncols();
                one.axpy(sigma, &trial.normals.column(at), 1.0);
            }
            let sum = Arc::new(Block::from_matrix(&sum));
            state = algorithm
                .advance(&state, &sum, &[sigma])
                .expect("full rank");
        }
        Block::clone(&algorithm.estimate(&state))
    }

    /// With noise and nearly without, from one iteration to more than the space has room for.
    #[test]
    fn the_estimate_is_that_of_the_algorithm() {
        let mut generator = Seed::from_u64(8).generator(Label::Scenario);
        let mut normal =
            |n, m| DMatrix::from_fn(n, m, |_, _| StandardNormal.sample(&mut generator));
        for (n, rank, block, iterations) in [
            (40, 3, 3, 1),
            (40, 3, 6, 3),
            (30, 2, 8, 3),
            (20, 4, 8, 3),
            (20, 4, 8, 4),
        ] {
            let factor: DMatrix<f64> = normal(n, n);
            let scaled = DMatrix::from_fn(n, n, |i, j| factor[(i, j)] * 0.8_f64.powi(j as i32));
            let matrix = &scaled * scaled.transpose();
            let start = start_block(&Seed::from_u64(3), n, block)
                .expect("full rank")
                .to_matrix();
            let normals: DMatrix<f64> = normal(n, n);
            let trial = KrylovTrial {
                matrix: &matrix,
                start: &start,
                normals: &normals,
                iterations,
                rank,
            };
            let mut seen = Vec::new();
            for sigma in [1e-3, 1.0, 10.0] {
                let ours = Block::from_matrix(&trial.estimate(|_| sigma));
                let skew = ours.transpose_times(&ours) - DMatrix::identity(rank, rank);
                assert!(skew.norm() < 1e-9, "{skew}");
                let apart = subspace_distance(&ours, &released(&trial, sigma));
                assert!(apart < 1e-6, "{n} {block} {iterations} at {sigma}: {apart}");
                seen.push(ours);
            }
            // Noise moves the estimate, so that agreement says something.
            assert!(subspace_distance(&seen[0], &seen[2]) > 1e-2);
            let other = KrylovTrial {
                iterations: iterations + 1,
                ..trial
            };
            let apart = subspace_distance(&Block::from_matrix(&other.estimate(|_| 1.0)), &seen[1]);
            assert!(apart > 1e-4, "{apart}");
        }
    }
}
