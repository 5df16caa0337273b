//! One chunk of a sum of integers mod 2^k: contributions in whole steps, own noise and masks, added exactly.
//!
//! A session has such sums only over a schedule that adds every input exactly once
//! ([`Schedule::sums_exactly`](crate::protocol::averaging::Schedule::sums_exactly)), and addition mod 2^k knows no order: what every peer ends
//! with is the sum of what was published. So it is formed once, in the order of the peers, and the schedule is walked only where somebody
//! wants to see how far the peers are apart after every round.

use std::ops::Range;

use rayon::prelude::*;

use super::gossip::Exchange;
use super::task::ChunkTask;
use super::walk::Walk;
use crate::engine::StepTotals;
use crate::engine::course::Current;
use crate::noise::NoiseChunk;
use crate::protocol::{Steps, kernel};

/// A chunk of integers under way. It keeps its memory from one chunk to the next.
#[derive(Default)]
pub(super) struct Integers {
    /// What every peer published, s × width from the beginning.
    inputs: Vec<u64>,
    /// The sums over all peers, mod 2^k.
    sums: StepTotals,
    /// What every peer ends with, as reals.
    end: Vec<f64>,
    /// Σ_u ‖x_u − x̄‖² of the inputs, and after every round if watched; residues stand for the integers nearest to 0.
    squares: Vec<f64>,
}

impl Integers {
    /// The sums over all peers.
    pub(super) fn sums(&self) -> &StepTotals {
        &self.sums
    }

    /// What every peer ends with, as reals.
    pub(super) fn end(&self) -> &[f64] {
        &self.end
    }

    /// How far the peers are apart before any round, and after every one if watched.
    pub(super) fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// What peer `u` published.
    pub(super) fn input(&self, u: usize) -> &[u64] {
        let width = self.end.len();
        &self.inputs[u * width..][..width]
    }
}

impl ChunkTask<'_> {
    /// Makes and adds up what all peers publish of the coordinates `range`; the first peer whose contribution overflowed is returned.
    pub(super) fn add_up(
        &self,
        steps: &Steps,
        (at, range): (NoiseChunk, Range<usize>),
        state: &mut Integers,
    ) -> Option<usize> {
        let (peers, width) = (self.session.peers(), range.len());
        let length = peers * width;
        if state.inputs.len() < length {
            state.inputs = vec![0; length];
        }
        let inputs = &mut state.inputs[..length];
        let overflow = self.count_steps(steps, range, inputs);
        let sum_of = |inputs: &[u64]| {
            let mut sum = vec![0; width];
            for input in inputs.chunks_exact(width) {
                steps.add_residues(input, &mut sum);
            }
            sum
        };
        let local = sum_of(inputs);
        inputs
            .par_chunks_exact_mut(width)
            .enumerate()
            .for_each(|(u, input)| self.noise.add_own_integers(at, u, input));
        self.noise.add_masks(at, width, inputs, self.alone);
        steps.reduce(inputs);
        let published = sum_of(inputs);
        state.end = steps.to_reals(&published).collect();
        state.sums = StepTotals { published, local };
        state.squares = vec![spread(steps, inputs, &state.end, 1.0)];
        if let (true, Exchange::Listed(walk)) = (self.rounds.watch, self.rounds.exchange) {
            let watched = watch(steps, walk, inputs.to_vec(), &state.end);
            state.squares.extend(watched);
        }
        overflow
    }

    /// Writes every peer's contribution in whole steps, mod 2⁶⁴.
    fn count_steps(&self, steps: &Steps, range: Range<usize>, inputs: &mut [u64]) -> Option<usize> {
        let (plan, Current { id, planned, terms }) = (self.session.plan(), self.current);
        let width = range.len();
        let contribute = |counted: &mut Vec<f64>, (u, out): (usize, &mut [u64])| {
            out.fill(0);
            counted.clear();
            counted.resize(width, 0.0);
            let rows = self.session.rows();
            let rows = rows.contributing(u, planned.spec().batch);
            if let (Some(rows), Some(prepared)) = (rows, &self.prepared[u]) {
                let own = (rows, prepared.as_slice());
                kernel::add_contribution(plan, id, own, range.clone(), terms, counted);
            }
            steps.add(counted, out).is_none().then_some(u)
        };
        inputs
            .par_chunks_exact_mut(width)
            .enumerate()
            .map_init(Vec::new, contribute)
            .flatten()
            .min()
    }
}

/// How far the peers are apart after every round of a schedule that adds.
fn watch(steps: &Steps, walk: &Walk, mut now: Vec<u64>, total: &[f64]) -> Vec<f64> {
    let share = total.len() as f64 / now.len() as f64;
    let spread_after = |round| {
        walk.add_round(round, total.len(), &mut now);
        spread(steps, &now, total, share)
    };
    (0..walk.rounds()).map(spread_after).collect()
}

/// Σ_u ‖share · x_u − x̄‖², coordinate by coordinate in peer order.
fn spread(steps: &Steps, values: &[u64], total: &[f64], share: f64) -> f64 {
    let peers = (values.len() / total.len()) as f64;
    let mut squares = vec![0.0; total.len()];
    for input in values.chunks_exact(total.len()) {
        let numbers = squares.iter_mut().zip(steps.to_reals(input)).zip(total);
        for ((square, x), total) in numbers {
            let apart = share * x - total / peers;
            *square += apart * apart;
        }
    }
    squares.iter().sum()
}
