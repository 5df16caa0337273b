//! The tight bound for one entry of the matrix.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// Any C with Σ_ij |C_ij| ≤ 1: Δ = D̂ (Hardt & Roth 2013, proof of Lemma 4.2, for one column).
///
/// # Proof
/// CX = Σ_ij C_ij e_i x_j, of norm at most Σ_ij |C_ij|·‖x_j‖ ≤ D̂. ∎
///
/// C = e_i e_kᵀ at the longest row k attains it.
impl Rule for Exact<adjacency::Entry> {
    const ADJACENCY: Adjacency = Adjacency::Entry;
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn bound(_: &Public, row_norm: f64) -> f64 {
        row_norm
    }
}
