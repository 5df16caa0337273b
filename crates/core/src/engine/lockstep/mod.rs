//! All peers in lockstep over flat arrays, with the protocol's own kernels.
//!
//! One array holds every peer's noisy sum, s × the coordinates of a release. In each release the coordinates are
//! processed in chunks (the unit of the noise streams): the chunk of every peer's noisy input is made, averaged over
//! all K rounds tile by tile while it sits in cache, and written back as that peer's sum. Then each peer advances its
//! public state: in place, where the algorithm has no memory, so that no other array of that size exists.
//!
//! Where the averaging schedule shows that all peers end with the same bits there is one sum and one public state, of all of them:
//! what they end with is evaluated once per chunk, see `protocol/averaging/common_end.rs`. So it is where sums are of integers mod 2^k, see `integers`.
//!
//! Nothing here depends on the number of threads or the tile width: every coordinate sees the same
//! operations in the same order as in a [`Peer`](crate::protocol::Peer), so the bits agree.

mod chunk;
mod gossip;
mod integers;
mod shares;
mod states;
mod task;
mod together;
mod walk;

use std::sync::Arc;

use rayon::prelude::*;

use super::course::{self, Current, Engine};
use super::losses::Losses;
use super::noise::NetworkNoise;
use super::outcome::ReleaseRecord;
use super::{
    Consensus, EngineError, Inputs, Observer, Outcome, Session, StepTotals, Totals, Transcript,
};
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::protocol::averaging::{CommonEnd, Form, Schedule};
use crate::protocol::{PeerError, PlannedRelease, Terms, kernel};
use crate::vocabulary::{CHUNK, PeerIndex, ReleaseId, Round};
use chunk::ChunkState;
use gossip::PEERS_AT_ONCE;
use states::States;
use task::ChunkTask;
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    gossip::Averaged, gossip::Exchange, gossip::Gossip, gossip::Rounds, gossip::tile_width,
    shares::Lost, shares::Shares, walk::Walk,
};

/// Runs the session.
///
/// # Errors
/// [`EngineError::Start`], [`EngineError::Noise`] and [`EngineError::Schedule`] for a starting block, noise or averaging that is
/// not the plan's; [`EngineError::Peer`] with the first peer whose input or sum overflowed, whose sum has no unique basis, or
/// who would go on with a query that is not orthonormal.
///
/// # Cost
/// Time O(L·(entries·p + n p·(peers + noise edges + K·edges))); memory one array of s × the largest release plus a few
/// s × `CHUNK` buffers per thread, and what an algorithm with memory keeps at every peer. Where all peers end with the same bits
/// K·edges is s − 1 for a tree, and memory is one s × `CHUNK` buffer per thread and what one peer keeps.
pub fn run(session: &Session, observer: &mut dyn Observer) -> Result<Outcome, EngineError> {
    let commons = session.schedule().common_ends(&**session.topology());
    run_holding(session, commons.as_deref(), observer)
}

/// Runs the session with one sum for all peers if what they end with in each turn is given, else with one per peer.
fn run_holding(
    session: &Session,
    commons: Option<&[CommonEnd]>,
    observer: &mut dyn Observer,
) -> Result<Outcome, EngineError> {
    session.admit()?;
    let noise = NetworkNoise::of(session.planned_noise(), session.noise_graph());
    let laws = session.plan().ring_laws().map(|laws| &**laws);
    if !noise.is_planned(session.noise_graph(), session.plan().sigmas()) || !noise.is_in_ring(laws)
    {
        return Err(EngineError::Noise);
    }
    let schedule = session.schedule();
    let gossip = Gossip::new(session.graph(), session.mixing());
    let walk = |turn: &Schedule| match turn.form() {
        Form::Listed(steps) if commons.is_none() || observer.wants_rounds() => {
            Walk::new(session.graph(), schedule.rounds(), steps)
        }
        _ => Walk::default(),
    };
    let walks: Vec<Walk> = schedule.turns().iter().map(walk).collect();
    // A schedule that passes mass takes no turns.
    let shares = match schedule.form() {
        Form::Passing(passing) => Some(Shares::new(session.graph(), schedule.rounds(), passing)),
        Form::Recurrence(_) | Form::Listed(_) => None,
    };
    let turns = schedule.turns().iter().zip(&walks);
    let turns: Vec<Rounds<'_>> = turns
        .map(|(turn, walk)| Rounds {
            exchange: match (turn.form(), &shares) {
                (Form::Recurrence(coefficients), _) => Exchange::Recurrence(coefficients),
                (_, Some(shares)) => Exchange::Passing(shares, None),
                (Form::Listed(_) | Form::Passing(_), None) => Exchange::Listed(walk),
            },
            values: session.plan().values(),
            factor: turn.factor(),
            watch: observer.wants_rounds(),
        })
        .collect();
    let mut network = Network::new(session, &noise, &gossip, (&turns, commons));
    let records = course::run(session, &mut network, observer)?;
    // An agreement that no release followed was the last thing the peers said.
    let agreed = network.front().agreed.is_some();
    Ok(Outcome {
        communication: match Losses::of(session) {
            Some(losses) => losses.communication(session, (records.len(), agreed), network.lost),
            None => session.public().communication(records.len(), agreed),
        },
        records,
    })
}

