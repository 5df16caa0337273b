//! One item for another.

use rand::{Rng, RngExt};

use super::item_sets::{missing, paired, with_row};
use super::{Adjacency, Neighbouring};
use crate::data::Interactions;

/// One user exchanges one of its items for one it does not have. The distance is the number of exchanges;
/// datasets in which a user has another number of items are not comparable.
#[derive(Clone, Copy, Debug)]
pub struct Swap;

impl Neighbouring for Swap {
    type Data = Interactions;

    const ADJACENCY: Adjacency = Adjacency::Swap;

    fn distance(a: &Interactions, b: &Interactions) -> Option<f64> {
        let mut swaps = 0;
        for (a, b) in paired(a, b)? {
            if a.len() != b.len() {
                return None;
            }
            swaps += missing(a, b);
        }
        Some(swaps as f64)
    }

    /// A uniform user among those with some but not all items; then a uniform item out and a uniform one in.
    fn random_adjacent<R: Rng + ?Sized>(a: &Interactions, rng: &mut R) -> Option<Interactions> {
        let able: Vec<usize> = (0..a.users())
            .filter(|&user| !a.row(user).is_empty() && a.row(user).len() < a.items())
            .collect();
        if able.is_empty() {
            return None;
        }
        let user = able[rng.random_range(0..able.len())];
        let mut row = a.row(user).to_vec();
        let others: Vec<u32> = (0..a.items() as u32)
            .filter(|item| row.binary_search(item).is_err())
            .collect();
        let out = rng.random_range(0..row.len());
        row[out] = others[rng.random_range(0..others.len())];
        Some(with_row(a, user, row))
    }
}
