//! The core bound: an expander keeps a well connected core whatever coalition is chosen.
//!
//! # Statement
//! Let 1 ≤ t < w ≤ s, D(w) the sum of the w largest degrees, λ ≤ λ₂(G), and
//! c = max(0, ⌊(D(w) − λ·w(1 − w/s))/(2(w − t))⌋).
//! For every coalition S of t peers let W ⊇ S be its closure: repeatedly add a peer with at least c + 1 neighbours
//! in W. Then |W| ≤ w − 1, and the core K = G − W has n_K ≥ s − w + 1 peers and λ₂(K) ≥ λ − c =: a.
//! If a > 0,
//! - u ∉ W has v_u ≤ 1/(n_K σ_η²) + (1 − 1/n_K)/(σ_η² + σ_Δ²a);
//! - an honest u ∈ W with h ≥ 1 neighbours in K has v_u ≤ r/(1 + σ_η²r),
//!   r = 1/(hσ_Δ²) + 1/(n_K σ_η²) + (1/h)/(σ_η² + σ_Δ²a);
//! - u ∈ W needs deg(u) ≥ c + 1, and then h ≥ deg(u) − (w − 2).
//!
//! # Proof
//! *Size.* Suppose W reaches w peers. Each of the w − t added ones brought c + 1 edges inside, so the number of edges
//! inside is e ≥ (c + 1)(w − t). But 2e is the sum of the degrees in W less the edges that leave W, of which there are
//! at least λ₂(G)·w(s − w)/s (Rayleigh quotient of the indicator of W less its mean), so
//! 2e ≤ D(w) − λ·w(1 − w/s) < 2(c + 1)(w − t): a contradiction.
//! *Core.* A peer outside W has at most c neighbours in W, so λ₂(G − W) ≥ λ₂(G) − c by the proof of
//! [`super::Connectivity::after_coalition`]. The honest graph contains K, and v_u does not grow when peers are honest
//! in place of colluding ([`super::monotonicity`]); the first bound is the λ₂ bound on K.
//! *Inside W.* Send the share 1 − x of u's unit over its h edges into K in equal parts, and keep x. By the principle in
//! the proof of [`super::star::star_bound`] the cost is at most x²/σ_η² + (1 − x)²·[1/(hσ_Δ²) + bᵀΣ_K⁻¹b], b = 1/h on h peers of
//! K: ‖b‖² = 1/h and bᵀ1 = 1, so bᵀΣ_K⁻¹b ≤ 1/(n_K σ_η²) + (1/h)/(σ_η² + σ_Δ²a), and the bracket is at most r. The least of
//! x²/σ_η² + (1 − x)²r over x is r/(1 + σ_η²r). Of u's neighbours at most |W| − 1 ≤ w − 2 are in W. ∎
//!
//! Every w is tried and the smallest result is kept; w = 2t with D(w) ≤ 2t·d_max is the simplest form. It holds
//! for t ≥ λ₂ too, where the λ₂ bound says nothing.

use super::{PerPeer, PublicGraph, lambda2_bound};

/// What the closure of any coalition leaves, for one w.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Core {
    /// w: the closure has fewer peers.
    pub below: usize,
    /// c: peers of the core have at most this many neighbours outside it.
    pub outside: usize,
    /// A lower bound on the number of peers of the core.
    pub peers: usize,
    /// a: a lower bound on its λ₂.
    pub connectivity: f64,
}

/// The cores worth trying: of equal c the one with the smallest w.
pub(super) fn cores(public: &PublicGraph<'_>, colluders: usize) -> Vec<Core> {
    let peers = public.graph().nodes();
    let lambda = public.connectivity().lower_bound;
    let mut found: Vec<Core> = Vec::new();
    if colluders == 0 || !(lambda > 0.0 && lambda.is_finite()) {
        return found;
    }
    for below in colluders + 1..=peers {
        let w = below as f64;
        let degrees = public.largest_degrees(below) as f64;
        let leaving = lambda * (w * (peers - below) as f64 / peers as f64);
        // Rounded towards a larger c.
        let most =
            (degrees - leaving + 1e-12 * (degrees + leaving)) / (2 * (below - colluders)) as f64;
        let outside = most.floor().max(0.0);
        let connectivity = (lambda - outside).next_down();
        let better = found
            .last()
            .is_none_or(|core| outside < core.outside as f64);
        if connectivity > 0.0 && better {
            found.push(Core {
                below,
                outside: outside as usize,
                peers: peers - below + 1,
                connectivity,
            });
        }
    }
    found
}

/// The bound for a peer of degree `degree`, per unit of 1/σ_η²; `None` where it may be cut off from the core.
pub(super) fn core_bound(core: Core, degree: usize, ratio: f64) -> Option<f64> {
    let outside = lambda2_bound(core.peers, core.connectivity, 1.0, ratio);
    if degree <= core.outside {
        return Some(outside);
    }
    let kept = (degree + 2).checked_sub(core.below).filter(|&h| h > 0)? as f64;
    let way = 1.0 / (kept * ratio)
        + 1.0 / core.peers as f64
        + 1.0 / (kept * (1.0 + ratio * core.connectivity));
    let inside = if way.is_finite() {
        way / (1.0 + way)
    } else {
        1.0
    };
    Some(outside.max(inside))
}

/// The smallest over all cores.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let cores = cores(public, colluders);
    public.by_degree(|degree| {
        cores
            .iter()
            .filter_map(|&core| core_bound(core, degree, ratio))
            .reduce(f64::min)
    })
}