/// All peers, side by side.
struct Network<'a> {
    session: &'a Session,
    noise: &'a NetworkNoise,
    gossip: &'a Gossip,
    /// What is exchanged in each turn of the averaging schedule.
    turns: &'a [Rounds<'a>],
    /// What all peers end with in each turn, where that is the same; not looked at where sums are of integers.
    commons: Option<&'a [CommonEnd]>,
    /// Every peer's sum, one after the other, or that of all; between releases the query, where the algorithm has no memory.
    sums: Vec<f64>,
    states: States,
    under_way: Vec<ChunkState>,
    /// Averaging messages that were lost.
    lost: u64,
    /// Chunks that are done, and of a whole run.
    done: u64,
    total: u64,
}

impl<'a> Network<'a> {
    fn new(
        session: &'a Session,
        noise: &'a NetworkNoise,
        gossip: &'a Gossip,
        (turns, commons): (&'a [Rounds<'a>], Option<&'a [CommonEnd]>),
    ) -> Self {
        let releases = session.plan().releases().iter();
        let chunks_of = |one: &PlannedRelease| match one.is_own() {
            true => 1,
            false => one.values().div_ceil(CHUNK) as u64,
        };
        let most = releases.clone().map(chunks_of).max().unwrap_or(1);
        let threads = rayon::current_num_threads().max(1) as u64;
        let mut under_way: Vec<ChunkState> = Vec::new();
        under_way.resize_with(most.min(threads) as usize, ChunkState::default);
        let summed = releases.clone().filter(|one| !one.is_own());
        let widest = summed.map(PlannedRelease::values).max().unwrap_or(0);
        // Own coordinates reach everybody with equal bits.
        let gathered = releases.clone().all(PlannedRelease::is_own);
        let equal = session.plan().ring_laws().is_some() || commons.is_some() || gathered;
        let held = match equal {
            true => 1,
            false => session.peers(),
        };
        let mut sums = vec![0.0; held * widest];
        Self {
            session,
            noise,
            gossip,
            turns,
            commons,
            states: States::new(session, held, &mut sums),
            sums,
            under_way,
            lost: 0,
            done: 0,
            total: releases.map(chunks_of).sum(),
        }
    }

    /// Every peer fills its own coordinates: nothing is averaged.
    fn gather(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError> {
        let Current { id, planned, terms } = current;
        let session = self.session;
        let values = planned.values();
        let (height, width) = planned.shape();
        let states = self.states.all(session, &self.sums);
        let mut local = vec![0.0; values * session.peers()];
        local
            .par_chunks_exact_mut(values)
            .enumerate()
            .for_each(|(u, out)| {
                if let Some(rows) = session.rows().contributing(u, planned.spec().batch) {
                    let algorithm = session.plan().algorithm();
                    let prepared = algorithm.prepare(rows, states[u].history());
                    let own = (rows, prepared.as_slice());
                    kernel::add_contribution(session.plan(), id, own, 0..values, terms, out);
                }
            });
        let mut published = local.clone();
        for (u, own) in published.chunks_exact_mut(values).enumerate() {
            let peer = PeerIndex::from_index(u);
            let term = session.planned_noise().coordinate(peer);
            term.add_to(id, terms.scale, own);
            if own.iter().any(|v| !v.is_finite()) {
                let release = id;
                return Err(PeerError::Overflow { peer, release }.into());
            }
        }
        if observer.wants_transcript() {
            observer.transcript(Transcript {
                release: id,
                terms,
                inputs: Inputs::Reals(&published),
                states: &states,
            });
        }
        let block = |values| Block::from_values(height * session.peers(), width, values);
        let sum = Arc::new(block(published.clone()));
        let query = self.states.query_block(session, &self.sums);
        let basis = self
            .states
            .advance_all(session, current, &sum, &mut self.sums)?;
        self.done += 1;
        observer.progress(self.done, self.total);
        Ok(ReleaseRecord {
            release: id,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            sigmas: terms
                .sigmas(session.plan().sigma_of_release(planned, terms.scale))
                .into(),
            query,
            sum,
            basis,
            totals: Totals::of_reals(block(published), block(local)),
            consensus: Some(Consensus::default()),
        })
    }
}

impl Engine for Network<'_> {
    fn front(&self) -> &PublicState {
        self.states.front()
    }

