//! Adjacency by replacing one user's row with any other.

use rand::{Rng, RngExt};

use super::super::adjacency::{Adjacency, Neighbouring, ReplaceUser};
use super::item_sets::{paired, random_set, with_row};
use crate::interactions::Interactions;

impl Neighbouring for ReplaceUser {
    type Data = Interactions;

    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;

    fn distance(a: &Interactions, b: &Interactions) -> Option<f64> {
        let changed = paired(a, b)?.filter(|(a, b)| a != b).count();
        Some(changed as f64)
    }

    /// A uniform user, given a random set of items other than its own.
    fn random_adjacent<R: Rng + ?Sized>(a: &Interactions, rng: &mut R) -> Option<Interactions> {
        if a.users() == 0 || a.items() == 0 {
            return None;
        }
        let user = rng.random_range(0..a.users());
        // The set drawn is the user's own with probability at most 1/2: with one item two sets, each equally likely.
        loop {
            let mut row = random_set(a.items(), rng);
            row.sort_unstable();
            if row != a.row(user) {
                return Some(with_row(a, user, row));
            }
        }
    }
}
