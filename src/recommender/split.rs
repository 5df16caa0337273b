//! Splits interactions into training and held-out ones, so that recommendations can be checked.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::data::Interactions;
use crate::vocabulary::{Label, Seed};

/// The held-out items of every user.
#[derive(Clone, PartialEq, Eq)]
pub struct TestSet {
    rows: Vec<Vec<u32>>,
    unknown: Vec<usize>,
}

/// `Debug` prints the shape only: rows are somebody's.
impl std::fmt::Debug for TestSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sizes = (0..self.users()).map(|user| self.size(user));
        write!(
            f,
            "TestSet({} users, {} items held out)",
            self.users(),
            sizes.sum::<usize>()
        )
    }
}

impl TestSet {
    /// Held-out items given per user: those the training data knows, and the number of others.
    #[cfg(test)]
    pub(super) fn from_rows(rows: &[(Vec<u32>, usize)]) -> Self {
        Self {
            rows: rows.iter().map(|(row, _)| row.clone()).collect(),
            unknown: rows.iter().map(|(_, unknown)| *unknown).collect(),
        }
    }

    /// Number of users of the training data.
    #[must_use]
    pub fn users(&self) -> usize {
        self.rows.len()
    }

    /// The held-out items of `user` that have an index in the training data, ascending.
    #[must_use]
    pub fn row(&self, user: usize) -> &[u32] {
        &self.rows[user]
    }

    /// |test_u|: all held-out items of `user`, also those that no training row knows.
    #[must_use]
    pub fn size(&self, user: usize) -> usize {
        self.rows[user].len() + self.unknown[user]
    }
}

/// Counts of what is held out, matched and left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SplitCounts {
    /// Interactions left for training.
    pub train_interactions: usize,
    /// Interactions held out, of users the training data knows.
    pub test_interactions: usize,
    /// Of these, with items that are not among the training data's: they count as missed.
    pub with_unknown_items: usize,
    /// Of these, also in the same user's training row: they are never recommended and count as missed.
    pub also_in_training: usize,
    /// Users of the training data with something held out.
    pub test_users: usize,
    /// Users of a test file that the training data does not know; they are left out.
    pub unknown_users: usize,
    /// Their interactions, left out too.
    pub of_unknown_users: usize,
}

/// A split that cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// A fraction outside (0, 1).
    #[error("found {found}, expected a fraction above 0 and below 1 such as 0.2")]
    Fraction {
        /// The value given.
        found: f64,
    },
}

/// Holds out every interaction with probability `fraction`, each by a coin of its own.
///
/// The coin of (user, item) is a uniform number that `seed` gives the names of both under `Label::Holdout`: below
/// `fraction` the interaction is held out. It is a function of the seed and the two names alone, and of nothing
/// else that the user's row or the data holds; the probability is `fraction` up to 2⁻⁵³. How many of a user's
/// interactions are held out is therefore binomial: some users keep nothing and some have nothing held out.
///
/// # Neighbours stay neighbours
/// For fixed coins the training row is r ∩ T, where T is the set of items whose coins keep them. So rows that differ in one
/// item have training rows that differ in at most that item; rows that differ by an exchange, training rows that
/// differ by an exchange, in one item or not at all; an empty row stays empty, and no other user's row changes. A rule
/// that looks at the length of a row or at positions in it has none of this: one interaction more reshuffles
/// what is held out of the whole row. ∎
///
/// # Errors
/// [`SplitError::Fraction`] unless 0 < fraction < 1.
pub fn hold_out(
    interactions: &Interactions,
    fraction: f64,
    seed: &Seed,
) -> Result<(Interactions, TestSet, SplitCounts), SplitError> {
    if !(fraction > 0.0 && fraction < 1.0) {
        return Err(SplitError::Fraction { found: fraction });
    }
    let parts = (0..interactions.users()).map(|user| {
        let key = seed.named(Label::Holdout, interactions.user_name(user));
        let held = |item: &u32| key.uniform(interactions.item_name(*item as usize)) < fraction;
        interactions.row(user).iter().copied().partition(held)
    });
    let (test, train): (Vec<Vec<u32>>, Vec<Vec<u32>>) = parts.unzip();
    let train = interactions
        .with_rows(&train)
        .expect("parts of valid rows are valid rows");
    let counts = SplitCounts {
        train_interactions: train.len(),
        test_interactions: interactions.len() - train.len(),
        test_users: test.iter().filter(|row| !row.is_empty()).count(),
        ..SplitCounts::default()
    };
    let unknown = vec![0; test.len()];
    let rows = test;
    Ok((train, TestSet { rows, unknown }, counts))
}

