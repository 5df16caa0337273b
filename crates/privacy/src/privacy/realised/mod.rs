//! What a session has cost every peer, from what happened in it: who took part, and whose contribution could be read.
//!
//! A plan promises a bound before anything has happened ([`NoisePlan`](super::NoisePlan)). When peers crash, attempts are given up and
//! repeated, and contributions stay sealed or hang in the air, the loss is another number, and it is known exactly. It is a diagnostic:
//! who crashes may depend on what was released before, so a promise and a ledger count what was planned, never this.
//!
//! # The setting
//! A release is tried in *attempts*. An attempt has members M; peer v of M contributes
//! **y_v = x_v + d_v·(η_v + Σ_{w ∈ N(v) ∩ M} ±Δ_vw)**, with η_v ~ N(0, σ_η²) and Δ_vw ~ N(0, σ_Δ²) on the edges of the noise graph, one
//! sign at each end, all drawn for this attempt and for no other, and d_v the scale that v used. The contributions of O ⊆ M became
//! readable; of the others nothing did. S is a coalition: it knows its members' noise and every Δ with an end in it. Some pairwise terms R may
//! have become known to everybody. The record of one honest peer u changes x_u by at most Δ in L2 norm.
//!
//! # Theorem 1 (exact loss)
//! Let H = O ∖ S, L the Laplacian of the edges between peers of H that are not in R, and D the diagonal matrix that counts, for
//! each peer of H, its noise partners in M ∖ (O ∪ S) over edges that are not in R: its *dangling* terms. What the attempt costs u ∈ H is
//! exactly Gaussian with **μ_u² = (Δ/d_u)²·[(σ_η²I + σ_Δ²(L + D))⁻¹]_uu**, and 0 for u outside O. Losses of different attempts add, and
//! so do, as an upper bound, those of different releases.
//!
//! *Proof.* Attempts share no noise, so given the public history they are independent, and those that u is not read in do not
//! depend on x_u. In one that it is read in, the contributions of colluders hold nothing that the coalition does not know. From every y_v,
//! v ∈ H, subtract the terms that it knows. What is left of the noise is d_v·(η_v + Σ ±Δ_vw), over honest partners in M and edges that
//! are not in R. Such an edge with both ends in H enters twice, with opposite signs: σ_Δ²L. With one end in H and the other in M ∖ (O ∪ S)
//! it enters once: σ_Δ²D. So the covariance is diag(d)·Σ·diag(d) with Σ = σ_η²I + σ_Δ²(L + D), on each coordinate independently, and
//! the mean moves by a vector C of norm at most Δ at u alone: μ² = ‖C‖²·[(diag(d)Σdiag(d))⁻¹]_uu = ‖C‖²·[Σ⁻¹]_uu/d_u². Two independent Gaussian
//! views add their μ². Later releases depend on earlier ones, and μ of each is fixed by public quantities, so they compose
//! to the sum of squares (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3). ∎
//!
//! The scale of nobody else occurs: whoever tells peers different scales spoils the sum and nobody's privacy, as long as a
//! peer's own scale covers its own contribution.
//!
//! # Corollary 2 (a crash after sealing costs nobody anything)
//! μ_u² is at most what it would be had all of M become readable, and that at most what it would be without D.
//!
//! *Proof.* Fewer contributions are a function of more. Without D is the noise graph with M ∖ O deleted, and a deleted peer never
//! protects anybody ([`bounds::monotonicity`](super::accountant::bounds::monotonicity)). ∎ Where it is not known who could read a
//! contribution, count it as read: [`Counted::Members`].
//!
//! # Lemma 3 (never roll back)
//! If all peers of M used one scale d, all became readable, and Σ_{v ∈ M∖u} (x_v + d·η_v) becomes known exactly, by whatever means,
//! then the attempt costs u exactly what its own noise allows: (Δ/d)²/σ_η².
//!
//! *Proof.* The pairwise terms cancel in Σ_M y_v, so that sum minus the known one is x_u + d·η_u. Whatever else is seen is a function of
//! it, of pairwise terms and of the other peers' x and η, which are independent of x_u and η_u. ∎
//! Partners of u that take their terms back after y_u was readable do just that: their terms are R. The exact loss of such an execution is
//! what this module reports, however bad: one release in which all partners roll back takes a peer from ε = 1.99 to 12.04 in the
//! example of the tests.
//!
//! # Theorem 4 (the plan covers it)
//! Let |M| ≥ s − f in every attempt, R empty and every peer be read in at most one attempt of each try at a release. Against
//! any coalition of t peers, what u is charged is at most what the noise graph of all s peers is certified for with
//! t + f colluders.
//!
//! *Proof.* By corollary 2, μ_u² is at most (Δ/d_u)²·v_u on the noise graph without S and without the at most f peers outside M: as if these had
//! colluded too. ∎ [`Realised::planned`] computes that bound, and refuses where a condition does not hold.
//!
//! # Not covered
//! Gaussian noise only. Masks of whole numbers hide exactly or not at all and their own noise has a bound of its own
//! ([`ring`](super::ring)); Laplace noise has none of this algebra.

