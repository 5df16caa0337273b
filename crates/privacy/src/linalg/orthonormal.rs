//! Thin QR with a positive diagonal, and the public starting block.

use nalgebra::linalg::QR;
use rand::distr::Distribution;

use super::Block;
use crate::vocabulary::{Label, Seed, StandardNormal};

/// A block whose columns are linearly dependent to working precision, or not finite, has no unique QR.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error(
    "the {rows} x {columns} block has no unique orthonormal basis: column {column} contributes {magnitude:e} \
     against a largest {largest:e}; lower the rank or give the data more items than columns"
)]
pub struct NotFullRank {
    /// Rows of the block.
    pub rows: usize,
    /// Columns of the block.
    pub columns: usize,
    /// The first column whose diagonal entry in R is negligible or not finite.
    pub column: usize,
    /// That entry.
    pub magnitude: f64,
    /// The largest diagonal entry.
    pub largest: f64,
}

/// The Q of the thin QR decomposition of `block` whose R has a positive diagonal.
///
/// That choice makes Q unique, so that peers which agree on the block agree on the basis and small
/// differences stay small (they grow by about √2/σ_min). Householder, by nalgebra, in a fixed order.
///
/// # Shapes and units
/// `block` is n × p with n ≥ p; the result has the same shape and QᵀQ = I to about 1e-15.
///
/// # Errors
/// [`NotFullRank`] if a diagonal entry of R is below 1e-14 of the largest, or anything is NaN or infinite.
///
/// # Cost
/// O(n p²) time, two copies of the block.
pub fn orthonormalise(block: &Block) -> Result<Block, NotFullRank> {
    let (rows, columns) = (block.rows(), block.columns());
    let fail = |column, magnitude, largest| NotFullRank {
        rows,
        columns,
        column,
        magnitude,
        largest,
    };
    if rows < columns || columns == 0 {
        return Err(fail(rows, 0.0, 0.0));
    }
    let qr = QR::new(block.to_matrix());
    let r = qr.r();
    let largest = (0..columns).fold(0.0_f64, |m, j| m.max(r[(j, j)].abs()));
    for j in 0..columns {
        let magnitude = r[(j, j)].abs();
        if !magnitude.is_finite() || !largest.is_finite() || magnitude <= 1e-14 * largest {
            return Err(fail(j, magnitude, largest));
        }
    }
    let mut basis = Block::from_matrix(&qr.q());
    for j in 0..columns {
        if r[(j, j)] < 0.0 {
            for i in 0..rows {
                basis.values_mut()[i * columns + j] *= -1.0;
            }
        }
    }
    Ok(basis)
}

/// The public starting block X⁰: the Q of a standard Gaussian n × p matrix drawn from the seed's
/// [`Label::Start`] stream. Everybody who knows the plan computes the same one.
///
/// # Errors
/// [`NotFullRank`] if p > n.
pub fn start_block(seed: &Seed, rows: usize, columns: usize) -> Result<Block, NotFullRank> {
    // Before anything is drawn: a file may ask for any number of columns.
    if rows < columns || columns == 0 {
        return Err(NotFullRank {
            rows,
            columns,
            column: rows,
            magnitude: 0.0,
            largest: 0.0,
        });
    }
    let mut generator = seed.generator(Label::Start);
    let values = (0..rows * columns)
        .map(|_| StandardNormal.sample(&mut generator))
        .collect();
    orthonormalise(&Block::from_values(rows, columns, values))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagonal_of_r_is_positive_and_q_is_orthonormal() {
        let seed = Seed::from_u64(5);
        for (n, p) in [(5, 5), (40, 3), (200, 12), (1, 1)] {
            let mut generator = seed.generator(Label::Scenario);
            let values = (0..n * p)
                .map(|_| StandardNormal.sample(&mut generator))
                .collect();
            let block = Block::from_values(n, p, values);
            let q = orthonormalise(&block).expect("Gaussian blocks have full rank");
            let gram = q.transpose_times(&q);
            assert!((gram - nalgebra::DMatrix::identity(p, p)).abs().max() < 1e-14);
            let r = q.transpose_times(&block);
            for j in 0..p {
                assert!(r[(j, j)] > 0.0, "R[{j},{j}] = {}", r[(j, j)]);
                for i in j + 1..p {
                    assert!(r[(i, j)].abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn dependent_columns_and_nan_are_refused() {
        let twice = Block::from_values(3, 2, vec![1.0, 2.0, 2.0, 4.0, 3.0, 6.0]);
        assert_eq!(orthonormalise(&twice).expect_err("rank one").column, 1);
        let nan = Block::from_values(2, 1, vec![f64::NAN, 1.0]);
        assert!(orthonormalise(&nan).is_err());
        assert!(orthonormalise(&Block::zeros(4, 2)).is_err());
        let seed = Seed::from_u64(1);
        assert!(start_block(&seed, 2, 3).is_err());
        assert!(start_block(&seed, 2, 0).is_err());
        // More than any machine holds is refused as well, and not drawn first.
        let most = start_block(&seed, 4, usize::MAX).expect_err("more columns than rows");
        assert_eq!((most.columns, most.column), (usize::MAX, 4));
    }
}
