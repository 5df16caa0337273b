//! The tight bound for P1's change of the matrix, where the packed triangle is released.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Packed;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// Any C with Σ_i ‖C_{i:}‖₁² ≤ 1 (P1, equation 7): Δ = 1.
///
/// # Proof
/// ‖triu(C)‖ ≤ ‖C‖_F, and each row's Euclidean norm is at most its ‖·‖₁. ∎
///
/// C = e_k e_kᵀ attains it.
impl Rule for Packed<adjacency::MatrixChange> {
    const ADJACENCY: Adjacency = Adjacency::Matrix;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::PackedTriangle;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}