mod attempt;
mod error;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::accountant::{
    AccountOptions, Bracket, Connectivity, NoiseCovariance, PublicGraph, account,
    certified_variance_factors,
};
use crate::topology::{Graph, Mixing, Spectrum};
use crate::vocabulary::ReleaseId;
use attempt::Checked;

pub use attempt::Attempted;
pub use error::RealisedError;

/// Above this many members λ₂ of their noise graph is not computed; other certificates do without it.
const CONNECTIVITY_UP_TO: usize = 500;

/// Whose contributions count as readable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// Those that were read: the exact loss.
    Read,
    /// Those of all members of an attempt that anybody was read in: an upper bound, for whoever does not know what became
    /// readable elsewhere.
    Members,
}

/// An attempt that is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded<'a> {
    /// Which release of the session's program.
    pub release: ReleaseId,
    /// How often the release was charged anew before this attempt.
    pub retry: u32,
    /// Under which view it was begun.
    pub view: u64,
    /// The members of that view, ascending.
    pub members: &'a [u32],
    /// Whose contribution became readable, ascending.
    pub read: &'a [u32],
}

/// The attempts of a session, and what they have cost.
#[derive(Clone, Debug)]
pub struct Realised {
    graph: Graph,
    /// σ_η².
    own: f64,
    /// σ_Δ².
    pairwise: f64,
    /// By release, retry and view, so that sums do not depend on the order in which attempts were recorded.
    attempts: BTreeMap<(ReleaseId, u32, u64), Checked>,
    views: BTreeMap<u64, Vec<u32>>,
}

impl Realised {
    /// A session in which nothing has happened yet: its noise graph, and the standard deviations of own and pairwise noise
    /// per unit of scale.
    ///
    /// # Errors
    /// [`RealisedError::Sigma`] for an own standard deviation that is not positive, a pairwise one that is negative, and for either where it, or its
    /// square, is not a finite number.
    pub fn new(graph: Graph, sigma_own: f64, sigma_pairwise: f64) -> Result<Self, RealisedError> {
        let (own, pairwise) = (sigma_own * sigma_own, sigma_pairwise * sigma_pairwise);
        // Written so that NaN is refused too.
        if !(sigma_own > 0.0 && own.is_normal()) {
            return Err(RealisedError::Sigma {
                of: "own",
                found: sigma_own,
                expected: "a finite number above 0",
            });
        }
        if !(sigma_pairwise == 0.0 || sigma_pairwise > 0.0 && pairwise.is_normal()) {
            return Err(RealisedError::Sigma {
                of: "pairwise",
                found: sigma_pairwise,
                expected: "a finite number of at least 0",
            });
        }
        Ok(Self {
            graph,
            own,
            pairwise,
            attempts: BTreeMap::new(),
            views: BTreeMap::new(),
        })
    }

    /// Adds an attempt, whichever it is of the session.
    ///
    /// # Errors
    /// [`RealisedError`] for one that cannot have happened in this session, or is recorded already; nothing is recorded then.
    pub fn record(&mut self, attempt: Attempted) -> Result<(), RealisedError> {
        let (release, retry, view) = (attempt.release, attempt.retry, attempt.view);
        let checked = Checked::new(attempt, &self.graph)?;
        if self.attempts.contains_key(&(release, retry, view)) {
            return Err(RealisedError::Twice {
                release,
                retry,
                view,
            });
        }
        let members = self.views.entry(view).or_insert(checked.members.clone());
        if *members != checked.members {
            return Err(RealisedError::View { view });
        }
        self.attempts.insert((release, retry, view), checked);
        Ok(())
    }

