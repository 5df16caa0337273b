//! One chunk of coordinates of all peers: make the noisy inputs, average them, hand back the sums.

use std::ops::Range;

use super::Terms;
use crate::algorithm::Algorithm;
use crate::engine::Session;
use crate::protocol::averaging::mix;
use crate::vocabulary::{CHUNK, Iteration};

/// What one chunk needs to know about its iteration.
pub(super) struct ChunkTask<'a> {
    pub(super) session: &'a Session,
    pub(super) terms: &'a Terms,
    pub(super) algorithm: &'a dyn Algorithm,
    pub(super) prepared: &'a [Vec<f64>],
    pub(super) iteration: Iteration,
    pub(super) sensitivity: f64,
    /// Whether somebody wants to see what was published.
    pub(super) keep_inputs: bool,
    /// Whether somebody wants to see how far the peers are apart after every round.
    pub(super) watch_rounds: bool,
}

/// One finished chunk.
pub(super) struct ChunkOutput {
    start: usize,
    width: usize,
    /// Every peer's sum, s × width.
    sums: Vec<f64>,
    /// What every peer published, s × width; empty unless kept.
    inputs: Vec<f64>,
    /// Σ_u of the published inputs, in peer order.
    pub(super) published: Vec<f64>,
    /// Σ_u of the local contributions, in peer order.
    pub(super) local: Vec<f64>,
    /// Σ_u ‖x_u − x̄‖² over this chunk's coordinates.
    pub(super) spread: f64,
    /// The same after every averaging round, round 0 first; empty unless watched.
    pub(super) rounds: Vec<f64>,
}

impl ChunkOutput {
    /// The coordinates of this chunk.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.start + self.width
    }

    /// Writes every peer's sum into the array of sums.
    pub(super) fn scatter(&self, sums: &mut [f64], values: usize) {
        self.copy(&self.sums, sums, values);
    }

    /// Writes what every peer published into an array of the same shape, if it was kept.
    pub(super) fn scatter_inputs(&self, inputs: &mut [f64], values: usize) {
        self.copy(&self.inputs, inputs, values);
    }

    fn copy(&self, from: &[f64], to: &mut [f64], values: usize) {
        for (to, from) in to
            .chunks_exact_mut(values)
            .zip(from.chunks_exact(self.width))
        {
            to[self.range()].copy_from_slice(from);
        }
    }
}

impl ChunkTask<'_> {
    /// Processes chunk number `chunk`.
    pub(super) fn run(&self, chunk: u64) -> ChunkOutput {
        let start = chunk as usize * CHUNK;
        let width = CHUNK.min(self.session.plan.values() - start);
        let mut inputs = vec![0.0; self.session.peers() * width];
        let local = self.contribute(start, width, &mut inputs);
        self.add_noise(chunk, width, &mut inputs);
        let published = column_sums(&inputs, width);
        let spread = spread(&inputs, &published, self.session.peers() as f64);
        let kept = if self.keep_inputs {
            inputs.clone()
        } else {
            Vec::new()
        };
        let rounds = self.average(width, &mut inputs);
        let peers = f64::from(self.session.plan.parameters().peers);
        for value in &mut inputs {
            *value *= peers;
        }
        ChunkOutput {
            start,
            width,
            sums: inputs,
            inputs: kept,
            published,
            local,
            spread,
            rounds,
        }
    }

    /// Adds every peer's local contribution; returns their sum.
    fn contribute(&self, start: usize, width: usize, inputs: &mut [f64]) -> Vec<f64> {
        for ((rows, prepared), out) in self
            .session
            .rows
            .iter()
            .zip(self.prepared)
            .zip(inputs.chunks_exact_mut(width))
        {
            self.algorithm
                .add_contribution(rows, prepared, start..start + width, out);
        }
        column_sums(inputs, width)
    }

    /// Adds every term: own noise first, then each edge's one stream at both of its ends. Edges ascend,
    /// so each peer's terms are added in ascending partner order, as the peer itself adds them.
    fn add_noise(&self, chunk: u64, width: usize, inputs: &mut [f64]) {
        for (term, out) in self.terms.own.iter().zip(inputs.chunks_exact_mut(width)) {
            term.add_chunk(self.iteration, chunk, self.sensitivity, out);
        }
        let mut buffer = vec![0.0; width];
        for (lower, upper, term, scale) in &self.terms.pairs {
            let (head, tail) = inputs.split_at_mut(*upper as usize * width);
            let plus = &mut head[*lower as usize * width..][..width];
            let minus = (&mut tail[..width], *scale);
            term.add_chunk_to_both(
                self.iteration,
                chunk,
                self.sensitivity,
                plus,
                minus,
                &mut buffer,
            );
        }
    }

    /// All averaging rounds, tile by tile. Returns Σ_u ‖x_u − x̄‖² after each if somebody watches.
    fn average(&self, width: usize, inputs: &mut [f64]) -> Vec<f64> {
        let watched = self.session.plan.parameters().schedule.len() + 1;
        let mut squares = vec![0.0; if self.watch_rounds { watched } else { 0 }];
        let tile = tile_width(self.session.peers());
        let mut start = 0;
        while start < width {
            let tile = tile.min(width - start);
            self.average_tile(width, start..start + tile, inputs, &mut squares);
            start += tile;
        }
        squares
    }

    fn average_tile(
        &self,
        width: usize,
        range: Range<usize>,
        inputs: &mut [f64],
        squares: &mut [f64],
    ) {
        let (graph, mixing) = (self.session.graph(), self.session.mixing());
        let tile = range.len();
        let mut current: Vec<f64> = inputs
            .chunks_exact(width)
            .flat_map(|x| &x[range.clone()])
            .copied()
            .collect();
        let mut previous = current.clone();
        let mut next = vec![0.0; current.len()];
        let mut watched = squares.iter_mut();
        // Averaging keeps the sum, so that of the inputs serves for every round.
        let total = match watched.len() {
            0 => Vec::new(),
            _ => column_sums(&current, tile),
        };
        let mut watch = |values: &[f64]| {
            if let Some(square) = watched.next() {
                *square += spread(values, &total, self.session.peers() as f64);
            }
        };
        watch(&current);
        for coefficients in &self.session.plan.parameters().schedule {
            for (u, out) in next.chunks_exact_mut(tile).enumerate() {
                let at = |v: usize| v * tile..(v + 1) * tile;
                let neighbours = mixing
                    .neighbour_weights(u)
                    .iter()
                    .zip(graph.neighbours(u))
                    .map(|(&weight, &v)| (weight, &current[at(v as usize)]));
                mix(
                    *coefficients,
                    mixing.self_weight(u),
                    &current[at(u)],
                    neighbours,
                    &previous[at(u)],
                    out,
                );
            }
            std::mem::swap(&mut previous, &mut current);
            std::mem::swap(&mut current, &mut next);
            watch(&current);
        }
        for (x, averaged) in inputs
            .chunks_exact_mut(width)
            .zip(current.chunks_exact(tile))
        {
            x[range.clone()].copy_from_slice(averaged);
        }
    }
}

/// Coordinates per tile such that three copies of all peers' tiles stay in a megabyte or so of cache, and
/// at least one cache line.
fn tile_width(peers: usize) -> usize {
    (((1 << 16) / peers.max(1)) & !7).clamp(8, CHUNK)
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
