//! All peers in lockstep over flat arrays, with the protocol's own kernels.
//!
//! One array holds every peer's noisy sum, s × the coordinates of a release. In each iteration the coordinates are
//! processed in chunks (the unit of the noise streams): the chunk of every peer's noisy input is made, averaged over
//! all K rounds tile by tile while it sits in cache, and written back as that peer's sum. Then each peer advances its
//! public state: in place, where the algorithm has no memory, so that no other array of that size exists.
//!
//! Nothing here depends on the number of threads or the tile width: every coordinate sees the same
//! operations in the same order as in a [`Peer`](crate::protocol::Peer), so the bits agree.

mod chunk;
mod gossip;
mod states;
mod walk;

use std::sync::Arc;

use rayon::prelude::*;

use super::{
    Communication, Consensus, EngineError, IterationRecord, Observer, Outcome, Session, Totals,
    Transcript,
};
use crate::linalg::Block;
use crate::noise::NetworkNoise;
use crate::protocol::PeerError;
use crate::protocol::averaging::Form;
use crate::vocabulary::{CHUNK, Iteration, PeerIndex, Round};
use chunk::{ChunkState, ChunkTask};
use gossip::PEERS_AT_ONCE;
pub use gossip::{Averaged, Exchange, Gossip, Rounds, tile_width};
use states::States;
pub use walk::Walk;

