//! One chunk of coordinates of all peers: make the noisy inputs, average them, hand back the sums.

use std::ops::Range;

use rayon::prelude::*;

use super::gossip::Averaged;
use super::integers::Integers;
use super::task::ChunkTask;
use super::together::Together;
use crate::engine::course::Current;
use crate::noise::NoiseChunk;
use crate::protocol::kernel;
use crate::vocabulary::CHUNK;

/// Peers whose contributions are made side by side and added up while they are in cache.
const BATCH: usize = 64;

/// The chunk under way on one thread. It keeps its memory from one chunk to the next: at many peers the
/// operating system's work on fresh pages would cost as much as the averaging.
#[derive(Default)]
pub(super) struct ChunkState {
    range: Range<usize>,
    /// What every peer published, s × width from the beginning.
    inputs: Vec<f64>,
    /// Every peer's sum, and what is known of the published inputs.
    pub(super) sums: Averaged,
    /// The one sum of peers that all end with the same bits, and what is known of the published inputs.
    pub(super) together: Together,
    /// What takes the place of all of these where sums are of integers.
    pub(super) integers: Option<Integers>,
    /// Whether `sums` were made: where all peers end with the same bits only somebody who watches every round needs them.
    averaged: bool,
    /// Σ_u of the local contributions, in peer order.
    pub(super) local: Vec<f64>,
    /// The first peer whose noisy input is not finite: it would have stopped before publishing.
    pub(super) overflow: Option<usize>,
}

impl ChunkState {
    /// The coordinates of this chunk.
    pub(super) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Σ_u of the published inputs, one per coordinate.
    pub(super) fn totals(&self) -> &[f64] {
        match self.averaged {
            true => self.sums.totals(),
            false => self.together.totals(),
        }
    }

    /// Σ_u ‖x_u − x̄‖² of the inputs, and after every round if watched.
    pub(super) fn squares(&self) -> &[f64] {
        match (&self.integers, self.averaged) {
            (Some(integers), _) => integers.squares(),
            (None, true) => self.sums.squares(),
            (None, false) => std::slice::from_ref(self.together.square()),
        }
    }

    /// What all peers end with, where that is the same.
    pub(super) fn end(&self) -> &[f64] {
        match &self.integers {
            Some(integers) => integers.end(),
            None => self.together.end(),
        }
    }

    /// What peer `u` published, in real numbers.
    pub(super) fn input(&self, u: usize) -> &[f64] {
        &self.inputs[u * self.range.len()..][..self.range.len()]
    }

    /// What peer `u` published, in integers; nothing where numbers are real.
    pub(super) fn residues(&self, u: usize) -> &[u64] {
        let integers = self.integers.as_ref();
        integers.map_or(&[], |integers| integers.input(u))
    }
}

impl ChunkTask<'_> {
    /// Processes chunk number `chunk`.
    pub(super) fn run(&self, chunk: u64, state: &mut ChunkState) {
        let start = chunk as usize * CHUNK;
        let width = CHUNK.min(self.current.planned.values() - start);
        let at = NoiseChunk {
            release: self.current.id,
            chunk,
            unit: self.current.terms.scale,
        };
        state.range = start..start + width;
        if let Some(steps) = self.current.terms.steps() {
            let integers = state.integers.get_or_insert_default();
            state.overflow = self.add_up(steps, (at, start..start + width), integers);
            return;
        }
        state.integers = None;
        let length = self.session.peers() * width;
        if state.inputs.len() < length {
            state.inputs = vec![0.0; length];
        }
        let inputs = &mut state.inputs[..length];
        self.contribute(at, state.range.clone(), inputs, &mut state.local);
        if self.alone {
            self.noise.add_pairs_in_parallel(at, width, inputs);
        } else {
            self.noise.add_pairs(at, width, inputs);
        }
        self.rounds.values.round(inputs);
        if let Some(common) = self.common {
            let threads = if self.alone {
                rayon::current_num_threads()
            } else {
                1
            };
            state
                .together
                .evaluate(common, self.rounds.values, (width, inputs), threads);
        }
        state.averaged = self.common.is_none() || self.rounds.watch;
        if state.averaged {
            self.gossip
                .average(self.rounds, (width, inputs), &mut state.sums);
        }
        let inputs = &state.inputs[..length];
        state.overflow = first_overflow(inputs, state.totals());
    }

    /// Makes every peer's local contribution, whose sum goes to `local`, and adds its own noise.
    fn contribute(
        &self,
        at: NoiseChunk,
        range: Range<usize>,
        inputs: &mut [f64],
        local: &mut Vec<f64>,
    ) {
        let width = range.len();
        local.clear();
        local.resize(width, 0.0);
        let (plan, Current { id, planned, terms }) = (self.session.plan(), self.current);
        let batches = self.prepared.chunks(BATCH);
        let batches = batches.zip(inputs.chunks_mut(BATCH * width));
        for (batch, (prepared, inputs)) in batches.enumerate() {
            prepared
                .par_iter()
                .zip(inputs.par_chunks_exact_mut(width))
                .enumerate()
                .for_each(|(k, (prepared, out))| {
                    out.fill(0.0);
                    let rows = self.session.rows();
                    let rows = rows.contributing(batch * BATCH + k, planned.spec().batch);
                    if let (Some(rows), Some(prepared)) = (rows, prepared) {
                        let own = (rows, prepared.as_slice());
                        kernel::add_contribution(plan, id, own, range.clone(), terms, out);
                    }
                });
            for x in inputs.chunks_exact(width) {
                for (sum, value) in local.iter_mut().zip(x) {
                    *sum += value;
                }
            }
            inputs
                .par_chunks_exact_mut(width)
                .enumerate()
                .for_each(|(u, out)| self.noise.add_own(at, batch * BATCH + u, out));
        }
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
