//! The inverse of a symmetric positive definite matrix, with a proof of how good it is.

use nalgebra::{Cholesky, DMatrix, DMatrixViewMut};
use rayon::prelude::*;

use super::add_product;

/// Above this relative error of a diagonal entry the inverse is refused.
const WORST_ERROR: f64 = 1e-6;

/// Up to this size a plain Cholesky factorisation is used.
const BASE: usize = 64;

/// Columns of a product that one thread computes at a time, whatever the number of threads: few enough for two threads at a few
/// hundred rows, so many that copies of the left factor cost little.
const STRIP: usize = 192;

/// No inverse that can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("the matrix is too ill-conditioned for a certified inverse (residual {residual:e})")]
pub struct IllConditioned {
    /// Frobenius norm of I − M·M⁻¹, or infinity if the factorisation broke down.
    pub residual: f64,
}

/// M⁻¹ of a symmetric positive definite M and how far its diagonal can be off.
#[derive(Debug)]
pub(crate) struct CheckedInverse {
    /// M⁻¹, as computed.
    pub(crate) inverse: DMatrix<f64>,
    /// The largest relative error any diagonal entry of it can have.
    pub(crate) relative_error: f64,
}

impl CheckedInverse {
    /// Inverts and checks.
    ///
    /// # Errors
    /// [`IllConditioned`] if the matrix is not positive definite, or the result fails its check.
    ///
    /// # Cost
    /// About 2n³ multiplications, 5n² numbers of memory.
    pub(crate) fn of(matrix: &DMatrix<f64>) -> Result<Self, IllConditioned> {
        let inverse = positive_definite_inverse(matrix).ok_or(IllConditioned {
            residual: f64::INFINITY,
        })?;
        let relative_error = largest_relative_error(matrix, &inverse)?;
        Ok(Self {
            inverse,
            relative_error,
        })
    }
}

/// M⁻¹ of a symmetric positive definite M, or `None` if it is not numerically positive definite.
///
/// With M = [[A, Bᵀ], [B, C]], W = B·A⁻¹ and the Schur complement S = C − W·Bᵀ, the inverse is
/// [[A⁻¹ + Wᵀ·S⁻¹·W, ·], [−S⁻¹·W, S⁻¹]]; A and S are positive definite again. Nearly all work is matrix
/// products, several times faster than column-wise factorisation at a few thousand rows.
///
/// # Cost
/// About ⅔n³ multiplications, 4n² numbers of memory.
fn positive_definite_inverse(matrix: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let n = matrix.nrows();
    if n <= BASE {
        return Cholesky::new(matrix.clone()).map(|factor| factor.inverse());
    }
    let half = n / 2;
    let rest = n - half;
    let b = matrix.view((half, 0), (rest, half)).into_owned();
    let a_inverse = positive_definite_inverse(&matrix.view((0, 0), (half, half)).into_owned())?;
    let w = product(&b, &a_inverse);
    let mut schur = matrix.view((half, half), (rest, rest)).into_owned();
    add_on_all_threads(&mut schur, -1.0, &w, &b.transpose());
    let schur_inverse = positive_definite_inverse(&schur)?;
    let lower = -product(&schur_inverse, &w);
    let mut upper = a_inverse;
    add_on_all_threads(&mut upper, -1.0, &w.transpose(), &lower);
    let mut inverse = DMatrix::zeros(n, n);
    inverse.view_mut((0, 0), (half, half)).copy_from(&upper);
    inverse.view_mut((half, 0), (rest, half)).copy_from(&lower);
    inverse
        .view_mut((0, half), (half, rest))
        .copy_from(&lower.transpose());
    inverse
        .view_mut((half, half), (rest, rest))
        .copy_from(&schur_inverse);
    Some(inverse)
}

/// A·B, on all threads.
fn product(a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
    let mut c = DMatrix::zeros(a.nrows(), b.ncols());
    add_on_all_threads(&mut c, 1.0, a, b);
    c
}

