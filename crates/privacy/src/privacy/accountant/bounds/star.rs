//! The star bound: a peer hides among the noise partners it keeps.

use super::{PerPeer, PublicGraph};

/// v_u ≤ (1 + q)/(σ_η²(h + 1 + q)), q = σ_η²/σ_Δ², for a peer with at least `neighbours` = h honest noise
/// partners, connected or not. Under any coalition of t, h ≥ deg(u) − t.
///
/// # Proof
/// Σ = σ_η²I + σ_Δ²BBᵀ, B the incidence matrix of H, and v_u is the least ‖t‖²/σ_η² + ‖f‖²/σ_Δ² over t + Bf = e_u
/// (minimise over t and f: the Lagrange conditions give t = σ_η²Σ⁻¹e_u, f = σ_Δ²BᵀΣ⁻¹e_u). Any feasible pair is
/// an upper bound. Take f = x on each of u's h edges: t_u = 1 − hx, t_v = x at its partners. The cost
/// ((1 − hx)² + hx²)/σ_η² + hx²/σ_Δ² is least at x = 1/(h + 1 + q), where it is the bound. ∎
#[must_use]
pub(in crate::privacy::accountant) fn star_bound(
    neighbours: usize,
    own: f64,
    pairwise: f64,
) -> f64 {
    // Written so that σ_Δ² = 0 and σ_Δ² = ∞ give the limits.
    1.0 / (own * (1.0 + neighbours as f64 / (1.0 + own / pairwise)))
}

/// With h = deg(u) − t; nothing is said of peers whose every partner may collude.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let graph = public.graph();
    Box::new(move |u| {
        let kept = graph.degree(u).checked_sub(colluders).filter(|&h| h > 0)?;
        Some(star_bound(kept, 1.0, ratio))
    })
}
