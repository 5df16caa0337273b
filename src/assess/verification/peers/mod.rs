//! Holds what every peer publishes against the joint law of the noise over peers.
//!
//! In the sum over peers pairwise noise cancels, so a test of sums says nothing about it: a run without any pairwise
//! noise would pass. Here every peer's own message is looked at.
//!
//! # The law
//! Let x_u be one coordinate of what peer u publishes in iteration l, f_u the same coordinate of its local
//! contribution at its own query, c = f_l Δ_l the noise scale of the iteration and R_u = (x_u − f_u)/c the residual.
//! If the implementation is the plan, then R ~ N(0, Σ) with Σ = σ_η² I + σ_Δ² L, where L is the Laplacian of the noise
//! graph, and residuals of different coordinates, iterations and runs are independent.
//!
//! *Proof.* R_u = σ_η η_u + σ_Δ Σ_v s_uv z_{uv} over the partners v of u, with independent standard normals η_u per peer
//! and z_{uv} per edge, s_uv = +1 at the lower end and −1 at the upper. A linear map of normals is normal. Its variance
//! at u is σ_η² + σ_Δ² deg(u); two peers share z_{uv} if and only if they are partners, with opposite signs, so that
//! their covariance is −σ_Δ² along edges and 0 elsewhere. Every coordinate, iteration and run draws its own normals. A
//! query depends on earlier noise, but R subtracts what was contributed at that very query, so that the law of an
//! iteration's R given everything before it is always N(0, Σ): hence independence. ∎
//!
//! # The tests
//! Each has the null law stated; all but one are exact in finite samples. T counts samples (coordinates, iterations,
//! runs).
//!
//! | test | statistic | law under the plan |
//! | --- | --- | --- |
//! | whitened mean square | Σ‖F⁻¹R‖² with Σ = F Fᵀ | χ² with T·s degrees |
//! | whitened distribution | Kolmogorov–Smirnov distance of the entries of F⁻¹R to N(0, 1) | Kolmogorov's, asymptotic in the number of entries |
//! | one peer's variance | Σ_t R_u²/Σ_uu, the least likely peer | χ² with T degrees, times s (Bonferroni) |
//! | one edge's covariance | correlation of R_u and R_v − (Σ_uv/Σ_uu) R_u, the least likely edge | Student's t with T − 1 degrees, times edges |
//! | covariance without an edge | the same for two partners of one peer that share no edge | the same, times pairs |
//! | coordinates | mean square of Σ_j W_j/√m over m coordinates that an implementation may confuse | χ² |
//! | iterations | mean square of Σ_l W_l/√L at one coordinate | χ² |
//! | one peer's own noise | Σ((x_u − f_u)/c − pairwise terms of the plan)²/σ_η² over one chunk an iteration, the least likely peer | χ² with as many degrees as coordinates, times s |
//! | runs | mean square of Σ_r W_r/√R at one coordinate and iteration | χ² |
//!
//! *Proofs.* W = F⁻¹R has covariance F⁻¹ΣF⁻ᵀ = I: its entries are independent N(0, 1), so sums of squares are χ², and a
//! sum of m independent ones over √m is N(0, 1) again, independent across entries. R_v − (Σ_uv/Σ_uu)R_u is uncorrelated
//! with R_u, hence independent of it; given the T-vector of R_u, the component of the other along it is N(0, σ²) and
//! independent of the T − 1 components across it, so that r√(T−1)/√(1−r²) is Student's t. Bonferroni: the smallest of k
//! p-values is below p with probability at most k·p, whatever their dependence. What is left of R_u without its pairwise terms
//! is σ_η η_u. That test is the one that sees who draws own noise: pairwise noise hides it from the law of R. ∎
//!
//! The sum over m samples sees every pair of them at once: with a correlation ρ between k of the m·(m − 1)/2 pairs its
//! mean square is 1 + 2kρ/m. The coordinates that are summed lie 1, one row, one group and one chunk of the noise
//! streams apart.
//!
//! # Large networks
//! F is a dense triangle, s²/2 numbers. Above 1,024 peers up to four patches of 1,024 neighbouring peers are whitened
//! instead, each by the block of Σ that is the exact law of its residuals; the least likely patch counts, times their
//! number. Variances and covariances are tested at every peer and up to 2¹⁷ edges and 2¹⁷ other pairs, evenly chosen.
//!
//! # Cost
//! Per iteration one local contribution per peer, s·|C| + pairs·|C| multiplications for the |C| coordinates looked at
//! (all, or as many as fit into 2²² values over all peers; never fewer than one pattern), and at most 40 triangular
//! solves per patch; the noise of one chunk is drawn again. Memory: 32 MiB of residuals, 8 MiB per patch for F and 5 MiB
//! for sums over runs, 8 bytes per peer and pair; the engine's transcript comes on top.

