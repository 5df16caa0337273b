//! How long the contribution of a row is, and what it is divided by.

use super::grid;
use crate::linalg::SparseRows;

/// A little less than 1, so that rounding never makes a shortened contribution longer than its threshold.
const SHORTENED: f64 = 1.0 - 1e-12;

/// ‖v‖₂.
fn norm(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// c = ‖r‖·‖rX‖ of every row, where `projected` is RX with so many columns; `None` for a slot that nobody fills.
///
/// It is the Frobenius norm of what the row contributes: rᵀ(rX) has rank one.
pub(super) fn lengths(rows: &SparseRows, projected: &[f64], columns: usize) -> Vec<Option<f64>> {
    let each = (0..rows.len()).zip(projected.chunks_exact(columns));
    each.map(|(i, along)| {
        let (items, values) = rows.row(i);
        (!items.is_empty()).then(|| norm(values) * norm(along))
    })
    .collect()
}

/// What is done with contributions that are longer than the threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Longer {
    /// They are shortened to it.
    Shortened,
    /// They are left out.
    LeftOut,
}

/// What r·X is multiplied by so that the contribution, in units of θ, is no longer than 1: 1/max(θ, c), or 0 for one left out.
pub(super) fn factor(length: f64, threshold: f64, longer: Longer) -> f64 {
    match longer {
        // Written so that what is no number counts as long.
        _ if length <= threshold => threshold.recip(),
        Longer::Shortened if length.is_finite() => SHORTENED / length,
        Longer::Shortened | Longer::LeftOut => 0.0,
    }
}

/// Multiplies the rows of RX by their factors.
pub(super) fn scale(
    projected: &mut [f64],
    lengths: &[Option<f64>],
    columns: usize,
    (threshold, longer): (f64, Longer),
) {
    for (along, length) in projected.chunks_exact_mut(columns).zip(lengths) {
        let factor = length.map_or(0.0, |length| factor(length, threshold, longer));
        along.iter_mut().for_each(|x| *x *= factor);
    }
}

/// How many rows fall into each bin.
pub(super) fn histogram(lengths: &[Option<f64>]) -> Vec<f64> {
    let mut counts = vec![0.0; grid::BINS];
    let bins = lengths.iter().flatten().filter_map(|c| grid::bin(*c));
    bins.for_each(|bin| counts[bin] += 1.0);
    counts
}

/// How many rows contribute no more than the threshold.
pub(super) fn within(lengths: &[Option<f64>], threshold: f64) -> f64 {
    lengths
        .iter()
        .flatten()
        .filter(|c| **c <= threshold)
        .count() as f64
}

/// How many rows contribute more than each threshold of the grid, from θ_0 on.
pub(super) fn above(lengths: &[Option<f64>]) -> Vec<f64> {
    let count = |j| {
        let threshold = grid::threshold(j);
        let longer = lengths.iter().flatten().filter(|c| **c > threshold);
        longer.count() as f64
    };
    (0..grid::THRESHOLDS).map(count).collect()
}
