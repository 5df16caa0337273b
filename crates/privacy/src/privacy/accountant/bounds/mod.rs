//! Certified upper bounds on v_u = [Σ_H⁻¹]_uu that hold for every coalition of a given size.
//!
//! Each bound is one file with its statement and proof, one variant of [`Bound`] and one line of its registry; the
//! conformance tests then hold it against every coalition of every size on hundreds of graphs. Whatever bounds there
//! are, the smallest counts, peer by peer: all of them are true.
//!
//! A bound is computed from what is public (the noise graph and a proved lower bound on its λ₂), for σ_Δ²/σ_η² from 0 to ∞,
//! per unit of 1/σ_η². None grows with σ_Δ²/σ_η².

mod connectivity;
mod core;
mod detour;
mod disjoint_forest;
mod forest;
mod gauss_radau;
mod lambda2;
pub mod monotonicity;
mod overlap;
mod own_noise;
mod star;

#[cfg(test)]
mod scale;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use self::forest::Forest;
use super::refused::check_variances;
use crate::privacy::{Certificate, PrivacyError};
use crate::topology::Graph;

pub use connectivity::Connectivity;
pub(super) use lambda2::lambda2_bound;
#[cfg(test)]
pub(super) use star::star_bound;

/// Peers from which on threads share them: fewer take no longer than handing them to another thread.
const SHARED: usize = 4096;

/// The energy of every peer's way to everybody honest, if everybody has one.
type Energies = Option<Vec<f64>>;

/// A noise graph and what is known of it before anybody colludes.
#[derive(Clone, Debug)]
pub struct PublicGraph<'a> {
    graph: &'a Graph,
    connectivity: Connectivity,
    /// Prefix sums of the degrees, largest first.
    degrees: Arc<Vec<u64>>,
    anchors: Arc<OnceLock<Vec<bool>>>,
    forests: Arc<OnceLock<Vec<Forest>>>,
    detours: [Arc<OnceLock<Option<u32>>>; 2],
    overlaps: Arc<Mutex<BTreeMap<usize, Arc<Energies>>>>,
}

impl<'a> PublicGraph<'a> {
    /// The graph with a lower bound on its λ₂. On a graph in pieces λ₂ is 0, whatever was claimed.
    #[must_use]
    pub fn new(graph: &'a Graph, connectivity: Connectivity) -> Self {
        let mut largest: Vec<usize> = (0..graph.nodes()).map(|u| graph.degree(u)).collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let sums = std::iter::once(0).chain(largest.iter().scan(0, |sum, &degree| {
            *sum += degree as u64;
            Some(*sum)
        }));
        Self {
            graph,
            connectivity: if graph.is_connected() {
                connectivity
            } else {
                Connectivity::UNKNOWN
            },
            degrees: Arc::new(sums.collect()),
            anchors: Arc::default(),
            forests: Arc::default(),
            detours: Default::default(),
            overlaps: Arc::default(),
        }
    }

