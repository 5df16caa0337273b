//! Own noise alone: the bound that always holds.

use super::PublicGraph;

/// v_u ≤ 1/σ_η², here per unit of 1/σ_η².
///
/// # Proof
/// Σ_H ⪰ σ_η²I, hence Σ_H⁻¹ ⪯ I/σ_η². ∎ It is attained wherever a coalition holds every noise partner of u: for
/// t ≥ deg(u) nothing better is true.
pub(super) fn per_peer(
    public: &PublicGraph<'_>,
    _ratio: f64,
    _colluders: usize,
) -> Vec<Option<f64>> {
    vec![Some(1.0); public.graph().nodes()]
}
