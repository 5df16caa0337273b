//! What every engine reports.

use std::sync::Arc;

use serde::Serialize;

use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::averaging::{PhaseBytes, Traffic};
use crate::protocol::{Steps, Terms};
use crate::vocabulary::{Iteration, PeerIndex, ReleaseId, Round, Time};

/// Sums over all peers that only a simulator can see, for `verify` and the tests, in the units in which inputs are published;
/// of own coordinates those of all peers.
#[derive(Clone, Debug, PartialEq)]
pub struct Totals {
    /// Σ_u of what the peers published: local product, own noise and pairwise noise.
    pub published: Block,
    /// Σ_u f_u(X_u): the local products alone, each at its peer's own public state.
    pub local: Block,
    /// The same two sums in whole steps of the grid, where they are of integers mod 2^k: what the reals above are made from.
    pub steps: Option<StepTotals>,
}

/// Sums over all peers of integers, as residues mod 2^k.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepTotals {
    /// Σ_u of what the peers published.
    pub published: Vec<u64>,
    /// Σ_u of the local products alone.
    pub local: Vec<u64>,
}

impl Totals {
    /// Of real numbers.
    pub(super) fn of_reals(published: Block, local: Block) -> Self {
        Self {
            published,
            local,
            steps: None,
        }
    }

    /// Of integers on this grid, in the shape of the release.
    pub(super) fn of_steps(
        grid: &Steps,
        (rows, columns): (usize, usize),
        sums: StepTotals,
    ) -> Self {
        let reals =
            |residues: &[u64]| Block::from_values(rows, columns, grid.to_reals(residues).collect());
        Self {
            published: reals(&sums.published),
            local: reals(&sums.local),
            steps: Some(sums),
        }
    }
}

/// What all peers published in a release, one peer after the other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inputs<'a> {
    /// Real numbers.
    Reals(&'a [f64]),
    /// Integers mod 2^k.
    Residues(&'a [u64]),
}

impl<'a> Inputs<'a> {
    /// The real numbers, if it is of those.
    #[must_use]
    pub fn reals(self) -> Option<&'a [f64]> {
        match self {
            Self::Reals(values) => Some(values),
            Self::Residues(_) => None,
        }
    }

    /// The residues, if it is of those.
    #[must_use]
    pub fn residues(self) -> Option<&'a [u64]> {
        match self {
            Self::Reals(_) => None,
            Self::Residues(values) => Some(values),
        }
    }

    /// All bits of what was published, for digests and comparisons: those of reals, or the residues.
    pub fn bits(self) -> impl Iterator<Item = u64> + use<'a> {
        let (reals, residues) = (self.reals(), self.residues());
        let reals = reals.into_iter().flatten().map(|value| value.to_bits());
        reals.chain(residues.into_iter().flatten().copied())
    }
}

/// How well the peers agree on one iteration's sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Consensus {
    /// max_u ‖S_u − Ȳ‖_F / ‖Ȳ‖_F: the worst peer's estimate S_u against the sum Ȳ of what was published.
    ///
    /// A sum of floating-point numbers depends on its order. Where the averaging schedule makes all peers end with the same bits
    /// ([`Schedule::ends_equal`](crate::protocol::averaging::Schedule::ends_equal)), it adds in an order of its own, and Ȳ is taken in
    /// that order: 0 if and only if every peer holds exactly what the schedule makes of what was published. Elsewhere Ȳ is
    /// taken in the order of the peers.
    pub disagreement: f64,
    /// max_u ‖S_u − S_0‖_F / ‖Ȳ‖_F: how far the estimates are from peer 0's (of the peers an engine looks at). Exactly 0 if
    /// and only if all hold the same numbers.
    pub between_peers: f64,
    /// s·‖x⁰ − x̄‖_F / ‖Ȳ‖_F: the same measure before any averaging, over all peers. Times the contraction
    /// that the rounds guarantee it bounds `disagreement`.
    pub initial_spread: f64,
    /// About at most how far, relative to ‖Ȳ‖_F, this iteration moves an estimate because other peers' contributions were
    /// computed at peer 0's X and not at their own, and Δ from the probes' statistic. Not cumulative over iterations, and
    /// from a root mean square over the noise: the engine [`analytic`](super::analytic) alone does that, and it is `None` for all others
    /// and where nothing can be said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approximation: Option<f64>,
}

/// One release as everybody in the field would log it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReleaseRecord {
    /// Its place in the program, from 1.
    pub release: ReleaseId,
    /// The iteration l it belongs to, from 1.
    pub iteration: Iteration,
    /// The agreed statistic of X^{l−1} (D̂, or ‖X‖_max; 0 where none is needed).
    pub statistic: f64,
    /// The sensitivity Δ_l; 1 where the release has several blocks, each in units of its own bound.
    pub sensitivity: f64,
    /// Standard deviation of the noise on every coordinate of the sum, one per block; 0 without noise.
    pub sigmas: Arc<[f64]>,
    /// Peer 0's X^{l−1}, the query of this release, n × b.
    pub query: Arc<Block>,
    /// Peer 0's estimate of the noisy sum Y_l, in the shape of the release; of own coordinates those of all peers.
    pub sum: Arc<Block>,
    /// Peer 0's estimate of the leading eigenvectors after this release, n × p (X^l for the power method).
    pub basis: Arc<Block>,
    /// Sums over all peers.
    pub totals: Totals,
    /// Agreement between peers; `None` where there is one copy only.
    pub consensus: Option<Consensus>,
}

