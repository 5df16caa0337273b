//! Public restrictions of a dataset: the items of a list, and a cap on every user's degree.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Interactions, ItemNames};
use crate::vocabulary::{Label, Seed};

/// What [`Interactions::with_items`] kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FilterCounts {
    /// Items before.
    pub items_before: usize,
    /// Items afterwards: those of the list, also where nobody has them.
    pub items_kept: usize,
    /// Items before that the list does not name.
    pub items_dropped: usize,
    /// Interactions before.
    pub interactions_before: usize,
    /// Interactions kept.
    pub interactions_kept: usize,
    /// Users who had interactions before and have none now; they stay, with an empty row.
    pub users_emptied: usize,
}

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
    /// Keeps the `items` items with the most interactions, as [`ItemNames::most_rated`] lists them.
    ///
    /// Which items are kept depends on everybody's data; an experiment treats the list as public.
    #[must_use]
    pub fn most_rated(&self, items: usize) -> (Self, FilterCounts) {
        self.with_items(&ItemNames::most_rated(self, items))
    }

    /// Keeps the interactions with the items of a public list, whose order becomes that of the columns.
    ///
    /// Items of the list that are not here become empty columns. Users left without interactions stay as users with
    /// an empty row: they are peers whose contribution is zero. Every interaction is kept or dropped by its
    /// item's name alone.
    #[must_use]
    pub fn with_items(&self, list: &ItemNames) -> (Self, FilterCounts) {
        let names = (0_u32..).zip(list.as_slice());
        let places: BTreeMap<&str, u32> = names.map(|(i, name)| (name.as_str(), i)).collect();
        let new_index: Vec<Option<u32>> = (0..self.items())
            .map(|item| places.get(self.item_name(item)).copied())
            .collect();
        let rows = self.rows().map(|row| {
            let mut row: Vec<u32> = row
                .iter()
                .filter_map(|&item| new_index[item as usize])
                .collect();
            row.sort_unstable();
            row
        });
        let filtered =
            Self::from_valid_rows(rows, self.user_names().to_vec(), list.as_slice().to_vec());
        let emptied = self
            .rows()
            .zip(filtered.rows())
            .filter(|(before, after)| !before.is_empty() && after.is_empty());
        let counts = FilterCounts {
            items_before: self.items(),
            items_kept: filtered.items(),
            items_dropped: new_index.iter().filter(|new| new.is_none()).count(),
            interactions_before: self.len(),
            interactions_kept: filtered.len(),
            users_emptied: emptied.count(),
        };
        (filtered, counts)
    }

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
    use crate::data::Limits;

    fn example() -> Interactions {
        // Degrees: item 0: 1, item 1: 3, item 2: 2, item 3: 2, item 4: 0.
        Interactions::from_rows(5, &[vec![0], vec![1, 2, 3], vec![1, 3], vec![1, 2], vec![]])
            .expect("valid rows")
    }

    #[test]
    fn the_most_rated_items_stay_in_file_order_and_ties_go_to_the_earlier() {
        let (kept, counts) = example().most_rated(2);
        let names: Vec<_> = (0..kept.items()).map(|i| kept.item_name(i)).collect();
        assert_eq!(names, ["1", "2"]);
        let rows: Vec<_> = kept.rows().collect();
        assert_eq!(rows, [&[][..], &[0, 1], &[0], &[0, 1], &[]]);
        assert_eq!(
            counts,
            FilterCounts {
                items_before: 5,
                items_kept: 2,
                items_dropped: 3,
                interactions_before: 8,
                interactions_kept: 5,
                users_emptied: 1
            }
        );
    }

    #[test]
    fn a_list_decides_columns_and_order_and_keeps_items_that_nobody_has() {
        let list = ItemNames::read(&b"3\nnew\n1\n"[..], "memory", Limits::default()).expect("good");
        let (kept, counts) = example().with_items(&list);
        assert_eq!(ItemNames::of(&kept), list);
        let rows: Vec<_> = kept.rows().collect();
        assert_eq!(rows, [&[][..], &[0, 2], &[0, 2], &[2], &[]]);
        assert_eq!(kept.item_degrees(), [2, 0, 3]);
        assert_eq!(list.unknown_to(&example()), 1);
        let dropped = (
            counts.items_dropped,
            counts.interactions_kept,
            counts.users_emptied,
        );
        assert_eq!((counts.items_kept, dropped), (3, (3, 5, 1)));
    }

    #[test]
    fn zero_or_too_many_items_keep_all() {
        for items in [0, 5, 6, usize::MAX] {
            let (kept, counts) = example().most_rated(items);
            assert_eq!(kept, example());
            assert_eq!((counts.items_kept, counts.users_emptied), (5, 0));
        }
    }

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
    fn numbers_of_users_and_items_decide_nothing_and_names_do() {
        let row: Vec<u32> = (0..20).collect();
        let data = Interactions::from_rows(20, &[row.clone(), row]).expect("valid rows");
        let reversed: String = (0..20).rev().map(|i| format!("{i}\n")).collect();
        let list = ItemNames::read(reversed.as_bytes(), "memory", Limits::default()).expect("good");
        let (turned, _) = data.with_items(&list);
        let names = |data: &Interactions, user: usize| {
            let (capped, _) = data.cap(4, &Seed::from_u64(2));
            let name = |&item: &u32| capped.item_name(item as usize).to_owned();
            let mut names: Vec<String> = capped.row(user).iter().map(name).collect();
            names.sort_unstable();
            names
        };
        assert_eq!(names(&data, 0), names(&turned, 0));
        assert_ne!(names(&data, 0), names(&data, 1));
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