/// Matches the interactions of a test file with the training data **by the names** of users and items:
/// two files number what they name in their own order.
///
/// Users the training data does not know are left out and counted. Items it does not know, or that its
/// filters dropped, cannot be recommended; they count in |test_u| as in the reference code.
#[must_use]
pub fn match_test(train: &Interactions, test: &Interactions) -> (TestSet, SplitCounts) {
    let name = |user| train.user_name(user);
    let users: BTreeMap<&str, usize> = (0..train.users()).map(|user| (name(user), user)).collect();
    let name = |item| train.item_name(item);
    let items: BTreeMap<&str, u32> = (0..train.items())
        .map(|item| (name(item), item as u32))
        .collect();
    // Names are looked up once per item, not once per interaction.
    let index: Vec<Option<u32>> = (0..test.items())
        .map(|item| items.get(test.item_name(item)).copied())
        .collect();
    let mut rows = vec![Vec::new(); train.users()];
    let mut unknown = vec![0; train.users()];
    let mut counts = SplitCounts {
        train_interactions: train.len(),
        ..SplitCounts::default()
    };
    for theirs in 0..test.users() {
        let row = test.row(theirs);
        if row.is_empty() {
            continue;
        }
        let Some(&user) = users.get(test.user_name(theirs)) else {
            counts.unknown_users += 1;
            counts.of_unknown_users += row.len();
            continue;
        };
        let mut known: Vec<u32> = row.iter().filter_map(|&i| index[i as usize]).collect();
        known.sort_unstable();
        let seen = |item: &&u32| train.row(user).binary_search(item).is_ok();
        counts.test_users += 1;
        counts.test_interactions += row.len();
        counts.with_unknown_items += row.len() - known.len();
        counts.also_in_training += known.iter().filter(seen).count();
        unknown[user] = row.len() - known.len();
        rows[user] = known;
    }
    (TestSet { rows, unknown }, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Format, Limits, read};

    fn data(csv: &str) -> Interactions {
        let text = format!("user,item\n{csv}");
        read(
            text.as_bytes(),
            "memory",
            Format::CsvTriples,
            0.0,
            Limits::default(),
        )
        .expect("good")
        .interactions
    }

    /// Rows of 0 to 40 items.
    fn example() -> Interactions {
        let lengths = [0_u32, 1, 2, 3, 5, 10, 40];
        let rows: Vec<Vec<u32>> = lengths.iter().map(|&d| (0..d).collect()).collect();
        Interactions::from_rows(40, &rows).expect("rows")
    }

    #[test]
    fn training_and_held_out_part_the_row_and_are_counted() {
        let all = example();
        for fraction in [0.01, 0.2, 0.5, 0.99] {
            let (train, test, counts) =
                hold_out(&all, fraction, &Seed::from_u64(1)).expect("split");
            for user in 0..all.users() {
                let mut joined = [train.row(user), test.row(user)].concat();
                joined.sort_unstable();
                assert_eq!(joined, all.row(user), "a partition of the row");
                assert_eq!(test.size(user), test.row(user).len());
            }
            assert_eq!(counts.train_interactions, train.len());
            assert_eq!(counts.train_interactions + counts.test_interactions, 61);
            let with_some = (0..all.users()).filter(|&user| test.size(user) > 0);
            assert_eq!(counts.test_users, with_some.count());
        }
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(hold_out(&all, bad, &Seed::from_u64(1)).is_err());
        }
    }

    /// What is held out of a row is what the coins of its own items say, however long the row is, whatever else is in it
    /// and wherever it stands.
    #[test]
    fn a_coin_depends_on_the_two_names_and_the_seed_alone() {
        let seed = Seed::from_u64(5);
        let held = |data: &Interactions, user: &str, seed: &Seed| -> Vec<String> {
            let (_, test, _) = hold_out(data, 0.4, seed).expect("split");
            let user = (0..data.users())
                .find(|&u| data.user_name(u) == user)
                .expect("there");
            let name = |&item: &u32| data.item_name(item as usize).to_owned();
            test.row(user).iter().map(name).collect()
        };
        let lines = |items: &[usize], user: &str| -> String {
            let line = |item: &usize| format!("{user},i{item}\n");
            items.iter().map(line).collect()
        };
        let full: Vec<usize> = (0..60).collect();
        let whole = held(&data(&lines(&full, "a")), "a", &seed);
        assert!((10..40).contains(&whole.len()), "{}", whole.len());
        for drop in 0..60 {
            // One item fewer, in reverse order, after another user: the coins of the others do not move.
            let rest: Vec<usize> = (0..60).rev().filter(|&i| i != drop).collect();
            let text = lines(&[3, 99], "b") + &lines(&rest, "a");
            let mut found = held(&data(&text), "a", &seed);
            let mut expected = whole.clone();
            expected.retain(|name| *name != format!("i{drop}"));
            found.sort_unstable();
            expected.sort_unstable();
            assert_eq!(found, expected, "{drop}");
        }
        let mine = held(&data(&lines(&full, "a")), "a", &Seed::from_u64(6));
        assert_ne!(whole, mine, "another seed");
        let theirs = held(&data(&lines(&full, "b")), "b", &seed);
        assert_ne!(whole, theirs, "another user");
    }

    #[test]
    fn every_interaction_is_held_out_equally_often_whatever_the_length_of_its_row() {
        // 2,000 users with rows of 1, 2, 4 and 8 items in turn: 500 coins at most per item and length, binomial with
        // p = 1/4 and standard deviation 9.7 each; 5.5 deviations on 15 counts fail by chance with probability below 6e-7.
        let rows: Vec<Vec<u32>> = (0..2000)
            .map(|user| (0..1 << (user % 4)).collect())
            .collect();
        let all = Interactions::from_rows(8, &rows).expect("rows");
        let (train, _, _) = hold_out(&all, 0.25, &Seed::from_u64(2)).expect("split");
        for (class, length) in [(0, 1_u32), (1, 2), (2, 4), (3, 8)] {
            for item in 0..length {
                let users = (class..2000).step_by(4);
                let kept = users
                    .filter(|&user| train.row(user).contains(&item))
                    .count();
                assert!(
                    (kept as f64 - 375.0).abs() < 5.5 * 9.7,
                    "{length} {item}: {kept}"
                );
            }
        }
        // Coins of one user are independent: all 8 items stay with probability 0.75^8 = 0.100, in 50 of 500 users, with
        // standard deviation 6.7; 5.5 of them by chance below 4e-8.
        let whole = (3..2000)
            .step_by(4)
            .filter(|&user| train.row(user).len() == 8);
        let whole = whole.count() as f64;
        assert!((whole - 50.1).abs() < 5.5 * 6.7, "{whole}");
    }

    #[test]
    fn a_test_file_is_matched_by_name_and_what_is_unknown_is_counted() {
        // Numbered in another order: b and y come first here.
        let train = data("a,x\na,y\nb,z\nc,x\n");
        let test = data("b,y\nb,w\nd,x\nd,y\na,z\na,x\n");
        let (set, counts) = match_test(&train, &test);
        let names = |user: usize| -> Vec<&str> {
            set.row(user)
                .iter()
                .map(|&i| train.item_name(i as usize))
                .collect()
        };
        assert_eq!(names(0), ["x", "z"]);
        assert_eq!(names(1), ["y"]);
        assert_eq!((set.size(0), set.size(1), set.size(2)), (2, 2, 0));
        assert_eq!(
            counts,
            SplitCounts {
                train_interactions: 4,
                test_interactions: 4,
                with_unknown_items: 1,
                also_in_training: 1,
                test_users: 2,
                unknown_users: 1,
                of_unknown_users: 2,
            }
        );
    }
}
