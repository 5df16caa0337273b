//! Adjacency by a change of one peer's matrix of spectral norm at most 1: it moves no vector by more than its length.

use nalgebra::DMatrix;
use rand::distr::Distribution;
use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Neighbouring, UnitSpectral};
use super::changes::{difference, shifted};
use crate::vocabulary::StandardNormal;

impl Neighbouring for UnitSpectral {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::UnitSpectral;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        let change = difference(a, b)?;
        // Scaled, so that squares inside the decomposition neither over- nor underflow.
        let scale = change.iter().fold(0.0_f64, |max, v| max.max(v.abs()));
        if scale == 0.0 {
            return Some(0.0);
        }
        let values = (change / scale).singular_values();
        let norm = scale * values.iter().fold(0.0_f64, |max, v| max.max(*v));
        norm.is_finite().then_some(norm)
    }

    /// Uniform singular vectors on both sides; singular values uniform in (0, 1), one of them 1.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        if a.is_empty() {
            return None;
        }
        let gaussian =
            DMatrix::<f64>::zeros(a.nrows(), a.ncols()).map(|_| StandardNormal.sample(rng));
        let mut svd = gaussian.svd(true, true);
        for (index, value) in svd.singular_values.iter_mut().enumerate() {
            *value = if index == 0 {
                1.0
            } else {
                rng.random_range(0.0..1.0)
            };
        }
        shifted::<Self>(a, &svd.recompose().ok()?)
    }
}
