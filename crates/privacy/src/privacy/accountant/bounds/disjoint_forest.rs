//! The disjoint-forest bound: a coalition of t spoils at most t of a peer's disjoint trees.
//!
//! # Statement
//! Let T_1, …, T_h be vertex-disjoint trees of G − u, each rooted at a neighbour of u. For a tree, or any part of it that
//! contains the root and with every peer its parent, let m be its size and Q the sum of squares of its subtree sizes, and
//! c_i the largest m²/(m + qQ) over some such parts, q = σ_η²/σ_Δ². For every coalition of t < h peers
//! v_u ≤ 1/(σ_η²(1 + C)), C the sum of the h − t smallest c_i.
//!
//! # Proof
//! The trees are disjoint, so at least h − t of them hold no colluder; take h − t of these. Send f_i into the tree i and
//! spread it evenly over the part chosen: every peer of it keeps f_i/m, and the edge above a subtree of k peers carries
//! k·f_i/m, the edge from u included. By the principle in the proof of [`super::star::star_bound`],
//! σ_η²v_u ≤ (1 − Σf_i)² + Σ f_i²·(m_i + qQ_i)/m_i², whose least value over f is 1/(1 + Σ c_i): resistances in
//! parallel. The sum over whichever trees survived is at least C. ∎
//!
//! With every tree cut down to its root it is the star bound, and f_i = m_i/(1 + Σm_i) is another choice, so
//! neither is ever better. For large σ_Δ² the bound tends to 1/(1 + M), M the size of the h − t smallest trees,
//! whatever λ₂ is: it needs no eigenvalue and holds for t ≥ λ₂.

use super::forest::Tree;
use super::{PerPeer, PublicGraph};

/// c: how well one tree takes up noise, relative to a peer's own noise.
pub(super) fn conductance(tree: Tree<'_>, ratio: f64) -> f64 {
    let taken_up = tree.parts().map(|part| {
        let m = f64::from(part.peers);
        m * m / (m + part.squares / ratio)
    });
    taken_up.fold(0.0, f64::max)
}

/// 1/(1 + the sum of all but the `spoilt` largest conductances).
pub(super) fn forest_bound(mut conductances: Vec<f64>, spoilt: usize) -> Option<f64> {
    let kept = conductances.len().checked_sub(spoilt).filter(|&k| k > 0)?;
    conductances.sort_unstable_by(f64::total_cmp);
    Some(1.0 / (1.0 + conductances[..kept].iter().sum::<f64>()))
}

/// With the forests of [`super::forest`]; nothing is said of peers with at most t partners.
pub(super) fn per_peer<'a>(
    public: &'a PublicGraph<'_>,
    ratio: f64,
    colluders: usize,
) -> PerPeer<'a> {
    let forests = public.forests();
    Box::new(move |u| {
        let mut conductances = Vec::with_capacity(forests[u].len());
        conductances.extend(forests[u].trees().map(|tree| conductance(tree, ratio)));
        forest_bound(conductances, colluders)
    })
}