mod integers;
pub(in crate::assess) mod marginals;
pub(in crate::assess) mod places;
mod uniform;
pub(in crate::assess) mod whitened;

#[cfg(test)]
mod tests;

use std::ops::Range;

use rayon::prelude::*;

use super::checks::test;
use super::record::RowMoves;
use super::statistics::{chi_squared, least_likely};
use super::table::Check;
use crate::algorithm::{Form, ReleaseSpec};
use crate::engine::{Inputs, Observer, Session, Simulation, Transcript};
use crate::linalg::{Block, SparseRows};
use crate::noise::NoiseChunk;
use crate::plan::Plan;
use crate::privacy::{NoisePlan, Statistic};
use crate::protocol::{PlannedRelease, Terms, Values, kernel};
use crate::vocabulary::{CHUNK, PeerIndex, Quantity, ReleaseId};
use marginals::Marginals;
use places::Places;
use uniform::Uniform;
use whitened::Whitened;

/// Everything collected so far about what every peer publishes.
pub(super) struct PeerLaw<'a> {
    simulation: &'a Simulation,
    /// The places in the program of the releases that it is about, all of one kind, ascending.
    releases: Vec<ReleaseId>,
    /// Of a peer's own noise, per unit of noise scale.
    variance: f64,
    /// The same of releases of other shapes or forms.
    others: Vec<Self>,
    places: Places,
    /// The law's two collections; `None` without noise.
    law: Option<(Marginals, Whitened)>,
    /// What takes its place where what is published are residues, of releases of all shapes: `others` have none.
    uniform: Option<Uniform>,
    /// The largest |published − local − planned noise| of any peer, in units of what rounding can explain.
    gap: f64,
    /// Of every peer: Σ own²/σ_η² over the coordinates drawn again, and how many they are.
    own: Vec<(f64, usize)>,
}

/// The shape of a release, and whether it is of own coordinates.
type Kind = ((usize, usize), bool);

/// What drawing one chunk of one peer again shows.
struct Redrawn {
    /// |published − local − planned noise| over rounding.
    gap: f64,
    /// Σ (published − local − planned pairwise noise)², per unit of noise scale.
    own: f64,
    /// Coordinates.
    coordinates: usize,
}

impl<'a> PeerLaw<'a> {
    /// Nothing collected yet.
    pub(super) fn new(simulation: &'a Simulation, runs: u32) -> Self {
        let all = &simulation.program().releases;
        let kind = |one: &ReleaseSpec| (one.shape(), one.form == Form::OwnCoordinates);
        let widest = all.iter().max_by_key(|one| one.values()).map(kind);
        let widest = widest.unwrap_or_default();
        let mut kinds: Vec<Kind> = all.iter().map(kind).collect();
        kinds.sort_unstable();
        kinds.dedup();
        let of = |wanted| {
            let numbered = (1..).map(ReleaseId).zip(all);
            let mine = numbered.filter(|(_, release)| kind(release) == wanted);
            Self::of_kind(simulation, runs, wanted, mine.map(|(id, _)| id).collect())
        };
        let ring = simulation.plan().guarantee().noise().ring();
        let others = kinds.into_iter().filter(|kind| *kind != widest);
        Self {
            uniform: ring.map(|ring| Uniform::new(ring.modulus().bits())),
            others: others.map(of).collect(),
            ..of(widest)
        }
    }

