//! The λ₂ bound: every coalition leaves at least λ₂(G) − t of the algebraic connectivity.

use super::{PerPeer, PublicGraph};

/// v_u ≤ 1/(n_H σ_η²) + (1 − 1/n_H)/(σ_η² + σ_Δ²·λ₂(H)), for a connected H of `honest` peers with
/// λ₂(H) ≥ `connectivity`. (DECOR's bound, Allouah et al. 2024)
///
/// # Proof
/// Σ_H = σ_η²I + σ_Δ²L_H has the eigenvector 1/√n_H with eigenvalue σ_η², on which e_u has weight 1/n_H. The
/// remaining weight 1 − 1/n_H lies on eigenvalues of at least σ_η² + σ_Δ²λ₂(H). ∎ With λ₂(H) ≥ 0 it is true,
/// if useless, for every H.
#[must_use]
pub(crate) fn lambda2_bound(honest: usize, connectivity: f64, own: f64, pairwise: f64) -> f64 {
    let n = honest as f64;
    let rest = if connectivity > 0.0 {
        own + pairwise * connectivity
    } else {
        own
    };
    1.0 / (n * own) + (1.0 - 1.0 / n) / rest
}

/// For every coalition of `colluders`, λ₂(H) ≥ λ₂(G) − t ([`super::Connectivity::after`]); where that is not
/// positive the bound says nothing.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let peers = public.graph().nodes();
    let bound = public
        .connectivity()
        .after(colluders)
        .map(|left| lambda2_bound(peers - colluders, left, 1.0, ratio));
    Box::new(move |_| bound)
}