/// Runs the session.
///
/// # Errors
/// [`EngineError::Start`], [`EngineError::Noise`] and [`EngineError::Program`] for a starting block, noise or averaging that is
/// not the plan's; [`EngineError::Peer`] with the first peer whose input or sum overflowed, whose sum has no unique basis, or
/// who would go on with a query that is not orthonormal.
///
/// # Cost
/// Time O(L·(entries·p + n p·(peers + noise edges + K·edges))); memory one array of s × the release plus a few
/// s × [`CHUNK`] buffers per thread, and what an algorithm with memory keeps at every peer.
pub fn run(session: &Session, observer: &mut dyn Observer) -> Result<Outcome, EngineError> {
    let parameters = session.plan().parameters();
    let algorithm = session.plan().algorithm();
    session.admit()?;
    let noise = NetworkNoise::of(session.planned_noise(), session.noise_graph());
    if !noise.is_planned(session.noise_graph(), session.plan().sigmas()) {
        return Err(EngineError::Noise);
    }
    let program = session.program();
    let gossip = Gossip::new(session.graph(), session.mixing());
    let walk = match program.form() {
        Form::Recurrence(_) => Walk::default(),
        Form::Listed(steps) => Walk::new(session.graph(), program.rounds(), steps),
    };
    let rounds = Rounds {
        exchange: match program.form() {
            Form::Recurrence(coefficients) => Exchange::Recurrence(coefficients),
            Form::Listed(_) => Exchange::Listed(&walk),
        },
        factor: program.factor(),
        watch: observer.wants_rounds(),
    };
    let values = session.plan().values();
    let mut sums = vec![0.0; session.peers() * values];
    let mut states = States::new(session, algorithm.as_ref(), &mut sums);
    let chunks = values.div_ceil(CHUNK) as u64;
    let total = chunks * u64::from(parameters.iterations);
    let threads = rayon::current_num_threads().max(1) as u64;
    let mut under_way: Vec<ChunkState> = Vec::new();
    under_way.resize_with(chunks.min(threads) as usize, ChunkState::default);
    let mut records = Vec::new();
    for number in 1..=parameters.iterations {
        let iteration = Iteration(number);
        let statistic = states.statistic(session, &sums);
        let sensitivity = parameters.sensitivity.bound(statistic);
        let scale = session.plan().noise_scale(iteration, sensitivity);
        let prepared: Vec<Vec<f64>> = session
            .rows()
            .par_iter()
            .enumerate()
            .map(|(u, rows)| algorithm.prepare(rows, states.query(u, &sums, values)))
            .collect();
        let query = states.query_block(session, &sums);
        let mut task = ChunkTask {
            session,
            noise: &noise,
            gossip: &gossip,
            algorithm: algorithm.as_ref(),
            prepared: &prepared,
            iteration,
            scale,
            rounds,
            alone: false,
        };
        let mut transcript = observer
            .wants_transcript()
            .then(|| (states.queries(&sums), vec![0.0; sums.len()]));
        let mut gathered = Gathered::new(session.plan().shape());
        let mut first = 0;
        while first < chunks {
            let wave = threads.min(chunks - first);
            task.alone = wave < threads;
            let wave = &mut under_way[..wave as usize];
            wave.par_iter_mut()
                .enumerate()
                .for_each(|(k, state)| task.run(first + k as u64, state));
            if let Some(first) = wave.iter().filter_map(|state| state.overflow).min() {
                let peer = PeerIndex::from_index(first);
                return Err(PeerError::Overflow { peer, iteration }.into());
            }
            for state in &*wave {
                gathered.add(state);
            }
            scatter(wave, &mut sums, values);
            if let Some((_, inputs)) = &mut transcript {
                scatter_inputs(wave, inputs, values);
            }
            first += threads;
            let done = u64::from(number - 1) * chunks + first.min(chunks);
            observer.progress(done, total);
        }
        if let Some((queries, inputs)) = &transcript {
            observer.transcript(Transcript {
                iteration,
                scale,
                inputs,
                queries,
            });
        }
        if observer.wants_rounds() {
            gathered.tell_rounds(iteration, session.peers(), observer);
        }
        let consensus = gathered.consensus(session.peers(), &sums);
        let (height, width) = session.plan().shape();
        let sum = Arc::new(Block::from_values(height, width, sums[..values].to_vec()));
        let sigma = session.plan().sigma_of_sum(scale);
        let basis = states.advance(session, algorithm.as_ref(), (iteration, sigma), &mut sums)?;
        let record = IterationRecord {
            iteration,
            statistic,
            sensitivity,
            query,
            sum,
            basis,
            totals: gathered.totals,
            consensus: Some(consensus),
        };
        observer.iteration(&record);
        records.push(record);
    }
    Ok(Outcome {
        records,
        communication: Communication::of(session.traffic(), parameters.iterations),
    })
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

/// Writes what every peer published into an array of the same shape.
fn scatter_inputs(done: &[ChunkState], inputs: &mut [f64], values: usize) {
    let write = |(u, input): (usize, &mut [f64])| {
        for state in done {
            input[state.range()].copy_from_slice(state.input(u));
        }
    };
    inputs
        .par_chunks_exact_mut(values)
        .enumerate()
        .for_each(write);
}

/// Sums over all chunks of one iteration.
struct Gathered {
    totals: Totals,
    /// Σ_u ‖x_u − x̄‖² of the inputs, and after every round if watched.
    rounds: Vec<f64>,
}

impl Gathered {
    fn new((rows, columns): (usize, usize)) -> Self {
        let zeros = || Block::zeros(rows, columns);
        Self {
            totals: Totals {
                published: zeros(),
                local: zeros(),
            },
            rounds: Vec::new(),
        }
    }

    fn add(&mut self, state: &ChunkState) {
        let (published, squares) = (state.sums.totals(), state.sums.squares());
        self.totals.published.values_mut()[state.range()].copy_from_slice(published);
        self.totals.local.values_mut()[state.range()].copy_from_slice(&state.local);
        self.rounds.resize(squares.len(), 0.0);
        for (sum, square) in self.rounds.iter_mut().zip(squares) {
            *sum += square;
        }
    }

    fn tell_rounds(&self, iteration: Iteration, peers: usize, observer: &mut dyn Observer) {
        let norm = self.totals.published.norm();
        for (number, square) in self.rounds.iter().enumerate() {
            let round = Round(number as u32);
            observer.round(iteration, round, peers as f64 * square.sqrt() / norm);
        }
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
            initial_spread: peers as f64 * self.rounds[0].sqrt() / norm,
            approximation: None,
        }
    }
}
