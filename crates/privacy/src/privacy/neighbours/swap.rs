//! Adjacency by exchanging one item of a user for another.

use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Interaction, Neighbouring, Swap};
use super::item_sets::{missing, paired, with_row};
use crate::interactions::Interactions;

impl Neighbouring for Swap {
    type Data = Interactions;

    const ADJACENCY: Adjacency = Adjacency::Swap;

    fn distance(a: &Interactions, b: &Interactions) -> Option<f64> {
        let steps: usize = paired(a, b)?
            .map(|(a, b)| missing(a, b).max(missing(b, a)))
            .sum();
        Some(steps as f64)
    }

    /// A uniform user, and one of its steps: with probability 3/4 an exchange, if it has some but not all items, of a
    /// uniform item out and a uniform one in; otherwise a uniform entry, flipped.
    fn random_adjacent<R: Rng + ?Sized>(a: &Interactions, rng: &mut R) -> Option<Interactions> {
        if a.users() == 0 || a.items() == 0 {
            return None;
        }
        let user = rng.random_range(0..a.users());
        let mut row = a.row(user).to_vec();
        let able = !row.is_empty() && row.len() < a.items();
        if !able || !rng.random_bool(0.75) {
            return Interaction::random_adjacent(a, rng);
        }
        let others: Vec<u32> = (0..a.items() as u32)
            .filter(|item| row.binary_search(item).is_err())
            .collect();
        let out = rng.random_range(0..row.len());
        row[out] = others[rng.random_range(0..others.len())];
        Some(with_row(a, user, row))
    }
}
