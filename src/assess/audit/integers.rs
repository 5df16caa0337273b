//! What an adversary sees where sums are of integers mod 2^k: the sum of the victim's piece.

use super::game::{Adversary, Seen};
use super::scaled::SIZES;
use crate::engine::Transcript;
use crate::protocol::Steps;

impl Adversary<'_> {
    /// What integers show. They are added mod 2^k before anybody looks at their size.
    pub(super) fn seen_in_steps(
        &mut self,
        transcript: &Transcript<'_>,
        inputs: &[u64],
        steps: &Steps,
    ) -> Seen {
        let scale = transcript.terms.scale;
        let per_unit = |residues: &[u64]| -> Vec<f64> {
            steps.to_reals(residues).map(|x| x / scale).collect()
        };
        let (game, mut piece, mut victims) = (self.game, Vec::new(), Vec::new());
        for v in game.honest() {
            let left = self.left_in_steps(transcript, inputs, steps, v);
            if game.weight(v) != 0.0 {
                piece.resize(left.len(), 0);
                steps.add_residues(&left, &mut piece);
            }
            if v == game.victim() {
                victims = left;
            }
        }
        let weight = game.weight(game.victim());
        let combined: Vec<f64> = per_unit(&piece).iter().map(|x| weight * x).collect();
        let last = self.last_in_steps.replace(victims.clone());
        let difference = last.map(|last| {
            let moved = victims.iter().zip(&last).map(|(a, b)| a.wrapping_sub(*b));
            per_unit(&moved.collect::<Vec<u64>>())
        });
        Seen {
            in_sum: combined.clone(),
            by_size: SIZES.map(|_| combined.clone()),
            combined,
            victims: per_unit(&victims),
            difference,
            spread: 0.0,
        }
    }

    /// What an honest peer published minus what the adversary knows of it, mod 2⁶⁴.
    fn left_in_steps(
        &self,
        transcript: &Transcript<'_>,
        inputs: &[u64],
        steps: &Steps,
        v: usize,
    ) -> Vec<u64> {
        let local = self.local(transcript, v);
        let mut known = vec![0; local.len()];
        // A contribution that is no number would have stopped its peer before it published.
        let _ = steps.add(&local, &mut known);
        for shared in self.shared(v) {
            shared.add_integers_to(transcript.release, &mut known);
        }
        let published = inputs[v * known.len()..].iter().zip(&known);
        published.map(|(x, k)| x.wrapping_sub(*k)).collect()
    }
}