    /// The noise graph.
    #[must_use]
    pub fn graph(&self) -> &'a Graph {
        self.graph
    }

    /// What is known of its λ₂.
    #[must_use]
    pub fn connectivity(&self) -> Connectivity {
        self.connectivity
    }

    /// The sum of the `count` largest degrees.
    fn largest_degrees(&self, count: usize) -> u64 {
        self.degrees[count]
    }

    /// The trees around every peer, grown on first use.
    fn forests(&self) -> &[Forest] {
        let anchors = self.anchors();
        self.forests
            .get_or_init(|| forest::forests(self.graph, anchors))
    }

    /// Whose trees are grown to the end, chosen on first use.
    fn anchors(&self) -> &[bool] {
        self.anchors.get_or_init(|| forest::anchors(self.graph))
    }

    /// No two honest peers are farther apart when any `colluders` ≤ 1 peers are gone; `None` where they may not be
    /// connected, or nobody looked.
    fn detour(&self, colluders: usize) -> Option<u32> {
        let known = self.detours.get(colluders)?;
        *known.get_or_init(|| detour::longest(self.graph, colluders))
    }

    /// The energies of [`overlap`], computed once for every number of colluders.
    fn overlap(&self, colluders: usize) -> Arc<Energies> {
        let lock = || self.overlaps.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(&colluders) {
            return Arc::clone(known);
        }
        let found = Arc::new(overlap::energies(self, colluders));
        lock().insert(colluders, Arc::clone(&found));
        found
    }

    /// A value per peer that depends on its degree alone, computed once per degree.
    fn by_degree(&self, value: impl Fn(usize) -> Option<f64>) -> PerPeer<'_> {
        let graph = self.graph;
        let mut known: Vec<Option<Option<f64>>> = vec![None; graph.max_degree() + 1];
        for u in 0..graph.nodes() {
            let degree = graph.degree(u);
            known[degree].get_or_insert_with(|| value(degree));
        }
        Box::new(move |u| known[graph.degree(u)].flatten())
    }

    /// The best bound of every peer over all coalitions of `colluders` (fewer than the peers), per unit of 1/σ_η², for
    /// `ratio` = σ_Δ²/σ_η² from 0 to ∞.
    pub(in crate::privacy) fn best(&self, ratio: f64, colluders: usize) -> Vec<CertifiedFactor> {
        let smallest = self.smallest(ratio, colluders);
        let peers = 0..self.graph.nodes();
        match peers.len() < SHARED {
            true => peers.map(smallest).collect(),
            false => peers.into_par_iter().map(smallest).collect(),
        }
    }

    /// Which of these peers have no bound of at most `allowed`. As no bound grows with `ratio`, a larger `ratio` leaves some of
    /// these and no others.
    pub(in crate::privacy) fn above(
        &self,
        (ratio, colluders): (f64, usize),
        allowed: f64,
        among: &[u32],
    ) -> Vec<u32> {
        let rules = self.rules(ratio, colluders);
        let within = |u: u32, rule: &PerPeer<'_>| rule(u as usize).is_some_and(|f| f <= allowed);
        // Those at the end are asked first: they take a step each, and the forests take hundreds.
        let is_above = |&u: &u32| !rules.iter().rev().any(|(_, rule)| within(u, rule));
        match among.len() < SHARED {
            true => among.iter().copied().filter(is_above).collect(),
            false => among.par_iter().copied().filter(is_above).collect(),
        }
    }

    /// Every bound, in the order of the registry.
    fn rules(&self, ratio: f64, colluders: usize) -> Vec<(Bound, PerPeer<'_>)> {
        Bound::all()
            .map(|bound| (bound, bound.relative(self, ratio, colluders)))
            .collect()
    }

    /// The best bound of a peer.
    fn smallest(
        &self,
        ratio: f64,
        colluders: usize,
    ) -> impl Fn(usize) -> CertifiedFactor + Send + Sync {
        let rules = self.rules(ratio, colluders);
        move |u| {
            let mut best = CertifiedFactor {
                factor: 1.0,
                by: Bound::OwnNoise,
            };
            for (by, rule) in &rules {
                // NaN is below nothing.
                if let Some(factor) = rule(u).filter(|&factor| factor < best.factor) {
                    best = CertifiedFactor { factor, by: *by };
                }
            }
            best
        }
    }

    /// The bound of the worst-placed peer, and which peer that is: of equals the first with the fewest partners.
    pub(in crate::privacy) fn worst(&self, ratio: f64, colluders: usize) -> (CertifiedFactor, u32) {
        let all = self.best(ratio, colluders);
        let mut worst = (all[0], 0);
        for (found, u) in all.into_iter().zip(0_u32..) {
            let degree = |u: u32| self.graph.degree(u as usize);
            let equal = found.factor == worst.0.factor && degree(u) < degree(worst.1);
            if found.factor > worst.0.factor || equal {
                worst = (found, u);
            }
        }
        worst
    }
}

/// A bound on v_u and the rule that gave it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CertifiedFactor {
    /// The bound.
    pub factor: f64,
    /// Which rule is smallest here; the first of equals, in the order of [`Bound::all`].
    pub by: Bound,
}

/// A rule that bounds v_u over all coalitions of a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// 1/σ_η²: always.
    OwnNoise,
    /// From the algebraic connectivity.
    Lambda2,
    /// From the degree.
    Star,
    /// From both.
    GaussRadau,
    /// From the core that a coalition cannot reach.
    Core,
    /// From disjoint trees around the peer.
    DisjointForest,
    /// From trees that overlap because each covers more than half of the honest peers.
    Overlap,
    /// From the distances that are left once any one peer is gone.
    Detour,
}

/// A bound of a peer per unit of 1/σ_η², or nothing.
type PerPeer<'a> = Box<dyn Fn(usize) -> Option<f64> + Send + Sync + 'a>;

