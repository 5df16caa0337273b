//! Adjacency by a change of one entry of one peer's matrix.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Entry, Neighbouring};
use super::changes::{difference, shifted};

impl Neighbouring for Entry {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::Entry;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        Some(difference(a, b)?.iter().map(|value| value.abs()).sum())
    }

    /// A uniform entry, one more or one less.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        if a.is_empty() {
            return None;
        }
        let mut change = DMatrix::zeros(a.nrows(), a.ncols());
        let at = (
            rng.random_range(0..a.nrows()),
            rng.random_range(0..a.ncols()),
        );
        change[at] = if rng.random_bool(0.5) { 1.0 } else { -1.0 };
        shifted::<Self>(a, &change)
    }
}
