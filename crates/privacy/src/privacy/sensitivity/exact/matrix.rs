//! The tight bound for P1's change of the matrix.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// Any C with Σ_i ‖C_{i:}‖₁² ≤ 1 (P1, equation 7): Δ = D̂ (P1, Theorem 3.1).
///
/// # Proof
/// Row i of CX is Σ_j C_ij x_j, of norm at most ‖C_{i:}‖₁·D̂. Squares add up to at most D̂². ∎
///
/// C = e_k e_kᵀ at the longest row attains it.
impl Rule for Exact<adjacency::MatrixChange> {
    const ADJACENCY: Adjacency = Adjacency::Matrix;
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        row_norm
    }
}
