//! The overlap bound: trees that each cover more than half of the honest peers connect everybody well.
//!
//! # Statement
//! Let h_w be the degree of peer w, with vertex-disjoint trees of sizes m_i and sums of squared subtree sizes Q_i at its
//! partners ([`super::forest`]). Call w *wide* if m_w := 1 + (the sum of its h_w − t smallest m_i) > n_H/2, n_H = s − t,
//! and let e_w² be the sum of its h_w − t largest Q_i over m_w². Let c_u be the least of
//! - e_u, if u is wide;
//! - √ℓ + max e_w, if ℓ is the (t + 1)-th smallest distance within one of u's trees to a wide w in it;
//! - 1 + the (t + 1)-th smallest c_v among u's partners v.
//!
//! If every peer has some c_u, then with c = max c_u, m = min m_w and α = (2m − n_H)/m, for every coalition of t peers
//! **σ_η²v_u ≤ 1/n_H + (σ_η²/σ_Δ²)·R_u, R_u = (c_u + c + (1 − α)·2c/α)²**.
//!
//! # Proof
//! Fix the coalition S. For distributions p, q on the honest peers let ‖p → q‖ be the least ‖f‖ of a flow f in H that
//! carries p to q. It is a seminorm of q − p, so it obeys the triangle inequality and is convex.
//! *Spreading.* Of an honest wide w's trees at least h_w − t hold no colluder; take h_w − t of these and let F be w and
//! all their peers, |F| ≥ m_w. Spreading w's unit evenly over F puts k/|F| on the edge above a subtree of k peers, so
//! ‖δ_w → even on F‖² = ΣQ_i/|F|² ≤ e_w².
//! *Reaching.* For every honest u there is an honest wide w with ‖δ_u → even on F_w‖ ≤ c_u: in the second case at most t
//! of u's disjoint trees hold colluders, so in one of the t + 1 nearest the path to w is honest, and a path of ℓ edges has
//! ‖·‖ = √ℓ; in the third one of t + 1 partners is honest, and one edge leads there.
//! *Overlapping.* For F, F′ of sizes M ≥ M′ ≥ m the even distributions share a mass of at least
//! (M + M′ − n_H)/M = 1 − (n_H − M′)/M ≥ α > 0. So any two honest peers are connected; let ρ be the largest
//! ‖δ_u → δ_v‖. Going from u to its F and to v from its F′ costs 2c, and what the two do not share, a mass of at most
//! 1 − α, is matched pair by pair at no more than ρ per unit: ρ ≤ 2c + (1 − α)ρ, that is ρ ≤ 2c/α.
//! *Together.* δ_u to even on H is the mean over v of δ_u → δ_v, each of which costs at most c_u + c + (1 − α)ρ by the
//! same path. The principle in the proof of [`super::star::star_bound`] with that flow and even noise gives the bound. ∎
//!
//! It needs no eigenvalue, holds for t ≥ λ₂, and tends to what a curator of the honest would spend as σ_Δ grows.

use rayon::prelude::*;

use super::detour::even_bound;
use super::forest::{Forest, Tree};
use super::{PerPeer, PublicGraph, outward};

/// m and e of a wide peer.
#[derive(Clone, Copy, Debug)]
struct Wide {
    mass: f64,
    norm: f64,
}

/// What the forest of a peer is sure to reach whichever t of its trees are spoilt.
fn wide(forest: &Forest, colluders: usize, honest: usize) -> Option<Wide> {
    let kept = forest.len().checked_sub(colluders).filter(|&k| k > 0)?;
    let whole = || forest.trees().map(Tree::whole);
    let mut sizes: Vec<f64> = whole().map(|part| f64::from(part.peers)).collect();
    let mut squares: Vec<f64> = whole().map(|part| part.squares).collect();
    sizes.sort_unstable_by(f64::total_cmp);
    squares.sort_unstable_by(|a, b| b.total_cmp(a));
    let mass = 1.0 + sizes.iter().take(kept).sum::<f64>();
    let square: f64 = squares.iter().take(kept).sum();
    (2.0 * mass > honest as f64).then(|| Wide {
        mass,
        norm: square.sqrt() / mass,
    })
}