    /// How many peers the session has.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.graph.nodes()
    }

    /// How many attempts are recorded.
    #[must_use]
    pub fn attempts(&self) -> usize {
        self.attempts.len()
    }

    /// Every attempt, by release, retry and view.
    pub fn recorded(&self) -> impl Iterator<Item = Recorded<'_>> {
        self.attempts
            .iter()
            .map(|(&(release, retry, view), attempt)| {
                let (members, read, _) = attempt.sets(Counted::Read);
                Recorded {
                    release,
                    retry,
                    view,
                    members,
                    read,
                }
            })
    }

    /// μ² of every peer against one coalition over all attempts; `None` for colluders. Peers that have left may collude.
    ///
    /// # Errors
    /// [`RealisedError::Accounting`] for a coalition with peers that do not exist or are named twice, and where a solve fails
    /// its own check.
    ///
    /// # Cost
    /// That of [`account`] per different triple of members, read and revealed.
    pub fn losses(
        &self,
        coalition: &[u32],
        counted: Counted,
    ) -> Result<Vec<Option<Bracket>>, RealisedError> {
        let peers = self.graph.nodes();
        let mut colluding = vec![false; peers];
        for &peer in coalition {
            let known = colluding.get_mut(peer as usize);
            match known {
                Some(taken) if !*taken => *taken = true,
                found => return Err(RealisedError::coalition(peer, found.is_some(), peers)),
            }
        }
        let nothing = Bracket::new(0.0, 0.0, 0.0);
        let mut sums: Vec<Option<Bracket>> = colluding
            .iter()
            .map(|&colludes| (!colludes).then_some(nothing))
            .collect();
        let mut known = BTreeMap::new();
        for attempt in self.attempts.values() {
            let sets = attempt.sets(counted);
            let factors = match known.get(&sets) {
                Some(factors) => factors,
                None => {
                    let factors = self.factors(sets, &colluding)?;
                    known.entry(sets).or_insert(factors)
                }
            };
            for ((u, sum), factor) in (0_u32..).zip(&mut sums).zip(factors) {
                if let (Some(sum), Some(factor)) = (sum, factor) {
                    let unit = attempt.unit(u);
                    *sum = sum.plus(factor.times(unit).times(unit));
                }
            }
        }
        Ok(sums)
    }

    /// [Σ⁻¹]_uu of theorem 1 for every honest peer that counts as read; `None` for all others.
    fn factors(
        &self,
        (members, read, revealed): (&[u32], &[u32], &[(u32, u32)]),
        colluding: &[bool],
    ) -> Result<Vec<Option<Bracket>>, RealisedError> {
        let peers = self.graph.nodes();
        let mut is_read = vec![false; peers];
        for &u in read {
            is_read[u as usize] = !colluding[u as usize];
        }
        let silent: Vec<u32> = (0..peers as u32)
            .filter(|&u| !is_read[u as usize])
            .collect();
        if silent.len() == peers {
            return Ok(vec![None; peers]);
        }
        let mut own = vec![self.own; peers];
        let mut edges = Vec::with_capacity(self.graph.edges());
        for (u, v) in self.graph.edge_list() {
            if revealed.binary_search(&(u, v)).is_ok() {
                continue;
            }
            edges.push((u, v));
            for (here, there) in [(u, v), (v, u)] {
                let there_is_honest = !colluding[there as usize];
                let dangles = is_read[here as usize]
                    && !is_read[there as usize]
                    && there_is_honest
                    && members.binary_search(&there).is_ok();
                if dangles {
                    own[here as usize] += self.pairwise;
                }
            }
        }
        let graph = Graph::from_edges(peers, &edges)?;
        let covariance = NoiseCovariance::new(own, &[(&graph, self.pairwise)])?;
        Ok(account(&covariance, &silent, AccountOptions::default())?.brackets)
    }

    /// An upper bound on μ² of every peer over all attempts against **every** coalition of at most `colluders` peers.
    ///
    /// By corollary 2 an attempt that u was read in costs it at most (Δ/d_u)²·v_u on the noise graph of the members, where v_u is certified for all
    /// coalitions of that size; the largest sum over coalitions is at most the sum of the largest.
    ///
    /// # Errors
    /// [`RealisedError::Accounting`] for as many colluders as peers.
    ///
    /// # Cost
    /// That of [`certified_variance_factors`] per different pair of members and revealed terms, and of λ₂ for up to 500 members.
    pub fn certified(&self, colluders: usize) -> Result<Vec<f64>, RealisedError> {
        let peers = self.graph.nodes();
        if colluders >= peers {
            return Err(super::PrivacyError::NobodyHonest { colluders, peers }.into());
        }
        let mut known: BTreeMap<_, Vec<f64>> = BTreeMap::new();
        let mut sums = vec![0.0; peers];
        for attempt in self.attempts.values() {
            let (members, read, revealed) = attempt.sets(Counted::Read);
            let factors = match known.get(&(members, revealed)) {
                Some(factors) => factors,
                None => {
                    let factors = self.certified_among(members, revealed, colluders)?;
                    known.entry((members, revealed)).or_insert(factors)
                }
            };
            for &u in read {
                let at = members.binary_search(&u).unwrap_or(0);
                let square = attempt.square(u) * factors[at];
                sums[u as usize] = (sums[u as usize] + square).next_up();
            }
        }
        Ok(sums)
    }

    /// Certified factors on the noise graph of these members, in their order.
    fn certified_among(
        &self,
        members: &[u32],
        revealed: &[(u32, u32)],
        colluders: usize,
    ) -> Result<Vec<f64>, RealisedError> {
        let secret = |edge: &(u32, u32)| revealed.binary_search(edge).is_err();
        let graph = Graph::among(members, self.graph.edge_list().filter(secret))?;
        let small = members.len() <= CONNECTIVITY_UP_TO && graph.is_connected();
        let connectivity = match small {
            true => Spectrum::of(&graph, &Mixing::metropolis(&graph))
                .algebraic_connectivity
                .into(),
            false => Connectivity::UNKNOWN,
        };
        let public = PublicGraph::new(&graph, connectivity);
        // A coalition that leaves anybody honest has at most the others.
        let colluders = colluders.min(members.len() - 1);
        let found = certified_variance_factors(&public, self.own, self.pairwise, colluders)?;
        Ok(found.into_iter().map(|found| found.factor).collect())
    }

    /// What was to be charged by plan: an upper bound on μ² of every peer over all attempts that it sealed in, against every
    /// coalition of at most `colluders` peers, whoever of up to `tolerated` peers was out. `connectivity` is what is proved of λ₂ of the noise graph of all.
    ///
    /// A try at a release (one value of its retry counter) is charged once, with the largest scale ratio of its attempts, since at most one of them is
    /// opened; where a peer was read in several of them all the same, each of these is charged.
    ///
    /// # Errors
    /// [`RealisedError::Floor`] for an attempt with fewer members than tolerated, [`RealisedError::Revealed`] where pairwise terms became known, which no
    /// plan covers, [`RealisedError::Accounting`] for as many colluders as peers.
    pub fn planned(
        &self,
        connectivity: Connectivity,
        colluders: usize,
        tolerated: usize,
    ) -> Result<Vec<f64>, RealisedError> {
        let peers = self.graph.nodes();
        let mut tries: BTreeMap<_, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
        for (&(release, retry, view), attempt) in &self.attempts {
            let (members, read, revealed) = attempt.sets(Counted::Read);
            let floor = peers.saturating_sub(tolerated);
            if members.len() < floor {
                return Err(RealisedError::Floor {
                    view,
                    members: members.len(),
                    floor,
                });
            }
            if !revealed.is_empty() {
                return Err(RealisedError::Revealed { release, view });
            }
            let (largest, sum) = tries
                .entry((release, retry))
                .or_insert_with(|| (vec![0.0; peers], vec![0.0; peers]));
            for &u in members {
                let here = &mut largest[u as usize];
                *here = here.max(attempt.square(u));
            }
            for &u in read {
                sum[u as usize] = (sum[u as usize] + attempt.square(u)).next_up();
            }
        }
        let public = PublicGraph::new(&self.graph, connectivity);
        let gone = colluders.saturating_add(tolerated);
        let factors = certified_variance_factors(&public, self.own, self.pairwise, gone)?;
        let mut sums = vec![0.0; peers];
        for (largest, sum) in tries.values() {
            for (u, total) in sums.iter_mut().enumerate() {
                let square: f64 = largest[u].max(sum[u]);
                *total = f64::next_up(*total + square * factors[u].factor);
            }
        }
        Ok(sums)
    }
}