    /// For these releases, all of one kind.
    fn of_kind(
        simulation: &'a Simulation,
        runs: u32,
        (shape, is_own): Kind,
        releases: Vec<ReleaseId>,
    ) -> Self {
        let graph = simulation.plan().network().noise_topology.graph();
        let places = Places::new(graph.nodes(), shape);
        let noise = simulation.plan().guarantee().noise();
        // Own coordinates have all of a curator's noise, and share none.
        let (own, pairwise) = match is_own {
            true => (simulation.plan().sigma_central().powi(2), 0.0),
            false => (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2)),
        };
        let gaussian = noise.ring().is_none() && noise.is_gaussian();
        let law = (own > 0.0 && gaussian).then(|| {
            (
                Marginals::new(graph, (own, pairwise)),
                Whitened::new(graph, (own, pairwise), (runs, releases.len() as u32)),
            )
        });
        Self {
            simulation,
            releases,
            variance: own,
            others: Vec::new(),
            places,
            law,
            uniform: None,
            gap: 0.0,
            own: vec![(0.0, 0); graph.nodes()],
        }
    }

    fn noise(&self) -> &NoisePlan {
        self.simulation.plan().guarantee().noise()
    }

    /// Watches one run, whose untouched session is `honest`, and leaves rows out of its contributions where that is asked for.
    pub(super) fn watch<'b>(
        &'b mut self,
        honest: &'b Session,
        moves: Option<&'b mut RowMoves>,
    ) -> Watch<'b, 'a> {
        Watch {
            law: self,
            honest,
            moves,
        }
    }

    /// The largest difference between a peer's message and its contribution plus its planned noise, in units of
    /// what rounding can explain.
    pub(super) fn gap(&self) -> f64 {
        let others = self.others.iter().map(Self::gap);
        others.fold(self.gap, f64::max)
    }

    /// The tests of the law.
    pub(super) fn checks(&self) -> Vec<Check> {
        let others = self.others.iter().flat_map(Self::checks);
        self.own_checks().into_iter().chain(others).collect()
    }

    /// Those of the releases of this shape.
    fn own_checks(&self) -> Vec<Check> {
        // Shares of Laplace and Wishart noise are held against the plan number by number, and their sum against its law.
        if !self.noise().is_gaussian() {
            return Vec::new();
        }
        let variance = self.variance;
        let law: Vec<(&str, (f64, f64))> = match (&self.law, &self.uniform) {
            (Some((marginals, whitened)), _) => {
                let tested = whitened.tests(&self.places);
                tested.into_iter().chain(marginals.tests()).collect()
            }
            (None, Some(uniform)) => uniform.tests(),
            (None, None) if variance > 0.0 => Vec::new(),
            (None, None) => return Vec::new(),
        };
        let seen = self.own.iter().filter(|(_, coordinates)| *coordinates > 0);
        let own = seen.map(|&(square, n)| chi_squared(square / variance, n as f64));
        let own = least_likely(own).map(|result| ("least likely own noise of one peer", result));
        law.into_iter()
            .chain(own)
            .map(|(name, result)| test("peers", name, result))
            .collect()
    }

    /// Takes in what was published in one iteration.
    fn observe(&mut self, honest: &Session, transcript: &Transcript<'_>) {
        if let (Inputs::Residues(published), Some(uniform)) = (transcript.inputs, &mut self.uniform)
        {
            uniform.add(published);
        }
        let Ok(number) = self.releases.binary_search(&transcript.release) else {
            let of = |law: &&mut Self| law.releases.contains(&transcript.release);
            if let Some(other) = self.others.iter_mut().find(of) {
                other.observe(honest, transcript);
            }
            return;
        };
        let Some(planned) = honest.plan().release(transcript.release) else {
            // Nobody planned it.
            self.gap = f64::INFINITY;
            return;
        };
        let terms = planned.terms(needed_statistic(planned, transcript));
        let redrawn = match (transcript.inputs, terms.steps()) {
            (Inputs::Residues(published), Some(steps)) => {
                let inputs = (published, &terms, steps);
                let local = |u: usize| Self::contributed(honest, (planned, transcript), &terms, u);
                let turn = |u: usize| self.turn(u);
                integers::redraw(honest, transcript.release, inputs, (&local, &turn))
            }
            (Inputs::Reals(published), None) => {
                let number = ReleaseId(number as u32 + 1);
                self.observe_reals((honest, number), (planned, transcript), published, &terms)
            }
            // Not even of the kind that the plan has.
            _ => {
                self.gap = f64::INFINITY;
                return;
            }
        };
        for ((square, n), peer) in self.own.iter_mut().zip(&redrawn) {
            *square += peer.own;
            *n += peer.coordinates;
            self.gap = self.gap.max(peer.gap);
        }
        self.places.next_turn();
    }

    /// The coordinates of peer `u` that are drawn again this time: one chunk. Peers, runs and iterations take turns, so that every chunk
    /// is seen.
    fn turn(&self, u: usize) -> Range<usize> {
        let values = self.places.values();
        let start = ((self.places.turn() + u) % values.div_ceil(CHUNK)) * CHUNK;
        start..(start + CHUNK).min(values)
    }

    /// Takes in real numbers of release `number` among those of this shape, and draws one chunk of every peer again.
    fn observe_reals(
        &mut self,
        (honest, number): (&Session, ReleaseId),
        (planned, transcript): (&PlannedRelease, &Transcript<'_>),
        inputs: &[f64],
        terms: &Terms,
    ) -> Vec<Redrawn> {
        let values = self.places.values();
        // f_l Δ_l as the queries of all peers call for it, computed here and not read from the run.
        let scale = terms.sensitivity * self.simulation.plan().noise_factor(transcript.release);
        let places = self.places.all();
        let mut residuals = vec![0.0; honest.peers() * places.len()];
        let redrawn: Vec<Redrawn> = residuals
            .par_chunks_exact_mut(places.len())
            .enumerate()
            .map(|(u, residual)| {
                let local = Self::contributed(honest, (planned, transcript), terms, u);
                let published = &inputs[u * values..][..values];
                for (out, &i) in residual.iter_mut().zip(places) {
                    *out = (published[i] - local.values()[i]) / scale;
                }
                let range = self.turn(u);
                let mut expected = local.values()[range.clone()].to_vec();
                let again = (range.start, expected.as_mut_slice());
                self.redraw(honest, (transcript.release, terms), u, again, published)
            })
            .collect();
        if let Some((marginals, whitened)) = &mut self.law {
            marginals.add(&residuals, self.places.all().len());
            whitened.add(&residuals, &self.places, number);
        }
        redrawn
    }

    /// What peer `u` contributes of its rows in the release's batch, without noise and in the units in which it is published.
    fn contributed(
        honest: &Session,
        (planned, transcript): (&PlannedRelease, &Transcript<'_>),
        terms: &Terms,
        u: usize,
    ) -> Block {
        let rows = honest.rows().contributing(u, planned.spec().batch);
        let history = transcript.states[u].history();
        kernel::contribution(honest.plan(), planned, rows, history, terms)
    }

    /// Draws the planned noise of peer `u` again, over the chunk that begins at `start`; `expected` holds the local
    /// contribution.
    fn redraw(
        &self,
        honest: &Session,
        (release, terms): (ReleaseId, &Terms),
        u: usize,
        (start, expected): (usize, &mut [f64]),
        published: &[f64],
    ) -> Redrawn {
        let at = NoiseChunk {
            release,
            chunk: (start / CHUNK) as u64,
            unit: terms.scale,
        };
        let peer = PeerIndex::from_index(u);
        let mut own = vec![0.0; expected.len()];
        let is_own = self.simulation.plan().is_own(release);
        let term = match is_own {
            true => honest.planned_noise().coordinate(peer),
            false => honest.planned_noise().own(peer),
        };
        term.add_chunk(at, &mut own);
        let most = expected.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        for (sum, own) in expected.iter_mut().zip(&own) {
            *sum += own;
        }
        let partners = honest.noise_graph().neighbours(u);
        if honest.planned_noise().has_pairwise() && !is_own {
            for &partner in partners {
                let term = honest.planned_noise().shared(peer, PeerIndex(partner));
                term.add_chunk(at, expected);
            }
        }
        // Each of deg(u) + 1 additions rounds values of at most a few standard deviations.
        let noise = self.noise();
        let degree = partners.len() as f64;
        // Contributions are sums of terms of a known size, but for the longer rows of a graph.
        let largest = largest_term((self.simulation.plan(), honest), release);
        let size = match is_own {
            true => most.max(largest) + terms.scale * self.simulation.plan().sigma_central(),
            false => {
                let own = self.simulation.plan().sigma_of_one(release);
                largest + terms.scale * (own + noise.sigma_pairwise() * degree.sqrt())
            }
        };
        let rounding = 16.0 * f64::EPSILON * (degree + 2.0) * size;
        // What is published is rounded to f32 where values are.
        let last_place = match honest.plan().values() {
            Values::F32 => f64::from(f32::EPSILON),
            _ => 0.0,
        };
        let mut found = Redrawn {
            gap: 0.0,
            own: 0.0,
            coordinates: own.len(),
        };
        for ((x, y), own) in published[start..].iter().zip(&*expected).zip(&own) {
            let gap = (x - y).abs() / (rounding + last_place * y.abs());
            // What is no number is no explanation either.
            found.gap = found
                .gap
                .max(if gap.is_nan() { f64::INFINITY } else { gap });
            found.own += ((x - y + own) / terms.scale).powi(2);
        }
        found
    }
}

/// About how large a term of a contribution is: rows contribute at most 1 each to a product, which adds up to little more, and 1 each to a
/// count, which adds up.
pub(super) fn largest_term((plan, honest): (&Plan, &Session), release: ReleaseId) -> f64 {
    let counts = |quantity| {
        matches!(
            quantity,
            Quantity::ClipHistogram
                | Quantity::ClipCount
                | Quantity::TailCounts
                | Quantity::ItemShares
                | Quantity::TriangleAndMargins
        )
    };
    let releases = &plan.program().releases;
    let blocks = releases.get(release.index()).map(|one| &one.blocks);
    match blocks.is_some_and(|blocks| blocks.iter().any(|block| counts(block.quantity))) {
        true => honest.rows().iter().map(SparseRows::len).sum::<usize>() as f64,
        false => 1.0,
    }
}

/// The largest statistic of all peers' queries.
fn needed_statistic(planned: &PlannedRelease, transcript: &Transcript<'_>) -> f64 {
    let statistic = planned.statistic();
    match statistic {
        Statistic::None => 0.0,
        _ => transcript
            .states
            .par_iter()
            .map(|state| statistic.of(&state.query))
            .reduce(|| 0.0, f64::max),
    }
}

/// Sees one run.
pub(super) struct Watch<'b, 'a> {
    law: &'b mut PeerLaw<'a>,
    honest: &'b Session,
    moves: Option<&'b mut RowMoves>,
}

impl Observer for Watch<'_, '_> {
    fn wants_transcript(&self) -> bool {
        true
    }

    fn transcript(&mut self, transcript: Transcript<'_>) {
        self.law.observe(self.honest, &transcript);
        if let (Some(moves), Some(planned)) = (
            &mut self.moves,
            self.honest.plan().release(transcript.release),
        ) {
            let statistic = needed_statistic(planned, &transcript);
            moves.observe(self.honest, planned, (statistic, &transcript));
        }
    }
}
