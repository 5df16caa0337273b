//! Set operations on rows of items that the adjacencies on users share.

use rand::{Rng, RngExt};

use crate::interactions::Interactions;

/// The rows of the two datasets, side by side; `None` if they have other users or other items.
pub(super) fn paired<'a>(
    a: &'a Interactions,
    b: &'a Interactions,
) -> Option<impl Iterator<Item = (&'a [u32], &'a [u32])>> {
    (a.users() == b.users() && a.items() == b.items())
        .then(|| (0..a.users()).map(|user| (a.row(user), b.row(user))))
}

/// Number of items in `a` and not in `b`; both ascend.
pub(super) fn missing(a: &[u32], b: &[u32]) -> usize {
    a.iter()
        .filter(|item| b.binary_search(item).is_err())
        .count()
}

/// `a` with the row of `user` replaced by the items of `row`, distinct and in range, in any order.
pub(super) fn with_row(a: &Interactions, user: usize, mut row: Vec<u32>) -> Interactions {
    row.sort_unstable();
    let rows: Vec<Vec<u32>> = (0..a.users())
        .map(|other| {
            if other == user {
                row.clone()
            } else {
                a.row(other).to_vec()
            }
        })
        .collect();
    Interactions::from_rows(a.items(), &rows)
        .expect("rows of a dataset and a sorted set of its items are valid rows")
}

/// A random set of items, in random order: its size is uniform in 0 ..= `items`, the items uniform given it.
pub(super) fn random_set<R: Rng + ?Sized>(items: usize, rng: &mut R) -> Vec<u32> {
    let mut all: Vec<u32> = (0..items as u32).collect();
    let size = rng.random_range(0..=items);
    for place in 0..size {
        let other = rng.random_range(place..items);
        all.swap(place, other);
    }
    all.truncate(size);
    all
}
