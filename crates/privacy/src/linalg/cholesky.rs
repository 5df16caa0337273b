//! Dense Cholesky factorisation, in blocks, as a proof of positive definiteness.

use nalgebra::DMatrix;

use super::add_product;

/// Columns factorised at a time; the rest of the matrix is then updated by one matrix product per block.
const BLOCK: usize = 48;

/// Half a unit in the last place of 1.
const UNIT: f64 = f64::EPSILON / 2.0;

/// A lower triangular F with A = F Fᵀ up to rounding.
pub struct Cholesky {
    factor: DMatrix<f64>,
}

impl Cholesky {
    /// Factorises the symmetric matrix `a`, of which only the lower triangle is read; `None` if a pivot
    /// is not positive.
    ///
    /// Statement: if this succeeds, λ_min(A) ≥ −[`allowance`]. Proof: the computed factor satisfies
    /// F Fᵀ = A + E with |E_ij| ≤ γ_{n+1} √(a_ii a_jj) / (1 − γ_{n+1}) for every order of summation
    /// (Demmel 1989; Higham 2002, Theorem 10.5), so ‖E‖₂ ≤ γ_{n+1} tr(A) / (1 − γ_{n+1}), and F Fᵀ is
    /// positive semidefinite (the use made of it here: Rump 2006).
    ///
    /// # Cost
    /// n³/3 multiplications, nearly all in matrix products.
    pub fn of(mut a: DMatrix<f64>) -> Option<Self> {
        let n = a.nrows();
        for start in (0..n).step_by(BLOCK) {
            let end = (start + BLOCK).min(n);
            Self::factor_columns(&mut a, start, end)?;
            let panel = a.view((end, start), (n - end, end - start)).clone_owned();
            let across = panel.transpose();
            for left in (end..n).step_by(BLOCK) {
                let width = BLOCK.min(n - left);
                add_product(
                    &mut a.view_mut((left, left), (n - left, width)),
                    -1.0,
                    &panel.rows(left - end, n - left),
                    &across.columns(left - end, width),
                );
            }
        }
        Some(Self { factor: a })
    }

    /// Columns `start..end`, all earlier columns already being subtracted.
    fn factor_columns(a: &mut DMatrix<f64>, start: usize, end: usize) -> Option<()> {
        let n = a.nrows();
        let columns = a.as_mut_slice();
        for j in start..end {
            let (before, rest) = columns.split_at_mut(j * n);
            let column = &mut rest[j..n];
            for k in start..j {
                let earlier = &before[k * n + j..(k + 1) * n];
                let scale = earlier[0];
                for (value, other) in column.iter_mut().zip(earlier) {
                    *value -= scale * other;
                }
            }
            if !(column[0] > 0.0 && column[0].is_finite()) {
                return None;
            }
            let pivot = column[0].sqrt();
            column.iter_mut().for_each(|value| *value /= pivot);
        }
        Some(())
    }

    /// Replaces `x` by A⁻¹ x.
    pub fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for j in 0..n {
            let column = &self.factor.as_slice()[j * n + j..(j + 1) * n];
            x[j] /= column[0];
            let scale = x[j];
            for (value, f) in x[j + 1..].iter_mut().zip(&column[1..]) {
                *value -= scale * f;
            }
        }
        for j in (0..n).rev() {
            let column = &self.factor.as_slice()[j * n + j..(j + 1) * n];
            let known: f64 = x[j + 1..]
                .iter()
                .zip(&column[1..])
                .map(|(a, b)| a * b)
                .sum();
            x[j] = (x[j] - known) / column[0];
        }
    }
}

/// How far below 0 the smallest eigenvalue of a matrix can be whose factorisation succeeded: twice the
/// bound of [`Cholesky::of`], the other half paying for the denominator and for `trace`'s own rounding.
pub fn allowance(n: usize, trace: f64) -> f64 {
    2.0 * (n + 4) as f64 * UNIT * trace
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gram(n: usize) -> DMatrix<f64> {
        let a = DMatrix::from_fn(n, n, |i, j| libm::sin((1 + i * 7 + j * j * 3) as f64));
        &a * a.transpose() + DMatrix::identity(n, n)
    }

    #[test]
    fn it_solves_across_block_borders() {
        for n in [1, 2, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7] {
            let a = gram(n);
            let expected: Vec<f64> = (0..n).map(|i| 1.0 + i as f64).collect();
            let mut x: Vec<f64> = (&a * nalgebra::DVector::from_vec(expected.clone()))
                .as_slice()
                .to_vec();
            Cholesky::of(a).expect("definite").solve(&mut x);
            for (found, wanted) in x.iter().zip(&expected) {
                assert!(
                    (found - wanted).abs() < 1e-8 * wanted,
                    "{n}: {found} {wanted}"
                );
            }
        }
    }

    #[test]
    fn it_refuses_exactly_the_indefinite() {
        let n = 3 * BLOCK + 5;
        let a = gram(n);
        let least = a.clone().symmetric_eigenvalues().min();
        let shifted = |by: f64| a.clone() - DMatrix::identity(n, n) * by;
        assert!(Cholesky::of(shifted(least * (1.0 - 1e-6))).is_some());
        assert!(Cholesky::of(shifted(least * (1.0 + 1e-6))).is_none());
        assert!(Cholesky::of(DMatrix::from_element(3, 3, f64::NAN)).is_none());
        // Indefinite by its last pivot alone.
        let last = DMatrix::from_row_slice(2, 2, &[1.0, 1.0, 1.0, 0.5]);
        assert!(Cholesky::of(last).is_none());
    }
}
