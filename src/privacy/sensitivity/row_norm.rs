//! P1's bound from the largest row norm, kept for comparison with the paper.

use std::f64::consts::SQRT_2;

use super::Adjacency;

/// Δ = √2·D̂ for one interaction (P1, Lemma 6.1/B.1), Δ = D̂ for a change of the matrix (P1, Theorem 3.1).
///
/// # Proof
/// Matrix: as [`super::exact::matrix`]. Interaction, for every degree floor D: the square of
/// [`super::exact::interaction`] is at most D̂²(1 + (D−1)/D²) ≤ 1.25·D̂² (largest at D = 2), below 2·D̂². ∎
///
/// The factor √2 is never needed at D = 1, where Δ = D̂ (ref F.1.3).
pub(super) fn bound(adjacency: Adjacency, row_norm: f64) -> f64 {
    match adjacency {
        Adjacency::Interaction => SQRT_2 * row_norm,
        Adjacency::Matrix => row_norm,
        // Refused by `Sensitivity::new`; a user cannot move the sum further than this.
        Adjacency::User => 1.0,
    }
}
