//! What adjacent data move counts of users by, from their definition.

use nalgebra::DMatrix;

use super::pairs::Attacked;
use crate::vocabulary::TAIL_DEGREES;

/// The largest change over these pairs, whose rows keep to the cap.
pub(super) fn most_moved<A: Attacked>(pairs: &[(A::Data, A::Data)], cap: Option<u32>) -> f64 {
    let moved = |(a, b): &(A::Data, A::Data)| (counts::<A>(b, cap) - counts::<A>(a, cap)).norm();
    pairs.iter().map(moved).fold(0.0, f64::max)
}

/// How many users have at least so many of the items that a cap leaves them.
fn counts<A: Attacked>(data: &A::Data, cap: Option<u32>) -> DMatrix<f64> {
    let rows = A::rows(data);
    let held = |i: usize| (rows.row(i).0.len() as u32).min(cap.unwrap_or(u32::MAX));
    DMatrix::from_fn(TAIL_DEGREES.len(), 1, |j, _| {
        let reached = (0..rows.len()).filter(|&i| held(i) >= TAIL_DEGREES[j]);
        reached.count() as f64
    })
}
