//! Adjacency by one whole user: all interactions of the user, or none.

use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Neighbouring, User};
use super::item_sets::{paired, random_set, with_row};
use crate::interactions::Interactions;

impl Neighbouring for User {
    type Data = Interactions;

    const ADJACENCY: Adjacency = Adjacency::User;

    fn distance(a: &Interactions, b: &Interactions) -> Option<f64> {
        let steps: usize = paired(a, b)?
            .map(|(a, b)| match (a == b, a.is_empty() || b.is_empty()) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            })
            .sum();
        Some(steps as f64)
    }

    /// A uniform user: zeroed out if it has anything, otherwise given a random set of items.
    fn random_adjacent<R: Rng + ?Sized>(a: &Interactions, rng: &mut R) -> Option<Interactions> {
        if a.users() == 0 || a.items() == 0 {
            return None;
        }
        let user = rng.random_range(0..a.users());
        let mut row = Vec::new();
        while a.row(user).is_empty() && row.is_empty() {
            row = random_set(a.items(), rng);
        }
        Some(with_row(a, user, row))
    }
}
