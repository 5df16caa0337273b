//! A bound on how many interactions a user has.

use serde::Serialize;

use super::Interactions;
use crate::vocabulary::{Label, Seed};

/// What [`Interactions::cap`] kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CapCounts {
    /// The cap.
    pub cap: usize,
    /// Users who had more interactions than the cap.
    pub users_capped: usize,
    /// Interactions before.
    pub interactions_before: usize,
    /// Interactions kept.
    pub interactions_kept: usize,
}

impl Interactions {
    /// Bounds every user's interactions by the public degree cap d_cap = `cap`, as sensitivity at user
    /// level needs it. Users with more keep `cap` of them, chosen uniformly; 0 leaves every row empty.
    ///
    /// Every (user, item) has a priority: 64 bits of `seed` under `Label::DegreeCap`, keyed by the names of both. A
    /// user keeps the `cap` interactions of lowest priority (of equal ones, which two names have with probability
    /// 2⁻⁶⁴, the item that comes first). So the choice is a function of the user's own row and the seed.
    ///
    /// # Neighbours stay neighbours
    /// A change of one user's row changes that user's capped row only, and an empty row stays empty: what differs in
    /// a whole user still does so in at most that. *One interaction added or exchanged is at most one
    /// exchange, addition or removal:* let T be the capped s. Adding an item a to s leaves T, or T + a if |s| < cap, or
    /// T − t + a, where t is the item of T of highest priority. For r = s + a and r′ = s + b both capped rows are
    /// among these: if |s| < cap, T + a and T + b, one exchange; otherwise each is T or T − t plus its own item, with
    /// the same t, so they are equal or one exchange apart. ∎
    ///
    /// One interaction added may therefore push out another: the capped rows are neighbours under an adjacency that
    /// has exchanges, and not where a record is one entry.
    #[must_use]
    pub fn cap(&self, cap: usize, seed: &Seed) -> (Self, CapCounts) {
        let mut users_capped = 0;
        let rows = (0..self.users()).map(|user| {
            let mut row = self.row(user).to_vec();
            if row.len() > cap {
                users_capped += 1;
                let key = seed.named(Label::DegreeCap, self.user_name(user));
                row.sort_by_cached_key(|&item| (key.bits(self.item_name(item as usize)), item));
                row.truncate(cap);
                row.sort_unstable();
            }
            row
        });
        let capped =
            Self::from_valid_rows(rows, self.user_names().to_vec(), self.item_names().to_vec());
        let counts = CapCounts {
            cap,
            users_capped,
            interactions_before: self.len(),
            interactions_kept: capped.len(),
        };
        (capped, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_keeps_a_subset_of_the_long_rows_and_the_short_rows_whole() {
        let data =
            Interactions::from_rows(100, &[(0..100).collect(), vec![7, 9], (20..31).collect()])
                .expect("valid rows");
        let seed = Seed::from_u64(3);
        let (capped, counts) = data.cap(10, &seed);
        assert_eq!(counts.users_capped, 2);
        assert_eq!(counts.interactions_before, 113);
        assert_eq!(counts.interactions_kept, 22);
        for (user, length) in [(0, 10), (1, 2), (2, 10)] {
            let row = capped.row(user);
            assert_eq!(row.len(), length);
            assert!(row.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(row.iter().all(|item| data.row(user).contains(item)));
        }
        assert_eq!(capped, data.cap(10, &seed).0);
        assert_ne!(capped, data.cap(10, &Seed::from_u64(4)).0);
        assert!(data.cap(0, &seed).0.is_empty());
        assert_eq!(data.cap(100, &seed).0, data);
    }

    #[test]
    fn one_users_row_does_not_move_another_users_choice() {
        let rows = |first: Vec<u32>| vec![first, (0..50).collect(), (50..100).collect()];
        let seed = Seed::from_u64(5);
        let cap = |first| {
            let data = Interactions::from_rows(100, &rows(first)).expect("valid rows");
            data.cap(5, &seed).0
        };
        let (full, empty) = (cap((0..100).collect()), cap(vec![]));
        assert_eq!(full.row(1), empty.row(1));
        assert_eq!(full.row(2), empty.row(2));
        // Users draw from streams of their own: equal rows do not make equal choices.
        let shifted: Vec<u32> = full.row(2).iter().map(|item| item - 50).collect();
        assert_ne!(full.row(1), shifted);
    }

    #[test]
    fn every_item_of_a_long_row_is_kept_equally_often() {
        // 2,000 users keep 3 of 8 items each. Every item's count is binomial(2000, 3/8) with standard
        // deviation 21.7; 5.5 deviations on 8 items fail by chance with probability below 4e-7.
        let data = Interactions::from_rows(8, &vec![(0..8).collect(); 2000]).expect("valid rows");
        let (capped, _) = data.cap(3, &Seed::from_u64(11));
        for degree in capped.item_degrees() {
            assert!((f64::from(degree) - 750.0).abs() < 5.5 * 21.7, "{degree}");
        }
    }
}
