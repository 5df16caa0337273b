//! What peers publish where sums are of integers mod 2^k, held against the planned noise and masks: they must be equal.

use std::ops::Range;

use rayon::prelude::*;

use super::Redrawn;
use crate::engine::Session;
use crate::linalg::Block;
use crate::noise::NoiseChunk;
use crate::protocol::{Steps, Terms};
use crate::vocabulary::{CHUNK, PeerIndex, ReleaseId};

/// What a peer contributes, without noise, in whole steps.
type Contributed<'a> = dyn Fn(usize) -> Block + Sync + 'a;

/// The coordinates of a peer that are drawn again.
type Turn<'a> = dyn Fn(usize) -> Range<usize> + Sync + 'a;

/// Draws the planned noise of every peer again, over the chunk that `turn` says; `contributed` is what a peer contributes. Anything but equal residues is a gap that nothing
/// explains; published − contribution − masks is the own noise that is really there.
pub(super) fn redraw(
    honest: &Session,
    release: ReleaseId,
    (inputs, terms, steps): (&[u64], &Terms, &Steps),
    (contributed, turn): (&Contributed<'_>, &Turn<'_>),
) -> Vec<Redrawn> {
    let values = inputs.len() / honest.peers();
    let redraw = |(u, published): (usize, &[u64])| {
        let local = contributed(u);
        let range = turn(u);
        let at = NoiseChunk {
            release,
            chunk: (range.start / CHUNK) as u64,
            unit: terms.scale,
        };
        let mut known = vec![0; range.len()];
        let counted = steps.add(&local.values()[range.clone()], &mut known);
        let peer = PeerIndex::from_index(u);
        if honest.planned_noise().has_pairwise() {
            for &partner in honest.noise_graph().neighbours(u) {
                let mask = honest.planned_noise().shared(peer, PeerIndex(partner));
                mask.add_integers(at, &mut known);
            }
        }
        let published = &published[range];
        let own: Vec<u64> = published
            .iter()
            .zip(&known)
            .map(|(x, y)| x.wrapping_sub(*y))
            .collect();
        let mut expected = known;
        honest
            .planned_noise()
            .own(peer)
            .add_integers(at, &mut expected);
        steps.reduce(&mut expected);
        let same = counted.is_some() && expected == published;
        Redrawn {
            gap: if same { 0.0 } else { f64::INFINITY },
            own: steps
                .to_reals(&own)
                .map(|x| (x / terms.scale).powi(2))
                .sum(),
            coordinates: own.len(),
        }
    };
    inputs
        .par_chunks_exact(values)
        .enumerate()
        .map(redraw)
        .collect()
}
