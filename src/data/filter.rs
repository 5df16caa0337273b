//! The restriction of a dataset to the items of a public list.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Interactions, ItemNames};

/// What [`ItemNames::restrict`] kept.
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

impl ItemNames {
    /// The interactions with the items of this public list, whose order becomes that of the columns.
    ///
    /// Items of the list that are not here become empty columns. Users left without interactions stay as users with
    /// an empty row: they are peers whose contribution is zero. Every interaction is kept or dropped by its
    /// item's name alone.
    #[must_use]
    pub fn restrict(&self, data: &Interactions) -> (Interactions, FilterCounts) {
        let names = (0_u32..).zip(self.as_slice());
        let places: BTreeMap<&str, u32> = names.map(|(i, name)| (name.as_str(), i)).collect();
        let new_index: Vec<Option<u32>> = (0..data.items())
            .map(|item| places.get(data.item_name(item)).copied())
            .collect();
        let rows = data.rows().map(|row| {
            let mut row: Vec<u32> = row
                .iter()
                .filter_map(|&item| new_index[item as usize])
                .collect();
            row.sort_unstable();
            row
        });
        let filtered = Interactions::from_valid_rows(
            rows,
            data.user_names().to_vec(),
            self.as_slice().to_vec(),
        );
        let emptied = data
            .rows()
            .zip(filtered.rows())
            .filter(|(before, after)| !before.is_empty() && after.is_empty());
        let counts = FilterCounts {
            items_before: data.items(),
            items_kept: filtered.items(),
            items_dropped: new_index.iter().filter(|new| new.is_none()).count(),
            interactions_before: data.len(),
            interactions_kept: filtered.len(),
            users_emptied: emptied.count(),
        };
        (filtered, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Limits;
    use crate::vocabulary::Seed;

    fn example() -> Interactions {
        // Degrees: item 0: 1, item 1: 3, item 2: 2, item 3: 2, item 4: 0.
        Interactions::from_rows(5, &[vec![0], vec![1, 2, 3], vec![1, 3], vec![1, 2], vec![]])
            .expect("valid rows")
    }

    #[test]
    fn the_most_rated_items_stay_in_file_order_and_ties_go_to_the_earlier() {
        let (kept, counts) = ItemNames::most_rated(&example(), 2).restrict(&example());
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
        let (kept, counts) = list.restrict(&example());
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
            let (kept, counts) = ItemNames::most_rated(&example(), items).restrict(&example());
            assert_eq!(kept, example());
            assert_eq!((counts.items_kept, counts.users_emptied), (5, 0));
        }
    }

    #[test]
    fn numbers_of_users_and_items_decide_nothing_and_names_do() {
        let row: Vec<u32> = (0..20).collect();
        let data = Interactions::from_rows(20, &[row.clone(), row]).expect("valid rows");
        let reversed: String = (0..20).rev().map(|i| format!("{i}\n")).collect();
        let list = ItemNames::read(reversed.as_bytes(), "memory", Limits::default()).expect("good");
        let (turned, _) = list.restrict(&data);
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
}