    fn agree(&mut self, planned: &PlannedRelease) -> f64 {
        self.states.agree(self.session, planned, &self.sums)
    }

    fn release(
        &mut self,
        current: Current<'_>,
        observer: &mut dyn Observer,
    ) -> Result<ReleaseRecord, EngineError> {
        let Current { id, planned, terms } = current;
        if planned.is_own() {
            return self.gather(current, observer);
        }
        let session = self.session;
        let algorithm = session.plan().algorithm();
        let values = planned.values();
        let chunks = values.div_ceil(CHUNK) as u64;
        let threads = rayon::current_num_threads().max(1) as u64;
        let prepared: Vec<Option<Vec<f64>>> = (0..session.peers())
            .into_par_iter()
            .map(|u| {
                let rows = session.rows().contributing(u, planned.spec().batch)?;
                Some(algorithm.prepare(rows, self.states.history(u, id, &self.sums)))
            })
            .collect();
        let query = self.states.query_block(session, &self.sums);
        let turn = (session.plan().sums_before(id) % self.turns.len() as u64) as usize;
        let mut rounds = self.turns[turn];
        let lost = match (rounds.exchange, Losses::of(session)) {
            (Exchange::Passing(shares, _), Some(losses)) => Some(shares.lost(&losses, id)),
            _ => None,
        };
        self.lost += lost.as_ref().map_or(0, Lost::count);
        if let Exchange::Passing(shares, _) = rounds.exchange {
            rounds.exchange = Exchange::Passing(shares, lost.as_ref());
        }
        let mut task = ChunkTask {
            session,
            noise: self.noise,
            gossip: self.gossip,
            prepared: &prepared,
            current,
            rounds,
            common: self.commons.map(|commons| &commons[turn]),
            alone: false,
        };
        let together = self.commons.is_some() || terms.steps().is_some();
        let mut transcript = observer.wants_transcript().then(|| {
            let length = session.peers() * values;
            let inputs = match terms.steps() {
                Some(_) => (Vec::new(), vec![0; length]),
                None => (vec![0.0; length], Vec::new()),
            };
            (self.states.all(session, &self.sums), inputs)
        });
        let mut gathered = Gathered::new(planned.shape(), terms);
        let sums = &mut self.sums[..self.states.held() * values];
        let mut first = 0;
        while first < chunks {
            // Whole chunks, one per thread, as long as there are enough; threads share the rest.
            let whole = (values / CHUNK) as u64;
            task.alone = whole < first + threads;
            let wave = threads.min(chunks - first);
            let wave = &mut self.under_way[..wave as usize];
            wave.par_iter_mut()
                .enumerate()
                .for_each(|(k, state)| task.run(first + k as u64, state));
            if let Some(first) = wave.iter().filter_map(|state| state.overflow).min() {
                let (peer, release) = (PeerIndex::from_index(first), id);
                return Err(PeerError::Overflow { peer, release }.into());
            }
            for state in &*wave {
                gathered.add(state);
            }
            if together {
                for state in &*wave {
                    sums[state.range()].copy_from_slice(state.end());
                }
            } else {
                scatter(wave, sums, values);
            }
            if let Some((_, (reals, residues))) = &mut transcript {
                scatter_inputs(wave, reals, values, ChunkState::input);
                scatter_inputs(wave, residues, values, ChunkState::residues);
            }
            first += threads;
            observer.progress(self.done + first.min(chunks), self.total);
        }
        self.done += chunks;
        if let Some((states, (reals, residues))) = &transcript {
            observer.transcript(Transcript {
                release: id,
                terms,
                inputs: match terms.steps() {
                    Some(_) => Inputs::Residues(residues),
                    None => Inputs::Reals(reals),
                },
                states,
            });
        }
        gathered.conclude(terms);
        if observer.wants_rounds() {
            gathered.tell_rounds(id, session.peers(), observer);
        }
        let consensus = if together {
            gathered.agreement(session.peers())
        } else if terms.has_units() {
            // What peers hold has left these units and comes back to them.
            let mut held = sums.to_vec();
            for sum in held.chunks_exact_mut(values) {
                terms.from_units(0..values, sum);
                terms.to_units(0..values, sum);
            }
            gathered.consensus(session.peers(), &held)
        } else {
            gathered.consensus(session.peers(), sums)
        };
        let sum = kernel::released(planned, terms, sums[..values].to_vec())
            .map_err(|error| PeerError::at(PeerIndex(0), id, error))?;
        let basis = self.states.advance(session, current, sums)?;
        Ok(ReleaseRecord {
            release: id,
            iteration: planned.spec().iteration,
            statistic: terms.statistic,
            sensitivity: terms.sensitivity,
            sigmas: terms
                .sigmas(session.plan().sigma_of_release(planned, terms.scale))
                .into(),
            query,
            sum,
            basis,
            totals: gathered.totals,
            consensus: Some(consensus),
        })
    }
}

