//! One chunk of coordinates of all peers: make the noisy inputs, average them, hand back the sums.

use std::ops::Range;

use rayon::prelude::*;

use super::gossip::{Averaged, Gossip};
use crate::algorithm::Algorithm;
use crate::engine::Session;
use crate::noise::NetworkNoise;
use crate::vocabulary::{CHUNK, Iteration};

/// What one chunk needs to know about its iteration.
pub(super) struct ChunkTask<'a> {
    pub(super) session: &'a Session,
    pub(super) noise: &'a NetworkNoise,
    pub(super) gossip: &'a Gossip,
    pub(super) algorithm: &'a dyn Algorithm,
    pub(super) prepared: &'a [Vec<f64>],
    pub(super) iteration: Iteration,
    pub(super) scale: f64,
    /// Whether somebody wants to see what was published.
    pub(super) keep_inputs: bool,
    /// Whether somebody wants to see how far the peers are apart after every round.
    pub(super) watch_rounds: bool,
    /// Whether fewer chunks than threads are under way, so that threads must share one chunk's noise.
    pub(super) alone: bool,
}

/// One finished chunk.
pub(super) struct ChunkOutput {
    start: usize,
    /// Every peer's sum.
    pub(super) sums: Averaged,
    /// What every peer published, s × width; empty unless kept.
    pub(super) inputs: Vec<f64>,
    /// Σ_u of the published inputs, in peer order.
    pub(super) published: Vec<f64>,
    /// Σ_u of the local contributions, in peer order.
    pub(super) local: Vec<f64>,
    /// Σ_u ‖x_u − x̄‖² over this chunk's coordinates.
    pub(super) spread: f64,
    /// The first peer whose noisy input is not finite: it would have stopped before publishing.
    pub(super) overflow: Option<usize>,
}

impl ChunkOutput {
    /// The coordinates of this chunk.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.published.len()
    }
}

impl ChunkTask<'_> {
    /// Processes chunk number `chunk`.
    pub(super) fn run(&self, chunk: u64) -> ChunkOutput {
        let parameters = self.session.plan.parameters();
        let start = chunk as usize * CHUNK;
        let width = CHUNK.min(self.session.plan.values() - start);
        let mut inputs = vec![0.0; self.session.peers() * width];
        let local = self.contribute(start, width, &mut inputs);
        let (iteration, scale) = (self.iteration, self.scale);
        if self.alone {
            self.noise
                .add_chunk_in_parallel(iteration, chunk, scale, width, &mut inputs);
        } else {
            self.noise
                .add_chunk(iteration, chunk, scale, width, &mut inputs);
        }
        let published = column_sums(&inputs, width);
        let overflow = first_overflow(&inputs, &published);
        let spread = spread(&inputs, &published, self.session.peers() as f64);
        let peers = f64::from(parameters.peers);
        let sums = self.gossip.average(
            &parameters.schedule,
            peers,
            width,
            &inputs,
            self.watch_rounds,
        );
        if !self.keep_inputs {
            inputs = Vec::new();
        }
        ChunkOutput {
            start,
            sums,
            inputs,
            published,
            local,
            spread,
            overflow,
        }
    }

    /// Adds every peer's local contribution; returns their sum.
    fn contribute(&self, start: usize, width: usize, inputs: &mut [f64]) -> Vec<f64> {
        self.session
            .rows
            .par_iter()
            .zip(self.prepared)
            .zip(inputs.par_chunks_exact_mut(width))
            .for_each(|((rows, prepared), out)| {
                self.algorithm
                    .add_contribution(rows, prepared, start..start + width, out);
            });
        column_sums(inputs, width)
    }
}

/// The first peer with an input that is not finite; such an input shows in the sum over all peers.
fn first_overflow(inputs: &[f64], published: &[f64]) -> Option<usize> {
    let finite = |x: &[f64]| x.iter().all(|v| v.is_finite());
    if finite(published) {
        return None;
    }
    inputs
        .chunks_exact(published.len())
        .position(|x| !finite(x))
}

fn column_sums(inputs: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for x in inputs.chunks_exact(width) {
        for (sum, value) in sums.iter_mut().zip(x) {
            *sum += value;
        }
    }
    sums
}

fn spread(inputs: &[f64], total: &[f64], peers: f64) -> f64 {
    let squares = |x: &[f64]| {
        x.iter()
            .zip(total)
            .map(|(x, y)| (x - y / peers).powi(2))
            .sum::<f64>()
    };
    inputs.chunks_exact(total.len()).map(squares).sum()
}
