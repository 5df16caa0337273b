//! Adjacency by the value of one rating.

use nalgebra::DMatrix;
use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Neighbouring, Rating};

/// Whether all ratings lie between 0 and 1.
fn are_ratings(a: &DMatrix<f64>) -> bool {
    a.iter().all(|rating| (0.0..=1.0).contains(rating))
}

impl Neighbouring for Rating {
    type Data = DMatrix<f64>;

    const ADJACENCY: Adjacency = Adjacency::Rating;

    fn distance(a: &DMatrix<f64>, b: &DMatrix<f64>) -> Option<f64> {
        let comparable = a.shape() == b.shape() && are_ratings(a) && are_ratings(b);
        comparable.then(|| a.iter().zip(b.iter()).filter(|(x, y)| x != y).count() as f64)
    }

    /// A uniform rating: a uniform value, or one of the two ends.
    fn random_adjacent<R: Rng + ?Sized>(a: &DMatrix<f64>, rng: &mut R) -> Option<DMatrix<f64>> {
        if a.is_empty() || !are_ratings(a) {
            return None;
        }
        let at = (
            rng.random_range(0..a.nrows()),
            rng.random_range(0..a.ncols()),
        );
        let mut b = a.clone();
        // Of three candidates at most one is the rating that is there.
        while b[at] == a[at] {
            b[at] = match rng.random_range(0..3) {
                0 => 0.0,
                1 => 1.0,
                _ => rng.random_range(0.0..1.0),
            };
        }
        Some(b)
    }
}