/// Writes every peer's sums into the array of states.
fn scatter(done: &[ChunkState], sums: &mut [f64], values: usize) {
    let write = |(batch, sums): (usize, &mut [f64])| {
        for state in done {
            let peers = sums.chunks_exact_mut(values);
            let outs = peers.map(|sum| &mut sum[state.range()]);
            state.sums.copy_peers(batch * PEERS_AT_ONCE, outs);
        }
    };
    sums.par_chunks_mut(PEERS_AT_ONCE * values)
        .enumerate()
        .for_each(write);
}

/// Writes what every peer published into an array of the same shape, or of nobody's where it has none.
fn scatter_inputs<T: Copy + Send>(
    done: &[ChunkState],
    inputs: &mut [T],
    values: usize,
    of: fn(&ChunkState, usize) -> &[T],
) {
    let write = |(u, input): (usize, &mut [T])| {
        for state in done {
            input[state.range()].copy_from_slice(of(state, u));
        }
    };
    inputs
        .par_chunks_exact_mut(values)
        .enumerate()
        .for_each(write);
}

/// Sums over all chunks of one release.
struct Gathered {
    totals: Totals,
    /// Σ_u ‖x_u − x̄‖² of the inputs, and after every round if watched.
    rounds: Vec<f64>,
}

impl Gathered {
    fn new((rows, columns): (usize, usize), terms: &Terms) -> Self {
        let zeros = || Block::zeros(rows, columns);
        let mut totals = Totals::of_reals(zeros(), zeros());
        totals.steps = terms.steps().map(|_| StepTotals {
            published: vec![0; rows * columns],
            local: vec![0; rows * columns],
        });
        Self {
            totals,
            rounds: Vec::new(),
        }
    }

    fn add(&mut self, state: &ChunkState) {
        let (range, squares) = (state.range(), state.squares());
        if let (Some(steps), Some(integers)) = (&mut self.totals.steps, &state.integers) {
            let sums = integers.sums();
            steps.published[range.clone()].copy_from_slice(&sums.published);
            steps.local[range].copy_from_slice(&sums.local);
        } else {
            self.totals.published.values_mut()[range.clone()].copy_from_slice(state.totals());
            self.totals.local.values_mut()[range].copy_from_slice(&state.local);
        }
        self.rounds.resize(squares.len(), 0.0);
        for (sum, square) in self.rounds.iter_mut().zip(squares) {
            *sum += square;
        }
    }

    /// Once all chunks are in: what integers stand for.
    fn conclude(&mut self, terms: &Terms) {
        if let (Some(steps), Some(sums)) = (terms.steps(), self.totals.steps.take()) {
            let shape = (
                self.totals.published.rows(),
                self.totals.published.columns(),
            );
            self.totals = Totals::of_steps(steps, shape, sums);
        }
    }

    fn tell_rounds(&self, release: ReleaseId, peers: usize, observer: &mut dyn Observer) {
        let norm = self.totals.published.norm();
        for (number, square) in self.rounds.iter().enumerate() {
            let round = Round(number as u32);
            observer.round(release, round, peers as f64 * square.sqrt() / norm);
        }
    }

    /// Of peers that hold one and the same sum, what the schedule makes of the inputs.
    fn agreement(&self, peers: usize) -> Consensus {
        Consensus {
            initial_spread: self.initial_spread(peers),
            ..Consensus::default()
        }
    }

    fn initial_spread(&self, peers: usize) -> f64 {
        peers as f64 * self.rounds[0].sqrt() / self.totals.published.norm()
    }

    fn consensus(&self, peers: usize, sums: &[f64]) -> Consensus {
        let total = self.totals.published.values();
        let norm = self.totals.published.norm();
        let first = &sums[..total.len()];
        let (worst, apart) = sums
            .par_chunks_exact(total.len())
            .map(|sum| {
                let square = |others: &[f64]| {
                    let squares = sum.iter().zip(others).map(|(x, y)| (x - y).powi(2));
                    squares.sum::<f64>()
                };
                (square(total), square(first))
            })
            .reduce(|| (0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)));
        Consensus {
            disagreement: worst.sqrt() / norm,
            between_peers: apart.sqrt() / norm,
            initial_spread: self.initial_spread(peers),
            approximation: None,
        }
    }
}

#[cfg(test)]
mod tests;
