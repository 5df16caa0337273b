//! The diagonal of (D + K)⁻¹ by a dense inverse with its own check.
//!
//! # The common part is taken out exactly
//! Σ = D + K, K the weighted Laplacian, so Σ1 = d (the diagonal of D as a vector). With M = Σ + τ·ddᵀ,
//! Sherman–Morrison and Σ⁻¹d = 1 give
//! **Σ⁻¹ = M⁻¹ + τ·11ᵀ/(1 + τ·tr D)**: where K is much larger than D nearly all, 1/tr D, is in the second
//! term, and M is as well conditioned as the graph is connected, however large K is. Entries of D
//! may be 0 at some rows, as long as one is not.

use nalgebra::DMatrix;

use super::matrix::ShiftedLaplacian;
use crate::linalg::bracket::Bracket;
use crate::linalg::inverse::{CheckedInverse, IllConditioned};

/// [Σ⁻¹]_uu of every row u, in order.
///
/// # Why it is a bracket
/// Let N = diag(Σ), scaled to powers of two so that scaling rounds nothing. The inverse X of the rounded matrix
/// M̂ ≈ N^{-1/2}MN^{-1/2} has diagonal entries within the relative error of [`CheckedInverse`], M̂ itself is within
/// η = (degree + 8)·2⁻⁵²·‖M̂‖_∞ of the true matrix, and |(M̂⁻¹ − M⁻¹)_uu| ≤ ‖M̂⁻¹e_u‖²·η/(1 − η‖M̂⁻¹‖), the last
/// factor being at most 2 by the check on ‖I − M̂X‖ (which also bounds η‖X‖_F) or the matrix is refused.
///
/// # Errors
/// [`IllConditioned`] if the inverse fails its own check.
///
/// # Cost
/// About 2n³ multiplications and 5n² numbers.
pub(crate) fn inverse_diagonal(sigma: &ShiftedLaplacian) -> Result<Vec<Bracket>, IllConditioned> {
    let n = sigma.len();
    let total = sigma.total_own();
    if n == 1 {
        return Ok(vec![Bracket::rounded(1.0 / total).times(1.0 / sigma.unit)]);
    }
    let diagonal = sigma.diagonal();
    // 1/√N to the nearest power of two below.
    let scale: Vec<f64> = diagonal
        .iter()
        .map(|&entry| f64::from_bits((1.0 / entry.sqrt()).to_bits() & !((1 << 52) - 1)))
        .collect();
    let g: Vec<f64> = sigma.own.iter().zip(&scale).map(|(d, s)| d * s).collect();
    let tau = 1.0 / g.iter().map(|x| x * x).sum::<f64>();
    let mut matrix = DMatrix::from_fn(n, n, |i, j| tau * g[i] * g[j]);
    for i in 0..n {
        matrix[(i, i)] += diagonal[i] * scale[i] * scale[i];
        for (j, weight) in sigma.row(i) {
            matrix[(i, j)] -= weight * scale[i] * scale[j];
        }
    }
    let CheckedInverse {
        inverse,
        relative_error,
    } = CheckedInverse::of(&matrix)?;
    let norm = matrix
        .column_iter()
        .map(|column| column.lp_norm(1))
        .fold(0.0, f64::max);
    let eta = (sigma.largest_degree() + 8) as f64 * f64::EPSILON * norm;
    let defect = eta * inverse.norm();
    if defect.is_nan() || defect >= 0.25 {
        return Err(IllConditioned { residual: defect });
    }
    let common = Bracket::rounded(tau / (1.0 + tau * total));
    Ok((0..n)
        .map(|u| {
            let entry = inverse[(u, u)];
            let error = relative_error * entry + 2.0 * inverse.column(u).norm_squared() * eta;
            let rest = Bracket::new(entry - error, entry, entry + error);
            rest.times(scale[u] * scale[u])
                .plus(common)
                .times(1.0 / sigma.unit)
        })
        .collect())
}