/// What went over the wire, prefixes and headers included.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Communication {
    /// Exchanges of each release: max-consensus rounds plus averaging rounds.
    pub rounds: Vec<u32>,
    /// Messages sent, one per receiver; the lost ones are among them.
    pub messages: u64,
    /// Messages that were lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub lost: u64,
    /// Bytes sent by all peers.
    pub bytes_total: u64,
    /// Bytes sent by the busiest peer.
    pub bytes_max_peer: u64,
    /// Bytes that a peer sends on average.
    pub bytes_mean_peer: f64,
    /// The bytes by what they are for.
    pub phases: PhaseBytes,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Communication {
    /// What these releases of a plan cost with a traffic of `all`; `rounds` are the exchanges of each.
    #[must_use]
    pub fn of(all: Traffic, rounds: Vec<u32>) -> Self {
        Self {
            rounds,
            messages: all.messages,
            lost: 0,
            bytes_total: all.bytes.bytes_total,
            bytes_max_peer: all.bytes.bytes_max_peer,
            bytes_mean_peer: all.bytes.bytes_mean_peer,
            phases: all.phases,
        }
    }
}

/// What a run produced.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Every release in order.
    pub records: Vec<ReleaseRecord>,
    /// What it cost to send.
    pub communication: Communication,
}

impl Outcome {
    /// Peer 0's final estimate of the leading eigenvectors, n × p (X^L for the power method).
    ///
    /// # Panics
    /// Never for outcomes of engines: plans have at least one release.
    #[must_use]
    pub fn basis(&self) -> &Block {
        &self
            .records
            .last()
            .expect("plans have at least one release")
            .basis
    }
}

/// Everything an adversary sees of one release, and the public state each peer was in.
#[derive(Clone, Copy, Debug)]
pub struct Transcript<'a> {
    /// The release, from 1.
    pub release: ReleaseId,
    /// How the noise was scaled: `terms.scale` is what every term was multiplied by.
    pub terms: &'a Terms,
    /// What every peer published, s × the release's values: local contribution, own noise and what it shares with partners.
    pub inputs: Inputs<'a>,
    /// The public state of every peer, whose query and past the contribution is a function of.
    pub states: &'a [PublicState],
}

/// Watches a run.
pub trait Observer {
    /// Whether [`Self::transcript`] is to be called; costs an array of what peers publish and one of their queries.
    fn wants_transcript(&self) -> bool {
        false
    }

    /// All peers have published; the engines with peers tell: lockstep, event and swarm, with equal bits.
    fn transcript(&mut self, _transcript: Transcript<'_>) {}

    /// Whether [`Self::round`] is to be called; costs a pass over all peers' values per averaging round.
    fn wants_rounds(&self) -> bool {
        false
    }

    /// How far the peers are apart after `round` averaging rounds of `release`; round 0 is before any. `spread`
    /// is s·√(Σ_u ‖x_u − x̄‖_F²) / ‖Ȳ‖_F, as [`Consensus::initial_spread`]. Rounds come in order, once all peers have
    /// averaged; only the lockstep engine tells.
    fn round(&mut self, _release: ReleaseId, _round: Round, _spread: f64) {}

    /// A release is complete at every peer.
    fn released(&mut self, _record: &ReleaseRecord) {}

    /// `done` of `total` units of work are complete; called often, must be cheap.
    fn progress(&mut self, _done: u64, _total: u64) {}

    /// How far a peer is. The engines whose peers are machines of their own tell: event and swarm; with faults also what went wrong with it.
    fn peer(&mut self, _peer: PeerIndex, _standing: Standing) {}

    /// Something is about to happen at this moment of virtual time. The event engine waits until this returns, so that a run can be watched
    /// step by step; called often, must be cheap otherwise.
    fn step(&mut self, _now: Time) {}
}

/// How far a peer is, or what went wrong with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It has published in a release.
    Published(ReleaseId),
    /// It has the sum of a release.
    Released(ReleaseId),
    /// It has everything.
    Finished,
    /// Its process crashed.
    Crashed,
    /// Its disk failed, and it stopped.
    DiskFailed,
    /// Its process started again.
    Restarted,
    /// It gave up its link to another.
    GaveUp(PeerIndex),
    /// It went on with those who are left.
    WentOn,
    /// Its session ended without a result.
    Ended,
}

/// An observer that ignores everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}
