//! Adjacency by a change of one peer's matrix, in the norm that P1 uses.

use nalgebra::DMatrix;
use rand::Rng;
use rand::distr::Distribution;
use rand_distr::StandardNormal;

use super::{Adjacency, Neighbouring, difference, shifted};

/// One peer's A_u changes by C with Σ_i ‖C_{i:}‖₁² ≤ 1 (P1, equation 7). The distance is √(Σ_i ‖C_{i:}‖₁²), the ℓ2 norm
/// of the ℓ1 norms of the rows.
///
/// P1 states it for the sum A, which is right for a curator. Where peers publish their own noisy A_u X, a change of A that is
/// spread over several peers is several records: [`Adjacency::is_of_matrix`].
///
/// P1 asks for a symmetric C as well. Nothing needs it, and with it a single entry off the diagonal would not
/// be a neighbour; so C is any matrix.
#[derive(Clone, Copy, Debug)]
pub struct MatrixChange;

impl Neighbouring for MatrixChange {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::Matrix;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        let change = difference(a, b)?;
        let rows = change
            .row_iter()
            .map(|row| row.iter().map(|v| v.abs()).sum::<f64>());
        Some(rows.fold(0.0, |norm: f64, row| norm.hypot(row)))
    }

    /// A Gaussian change, scaled to distance 1.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        let zero = DMatrix::zeros(a.nrows(), a.ncols());
        let change = zero.map(|_: f64| StandardNormal.sample(rng));
        let norm: f64 = Self::distance(&zero, &change)?;
        shifted::<Self>(a, &(change / norm))
    }
}
