//! Adjacency by one interaction: two data sets differ in one entry of the rating matrix R.

use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Interaction, Neighbouring};
use super::item_sets::{missing, paired, with_row};
use crate::interactions::Interactions;

impl Neighbouring for Interaction {
    type Data = Interactions;

    const ADJACENCY: Adjacency = Adjacency::Interaction;

    fn distance(a: &Interactions, b: &Interactions) -> Option<f64> {
        let flips: usize = paired(a, b)?
            .map(|(a, b)| missing(a, b) + missing(b, a))
            .sum();
        Some(flips as f64)
    }

    /// A uniform entry of R, flipped.
    fn random_adjacent<R: Rng + ?Sized>(a: &Interactions, rng: &mut R) -> Option<Interactions> {
        if a.users() == 0 || a.items() == 0 {
            return None;
        }
        let user = rng.random_range(0..a.users());
        let item = rng.random_range(0..a.items()) as u32;
        let mut row = a.row(user).to_vec();
        match row.binary_search(&item) {
            Ok(position) => {
                row.remove(position);
            }
            Err(position) => row.insert(position, item),
        }
        Some(with_row(a, user, row))
    }
}