/// The bounds for a ratio and a number of colluders. What is computed once for all peers is computed here, not when a peer is asked
/// for: peers are asked for on all threads.
type Rule = for<'a> fn(&'a PublicGraph<'_>, f64, usize) -> PerPeer<'a>;

/// The registry.
const RULES: &[(Bound, Rule)] = &[
    (Bound::OwnNoise, own_noise::per_peer),
    (Bound::Lambda2, lambda2::per_peer),
    (Bound::Star, star::per_peer),
    (Bound::GaussRadau, gauss_radau::per_peer),
    (Bound::Core, core::per_peer),
    (Bound::DisjointForest, disjoint_forest::per_peer),
    (Bound::Overlap, overlap::per_peer),
    (Bound::Detour, detour::per_peer),
];

impl Bound {
    /// Every rule, in the order of the registry.
    pub fn all() -> impl Iterator<Item = Self> {
        RULES.iter().map(|&(bound, _)| bound)
    }

    /// For every peer u an upper bound on v_u over **all** coalitions of `colluders` peers that leave u honest, with
    /// σ_η² = `own` and σ_Δ² = `pairwise`; `None` where the rule does not apply.
    ///
    /// # Errors
    /// [`PrivacyError::Parameter`] for variances that are not usable, [`PrivacyError::NobodyHonest`].
    pub fn per_peer(
        self,
        public: &PublicGraph<'_>,
        own: f64,
        pairwise: f64,
        colluders: usize,
    ) -> Result<Vec<Option<f64>>, PrivacyError> {
        check(public, own, pairwise, colluders)?;
        let factor = self.relative(public, pairwise / own, colluders);
        Ok((0..public.graph().nodes())
            .map(|u| Some((factor(u)? / own).next_up()))
            .collect())
    }

    /// As [`Self::per_peer`], per unit of 1/σ_η².
    fn relative<'a>(
        self,
        public: &'a PublicGraph<'_>,
        ratio: f64,
        colluders: usize,
    ) -> PerPeer<'a> {
        let allowance = outward(public.graph().nodes());
        match RULES.iter().find(|(bound, _)| *bound == self) {
            Some((_, rule)) => {
                let factor = rule(public, ratio, colluders);
                Box::new(move |u| Some((factor(u)? * allowance).min(1.0)))
            }
            None => Box::new(|_| None),
        }
    }

    /// How a view is marked whose μ this rule gave.
    #[must_use]
    pub fn certificate(self) -> Certificate {
        match self {
            Self::OwnNoise => Certificate::OwnNoise,
            Self::Lambda2 => Certificate::Lambda2,
            Self::Star => Certificate::Star,
            Self::GaussRadau => Certificate::GaussRadau,
            Self::Core => Certificate::Core,
            Self::DisjointForest => Certificate::DisjointForest,
            Self::Overlap => Certificate::Overlap,
            Self::Detour => Certificate::Detour,
        }
    }
}

/// The smallest bound of every peer over all coalitions of `colluders` peers, with σ_η² = `own`, σ_Δ² = `pairwise`.
///
/// # Errors
/// As [`Bound::per_peer`].
///
/// # Cost
/// Once per graph O(s·|E|) for the disjoint forests, limited to a few seconds; afterwards about O(|E|·log s).
pub fn certified_variance_factors(
    public: &PublicGraph<'_>,
    own: f64,
    pairwise: f64,
    colluders: usize,
) -> Result<Vec<CertifiedFactor>, PrivacyError> {
    check(public, own, pairwise, colluders)?;
    let mut best = public.best(pairwise / own, colluders);
    for found in &mut best {
        found.factor = (found.factor / own).next_up();
    }
    Ok(best)
}

fn check(
    public: &PublicGraph<'_>,
    own: f64,
    pairwise: f64,
    colluders: usize,
) -> Result<(), PrivacyError> {
    check_variances(own, pairwise)?;
    let peers = public.graph().nodes();
    if colluders >= peers {
        return Err(PrivacyError::NobodyHonest { colluders, peers });
    }
    Ok(())
}

/// What a computed bound is multiplied with, so that rounding cannot take it below the bound proved: every rule sums
/// positive terms, at most one per peer, after a few dozen roundings; sixteen times that is allowed.
fn outward(peers: usize) -> f64 {
    1.0 + 16.0 * (peers as f64 + 64.0) * f64::EPSILON
}
