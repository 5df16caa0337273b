//! Adjacency by a change of one peer's matrix, in the norm that P1 uses.

use nalgebra::DMatrix;
use rand::Rng;
use rand::distr::Distribution;

use super::super::adjacency::{Adjacency, MatrixChange, Neighbouring};
use super::changes::{difference, shifted};
use crate::vocabulary::StandardNormal;

impl Neighbouring for MatrixChange {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::Matrix;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        let change = difference(a, b)?;
        let rows = change
            .row_iter()
            .map(|row| row.iter().map(|v| v.abs()).sum::<f64>());
        Some(rows.fold(0.0, libm::hypot))
    }

    /// A Gaussian change, scaled to distance 1.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        let zero = DMatrix::zeros(a.nrows(), a.ncols());
        let change = zero.map(|_: f64| StandardNormal.sample(rng));
        let norm: f64 = Self::distance(&zero, &change)?;
        shifted::<Self>(a, &(change / norm))
    }
}