/// C ← C + f·A·B with the bits of [`add_product`], whose entries know nothing of one another. Handing one strip to another thread
/// would take longer than its product.
fn add_on_all_threads(c: &mut DMatrix<f64>, f: f64, a: &DMatrix<f64>, b: &DMatrix<f64>) {
    let (rows, columns) = c.shape();
    if columns <= STRIP {
        return add_product(c, f, a, b);
    }
    c.as_mut_slice()
        .par_chunks_mut(STRIP * rows)
        .enumerate()
        .for_each(|(strip, values)| {
            let left = strip * STRIP;
            let width = STRIP.min(columns - left);
            let mut part = DMatrixViewMut::from_slice(values, rows, width);
            add_product(&mut part, f, a, &b.columns(left, width));
        });
}

/// The a-posteriori check. With M the matrix, X the computed inverse and R = I − MX, M⁻¹ − X = M⁻¹R, so
/// |(M⁻¹ − X)_uu| ≤ ‖M⁻¹e_u‖·‖Re_u‖ and ‖M⁻¹e_u‖ ≤ ‖Xe_u‖/(1 − ‖R‖_F).
fn largest_relative_error(
    matrix: &DMatrix<f64>,
    inverse: &DMatrix<f64>,
) -> Result<f64, IllConditioned> {
    let mut product = product(matrix, inverse);
    let mut total = 0.0;
    let mut largest = 0.0_f64;
    for (u, mut column) in product.column_iter_mut().enumerate() {
        column[u] -= 1.0;
        total += column.norm_squared();
        largest = largest.max(inverse.column(u).norm() * column.norm() / inverse[(u, u)]);
    }
    let residual = total.sqrt();
    let relative = largest / (1.0 - residual);
    // Written so that NaN is refused too.
    if residual < 0.5 && relative < WORST_ERROR {
        Ok(relative)
    } else {
        Err(IllConditioned { residual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_by_halves_inverts() {
        for n in [1, 5, 64, 65, 200] {
            let m = DMatrix::from_fn(n, n, |i, j| {
                if i == j {
                    4.0
                } else {
                    1.0 / (1.0 + i.abs_diff(j) as f64).powi(2)
                }
            });
            let inverse = positive_definite_inverse(&m).expect("diagonally dominant");
            let defect = (&m * &inverse - DMatrix::identity(n, n)).norm();
            assert!(defect < 1e-12, "{n}: {defect:e}");
        }
    }

    #[test]
    fn strips_of_columns_give_the_bits_of_the_whole() {
        let a = DMatrix::from_fn(70, 50, |i, j| (i as f64 + 0.3).sin() * (j as f64 + 0.1));
        let b = DMatrix::from_fn(50, 2 * STRIP + 7, |i, j| ((i * 7 + j * 3) as f64).cos());
        let mut parts = DMatrix::from_element(70, 2 * STRIP + 7, 0.1);
        let mut whole = parts.clone();
        add_on_all_threads(&mut parts, -1.0, &a, &b);
        add_product(&mut whole, -1.0, &a, &b);
        assert_eq!(parts, whole);
    }

    #[test]
    fn what_is_not_positive_definite_is_noticed() {
        let mut m = DMatrix::identity(100, 100);
        m[(90, 90)] = -1.0;
        assert!(positive_definite_inverse(&m).is_none());
    }

    #[test]
    fn a_damaged_inverse_is_refused_and_a_slightly_damaged_one_is_charged_for() {
        let matrix = DMatrix::from_fn(4, 4, |i, j| if i == j { 3.0 } else { -0.5 });
        let good = positive_definite_inverse(&matrix).expect("positive definite");
        assert!(largest_relative_error(&matrix, &good).expect("sound") < 1e-14);
        let damaged = |amount: f64| {
            let mut inverse = good.clone();
            inverse[(2, 2)] *= 1.0 - amount;
            largest_relative_error(&matrix, &inverse)
        };
        assert!(damaged(1e-8).expect("within the limit") >= 1e-8);
        for amount in [1e-5, 0.5, f64::NAN] {
            assert!(matches!(damaged(amount), Err(IllConditioned { .. })));
        }
    }
}
