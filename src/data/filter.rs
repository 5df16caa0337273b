//! Public restrictions of a dataset: the most rated items, and a cap on every user's degree.

use rand::RngExt;
use serde::Serialize;

use super::Interactions;
use crate::vocabulary::{Label, Seed};

/// What [`Interactions::most_rated`] kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FilterCounts {
    /// Items before.
    pub items_before: usize,
    /// Items kept.
    pub items_kept: usize,
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
    /// Keeps the `items` items with the most interactions; 0, or at least as many as there are, keeps all.
    ///
    /// Among items with equally many interactions the one that appears first in the file is kept. Kept
    /// items stay in file order. Users left without interactions stay as users with an empty row: they
    /// are peers whose contribution is zero.
    ///
    /// Which items are kept depends on everybody's data; an experiment treats the list as public.
    #[must_use]
    pub fn most_rated(&self, items: usize) -> (Self, FilterCounts) {
        let wanted = if items == 0 { self.items() } else { items };
        let degrees = self.item_degrees();
        let mut kept: Vec<u32> = (0..self.items() as u32).collect();
        kept.sort_by_key(|&item| std::cmp::Reverse(degrees[item as usize]));
        kept.truncate(wanted);
        kept.sort_unstable();

        let mut new_index = vec![None; self.items()];
        for (new, &old) in (0_u32..).zip(&kept) {
            new_index[old as usize] = Some(new);
        }
        // Indices keep their order, so rows stay ascending.
        let rows = self.rows().map(|row| {
            row.iter()
                .filter_map(|&item| new_index[item as usize])
                .collect::<Vec<u32>>()
        });
        let names = kept
            .iter()
            .map(|&item| self.item_name(item as usize).to_owned())
            .collect();
        let filtered = Self::from_valid_rows(rows, self.user_names().to_vec(), names);
        let emptied = self
            .rows()
            .zip(filtered.rows())
            .filter(|(before, after)| !before.is_empty() && after.is_empty());
        let counts = FilterCounts {
            items_before: self.items(),
            items_kept: filtered.items(),
            interactions_before: self.len(),
            interactions_kept: filtered.len(),
            users_emptied: emptied.count(),
        };
        (filtered, counts)
    }

    /// Bounds every user's interactions by the public degree cap d_cap = `cap`, as sensitivity at user
    /// level needs it. Users with more keep `cap` of them, chosen uniformly; 0 leaves every row empty.
    ///
    /// The choice of user u is a function of u's row, u's index and the seed alone: it is drawn from
    /// `seed.key(Label::Partition, u, 1)`, a subject that [`assign`](super::assign) does not use. So
    /// replacing or emptying one user's row changes no other row. (Deleting a user, which would shift the
    /// indices after it, is not how an absent user is modelled: an absent user is an empty row.)
    #[must_use]
    pub fn cap(&self, cap: usize, seed: &Seed) -> (Self, CapCounts) {
        let mut users_capped = 0;
        let rows = (0..self.users()).map(|user| {
            let mut row = self.row(user).to_vec();
            if row.len() > cap {
                users_capped += 1;
                let mut generator = seed.key(Label::Partition, user as u32, 1).stream(0, 0);
                // The first `cap` places of a Fisher–Yates shuffle are a uniform subset.
                for place in 0..cap {
                    let other = generator.random_range(place..row.len());
                    row.swap(place, other);
                }
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
                interactions_before: 8,
                interactions_kept: 5,
                users_emptied: 1
            }
        );
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
