//! What a peer makes of its value and the messages of a step.

use std::sync::Arc;

use super::fold::fold;
use super::mix::{mix, mix_over};
use super::schedule::{Part, PeerSchedule};
use crate::protocol::values::Values;

impl PeerSchedule {
    /// Steps of this peer in the first turn; of a schedule that passes mass, none.
    #[must_use]
    pub fn steps(&self) -> usize {
        match self.part() {
            Part::Recurrence { coefficients, .. } => coefficients.len(),
            Part::Listed { steps, .. } => steps.len(),
            Part::Passing(_) => 0,
        }
    }

    /// The peer's value after the step at position `at` of the first turn, rounded to what travels unchanged, from its value before it, the one before
    /// that (ignored where the step has no weight for it; its memory is used again where nobody else holds it), and the blocks that the step waits for in ascending order of their senders.
    pub(in crate::protocol) fn combined<'m>(
        &self,
        at: usize,
        (current, mut previous): (&Arc<Vec<f64>>, Arc<Vec<f64>>),
        mut blocks: impl Iterator<Item = &'m Arc<Vec<f64>>>,
        values: Values,
    ) -> Arc<Vec<f64>> {
        match self.part() {
            Part::Recurrence {
                coefficients,
                self_weight,
                weights,
            } => {
                let blocks = blocks.map(|values| values.as_slice());
                let neighbours: Vec<(f64, &[f64])> = weights.iter().copied().zip(blocks).collect();
                let (coefficients, own) = (coefficients[at], *self_weight);
                // Once its neighbours have what it said a round ago, nobody but the peer holds it any more.
                if let Some(block) = Arc::get_mut(&mut previous) {
                    mix_over(coefficients, own, current, &neighbours, block);
                    values.round(block);
                    return previous;
                }
                let mut out = vec![0.0; current.len()];
                mix(coefficients, own, current, &neighbours, &previous, &mut out);
                values.round(&mut out);
                Arc::new(out)
            }
            // Shares are taken elsewhere.
            Part::Passing(_) => Arc::clone(current),
            Part::Listed { steps, .. } => {
                let step = &steps[at];
                match (step.own == 0.0, step.expect.as_slice()) {
                    // Nothing changes: the block itself goes on, as 1 times it would.
                    (false, []) if step.own == 1.0 => Arc::clone(current),
                    (true, [only]) if only.weight == 1.0 => {
                        Arc::clone(blocks.next().unwrap_or(current))
                    }
                    _ => {
                        let weights = step.expect.iter().map(|expected| expected.weight);
                        let messages = weights.zip(blocks.map(|values| values.as_slice()));
                        let mut out = vec![0.0; current.len()];
                        fold((step.own, step.own_at), current, messages, &mut out);
                        values.round(&mut out);
                        Arc::new(out)
                    }
                }
            }
        }
    }
}
