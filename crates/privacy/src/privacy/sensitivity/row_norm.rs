//! P1's bound from the largest row norm, kept for comparison with the paper.

use std::f64::consts::SQRT_2;
use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use crate::privacy::adjacency::{self, Adjacency};

/// P1's bound for an adjacency that P1 treats.
pub(super) struct RowNorm<A>(PhantomData<A>);

/// Δ = √2·D̂ for one interaction (P1, Lemma 6.1/B.1).
///
/// # Proof
/// For every degree floor D the square of [`super::exact`]'s bound is at most D̂²(1 + (D−1)/D²) ≤ 1.25·D̂² (largest
/// at D = 2), below 2·D̂². ∎
///
/// The factor √2 is never needed at D = 1, where Δ = D̂.
impl Rule for RowNorm<adjacency::Interaction> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::RowNorm;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        SQRT_2 * row_norm
    }
}

/// Δ = D̂ for a change of the matrix (P1, Theorem 3.1); the proof is the one of [`super::exact`].
impl Rule for RowNorm<adjacency::MatrixChange> {
    const ADJACENCY: Adjacency = Adjacency::Matrix;
    const RULE: SensitivityRule = SensitivityRule::RowNorm;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        row_norm
    }
}
