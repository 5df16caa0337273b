//! The steps of a listed schedule, round by round, over flat arrays.

use crate::protocol::averaging::{PeerStep, fold};
use crate::protocol::{Values, to_f32};
use crate::topology::Graph;

/// What all peers combine in every round of a listed schedule, laid out for flat arrays.
///
/// Steps that only send, and those that leave the value as it is, move nothing here.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// The combinations of all rounds, round after round, ascending peers within each.
    folds: Vec<Fold>,
    /// Where each round's combinations begin; one more entry than rounds.
    rounds: Vec<usize>,
    /// Senders and weights of all combinations.
    messages: Vec<(u32, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct Fold {
    peer: u32,
    own: f64,
    own_at: u32,
    /// Its messages: from here to those of the next one.
    first: usize,
    count: usize,
}

impl Walk {
    /// The walk of these steps, one list per peer of `graph`, over `rounds` rounds.
    ///
    /// # Cost
    /// O(rounds + messages) memory, once per run.
    #[must_use]
    pub fn new(graph: &Graph, rounds: u32, steps: &[Vec<PeerStep>]) -> Self {
        let mut walk = Self {
            rounds: vec![0; rounds as usize + 1],
            ..Self::default()
        };
        let mut all: Vec<(u32, usize, &PeerStep)> = Vec::new();
        for (peer, steps) in steps.iter().enumerate() {
            let changing = |step: &&PeerStep| !step.expect.is_empty() || step.own != 1.0;
            let changing = steps.iter().filter(changing);
            all.extend(changing.map(|step| (step.round, peer, step)));
        }
        all.sort_by_key(|(round, peer, _)| (*round, *peer));
        for (round, peer, step) in all {
            let first = walk.messages.len();
            let neighbours = graph.neighbours(peer);
            let messages = step.expect.iter();
            let messages = messages.map(|e| (neighbours[e.position as usize], e.weight));
            walk.messages.extend(messages);
            walk.rounds[round as usize + 1] += 1;
            walk.folds.push(Fold {
                peer: peer as u32,
                own: step.own,
                own_at: step.own_at,
                first,
                count: step.expect.len(),
            });
        }
        for round in 0..rounds as usize {
            walk.rounds[round + 1] += walk.rounds[round];
        }
        walk
    }

    /// How many rounds there are.
    pub(super) fn rounds(&self) -> usize {
        self.rounds.len().saturating_sub(1)
    }

    /// One round of a schedule that adds only, on integers mod 2⁶⁴ of all peers, `width` of each, in place.
    pub(super) fn add_round(&self, round: usize, width: usize, now: &mut [u64]) {
        let folds = &self.folds[self.rounds[round]..self.rounds[round + 1]];
        let value = |peer: u32| peer as usize * width..(peer as usize + 1) * width;
        let sums = folds.iter().map(|step| {
            let mut sum = match step.own == 0.0 {
                true => vec![0_u64; width],
                false => now[value(step.peer)].to_vec(),
            };
            for (sender, _) in &self.messages[step.first..step.first + step.count] {
                for (sum, x) in sum.iter_mut().zip(&now[value(*sender)]) {
                    *sum = sum.wrapping_add(*x);
                }
            }
            sum
        });
        // All send what they had before the round.
        let sums: Vec<Vec<u64>> = sums.collect();
        for (step, sum) in folds.iter().zip(sums) {
            now[value(step.peer)].copy_from_slice(&sum);
        }
    }

    /// One round of a tile, in place: first all new values from the old ones, rounded to `values`, then all at once.
    pub(super) fn round<const T: usize>(
        &self,
        round: usize,
        values: Values,
        now: &mut [[f64; T]],
        scratch: &mut [[f64; T]],
    ) {
        let folds = &self.folds[self.rounds[round]..self.rounds[round + 1]];
        for step in folds {
            let messages = self.messages[step.first..step.first + step.count].iter();
            let messages =
                messages.map(|&(sender, weight)| (weight, now[sender as usize].as_slice()));
            let peer = step.peer as usize;
            fold(
                (step.own, step.own_at),
                &now[peer],
                messages,
                &mut scratch[peer],
            );
            if values == Values::F32 {
                to_f32(&mut scratch[peer]);
            }
        }
        for step in folds {
            now[step.peer as usize] = scratch[step.peer as usize];
        }
    }
}