/// ℓ to an anchor, if enough trees hold one.
fn length(forest: &Forest, colluders: usize) -> Option<u32> {
    let mut near: Vec<u32> = forest.anchors().flatten().collect();
    near.sort_unstable();
    near.get(colluders).copied()
}

/// R_u of every peer; `None` if somebody may be out of reach.
///
/// Any of the wide peers may be left out of the statement, which takes m up and with it α: those that cover less than a
/// few shares of the honest are, and of all the bounds the smallest counts.
pub(super) fn energies(public: &PublicGraph<'_>, colluders: usize) -> Option<Vec<f64>> {
    let graph = public.graph();
    let honest = graph.nodes() - colluders;
    if graph.min_degree() <= colluders {
        return (honest == 1).then(|| vec![0.0; graph.nodes()]);
    }
    let forests = public.forests().par_iter();
    let (all, lengths): (Vec<Option<Wide>>, Vec<Option<u32>>) = forests
        .map(|forest| (wide(forest, colluders, honest), length(forest, colluders)))
        .unzip();
    let found = SHARES.iter().filter_map(|share| {
        let enough = |w: &Wide| w.mass >= share * honest as f64;
        let chosen: Vec<Option<Wide>> = all.iter().map(|w| w.filter(enough)).collect();
        energies_through(public, (&chosen, &lengths), colluders)
    });
    found.reduce(|best, next| best.into_iter().zip(next).map(|(a, b)| a.min(b)).collect())
}

/// Shares of the honest that a wide peer is asked to cover.
const SHARES: [f64; 5] = [0.5, 0.55, 0.6, 0.75, 0.9];

/// Edges to a wide peer, one after the other, beyond which nothing is said.
const MOST_EDGES: usize = 64;

/// R_u of every peer when these peers alone count as wide.
fn energies_through(
    public: &PublicGraph<'_>,
    (wide, lengths): (&[Option<Wide>], &[Option<u32>]),
    colluders: usize,
) -> Option<Vec<f64>> {
    let graph = public.graph();
    let honest = graph.nodes() - colluders;
    let mut costs: Vec<Option<f64>> = wide.iter().map(|w| w.map(|w| w.norm)).collect();
    let mass = wide.iter().flatten().map(|w| w.mass).reduce(f64::min)?;
    let at_anchors = || public.anchors().iter().zip(wide).filter(|(is, _)| **is);
    // Trees note the nearest anchor, whichever it is.
    if at_anchors().all(|(_, wide)| wide.is_some()) {
        let norms = at_anchors().filter_map(|(_, w)| w.map(|w| w.norm));
        let farthest = norms.fold(0.0, f64::max);
        for (cost, length) in costs.iter_mut().zip(lengths) {
            if let Some(length) = *length {
                let through = f64::from(length).sqrt() + farthest;
                *cost = Some(cost.map_or(through, |cost| cost.min(through)));
            }
        }
    }
    for _ in 0..MOST_EDGES {
        if !costs.contains(&None) {
            break;
        }
        let before = costs.clone();
        for (u, cost) in costs.iter_mut().enumerate().filter(|(_, c)| c.is_none()) {
            let around = graph.neighbours(u).iter();
            let mut known: Vec<f64> = around.filter_map(|&v| before[v as usize]).collect();
            known.sort_unstable_by(f64::total_cmp);
            *cost = known.get(colluders).map(|c| 1.0 + c);
        }
        if costs == before {
            return None;
        }
    }
    let costs: Vec<f64> = costs.into_iter().collect::<Option<_>>()?;
    let largest = costs.iter().copied().fold(0.0, f64::max);
    let shared = (2.0 * mass - honest as f64) / mass;
    let rest = (1.0 - shared).max(0.0) * 2.0 * largest / shared;
    // Sums of many squares are behind every number here.
    let upwards = outward(graph.nodes()).powi(4);
    let energy = |cost: f64| (cost + largest + rest).powi(2) * upwards;
    Some(costs.into_iter().map(energy).collect())
}

/// With the energies of all coalitions of this size.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let honest = public.graph().nodes() - colluders;
    let known = public.overlap(colluders);
    Box::new(move |u| {
        let energies = known.as_ref().as_ref()?;
        Some(even_bound(honest, energies[u], ratio))
    })
}
