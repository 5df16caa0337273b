//! Changes of the matrix.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Rayleigh;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// Any C with Σ_i ‖C_{i:}‖₁² ≤ 1 (P1, equation 7): Δ = h.
///
/// # Proof
/// |vᵀCv| ≤ Σ_i |v_i|·‖C_{i:}‖₁·h ≤ h·‖v‖₂ by Cauchy's inequality. C_{i:} = v_i e_kᵀ at the largest entry v_k attains it. ∎
impl Rule for Rayleigh<adjacency::MatrixChange> {
    const ADJACENCY: Adjacency = Adjacency::Matrix;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn bound(_: &Public, entry: f64) -> f64 {
        entry
    }
}

/// Any C with ‖C‖₂ ≤ 1: Δ = 1, attained by C = I. ∎
impl Rule for Rayleigh<adjacency::UnitSpectral> {
    const ADJACENCY: Adjacency = Adjacency::UnitSpectral;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        1.0
    }
}

/// Any C with Σ_ij |C_ij| ≤ 1: Δ = h², because |vᵀCv| ≤ Σ_ij |C_ij|·|v_i v_j|; C = e_k e_kᵀ at the largest entry attains it. ∎
impl Rule for Rayleigh<adjacency::Entry> {
    const ADJACENCY: Adjacency = Adjacency::Entry;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::RayleighQuotient;

    fn bound(_: &Public, entry: f64) -> f64 {
        (entry * entry).max(f64::MIN_POSITIVE)
    }
}
