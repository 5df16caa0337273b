//! The bound of earlier work, from the largest entry of X; the baselines of P1 use it.

use super::{Adjacency, row_norm};

/// Δ = √p·‖X‖_max for a change of the matrix (Hardt & Price 2014, Definition 4.1; Balcan et al. 2016,
/// Algorithm 2: ref D.2, D.3), √2 times that for one interaction.
///
/// # Proof
/// A row of p entries of size at most ‖X‖_max has norm at most √p·‖X‖_max, so D̂ ≤ √p·‖X‖_max, and the bounds
/// of [`super::row_norm`] increase with D̂. ∎
///
/// The row norm is clamped to 1, since columns are orthonormal. For the interaction the factor is the one
/// P1 gives its own method (√2); which one P1's figures give the baselines is not stated (ref D.3).
pub(super) fn bound(adjacency: Adjacency, entry: f64, rank: u32) -> f64 {
    row_norm::bound(adjacency, (f64::from(rank).sqrt() * entry).min(1.0))
}
