//! Own noise alone: the bound that always holds.

use super::{PerPeer, PublicGraph};

/// v_u ≤ 1/σ_η², here per unit of 1/σ_η².
///
/// # Proof
/// Σ_H ⪰ σ_η²I, hence Σ_H⁻¹ ⪯ I/σ_η². ∎ It is attained wherever a coalition holds every noise partner of u: for
/// t ≥ deg(u) nothing better is true.
pub(super) fn per_peer<'a>(
    _public: &'a PublicGraph<'_>,
    _ratio: f64,
    _colluders: usize,
) -> PerPeer<'a> {
    Box::new(|_| Some(1.0))
}
