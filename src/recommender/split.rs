//! Which interactions are kept from training, so that recommendations can be checked against them.

use std::collections::BTreeMap;

use rand::RngExt;
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

/// What is held out, so that nothing disappears unseen.
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

/// Holds out a fraction of every user's interactions, chosen uniformly.
///
/// A user with d ≥ 2 interactions keeps at least one and has at least one held out: of the d,
/// round(fraction · d) moved into 1..d − 1. A user with fewer keeps them. The choice of user u is drawn from
/// `seed.key(Label::Holdout, u, 0)` and is a function of u's row, u's index and the seed alone.
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
    let mut train = Vec::with_capacity(interactions.users());
    let mut test = Vec::with_capacity(interactions.users());
    for user in 0..interactions.users() {
        let mut row = interactions.row(user).to_vec();
        let mut held = Vec::new();
        if row.len() >= 2 {
            let count = (fraction * row.len() as f64).round() as usize;
            let count = count.clamp(1, row.len() - 1);
            let mut generator = seed.key(Label::Holdout, user as u32, 0).stream(0, 0);
            // The first places of a Fisher–Yates shuffle are a uniform subset.
            for place in 0..count {
                let other = generator.random_range(place..row.len());
                row.swap(place, other);
            }
            let kept = row.split_off(count);
            held = std::mem::replace(&mut row, kept);
            held.sort_unstable();
            row.sort_unstable();
        }
        train.push(row);
        test.push(held);
    }
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
/// filters dropped, cannot be recommended; they count in |test_u| as in the reference code (ref D.7).
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

    #[test]
    fn every_user_with_two_keeps_one_and_has_one_held_out() {
        let lengths = [0_u32, 1, 2, 3, 5, 10, 40];
        let rows: Vec<Vec<u32>> = lengths.iter().map(|&d| (0..d).collect()).collect();
        let all = Interactions::from_rows(40, &rows).expect("rows");
        for (fraction, expected) in [
            (0.2, [0, 0, 1, 1, 1, 2, 8]),
            (0.01, [0, 0, 1, 1, 1, 1, 1]),
            (0.99, [0, 0, 1, 2, 4, 9, 39]),
        ] {
            let (train, test, counts) =
                hold_out(&all, fraction, &Seed::from_u64(1)).expect("split");
            for (user, &held) in expected.iter().enumerate() {
                assert_eq!(test.size(user), held, "{fraction} {user}");
                let mut joined = [train.row(user), test.row(user)].concat();
                joined.sort_unstable();
                assert_eq!(joined, rows[user], "a partition of the row");
            }
            assert_eq!(counts.test_interactions, expected.iter().sum::<usize>());
            assert_eq!(counts.train_interactions + counts.test_interactions, 61);
            assert_eq!(counts.test_users, 5);
        }
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(hold_out(&all, bad, &Seed::from_u64(1)).is_err());
        }
    }

    #[test]
    fn users_choose_for_themselves_and_by_the_seed() {
        let rows = |first: Vec<u32>| vec![first, (0..50).collect(), (50..100).collect()];
        let split = |first, seed| {
            let all = Interactions::from_rows(100, &rows(first)).expect("rows");
            hold_out(&all, 0.2, &Seed::from_u64(seed)).expect("split").1
        };
        let (full, empty) = (split((0..100).collect(), 5), split(vec![], 5));
        assert_eq!((full.row(1), full.row(2)), (empty.row(1), empty.row(2)));
        let shifted: Vec<u32> = full.row(2).iter().map(|item| item - 50).collect();
        assert_ne!(full.row(1), shifted, "streams of their own");
        assert_ne!(full.row(1), split(vec![], 6).row(1));
        assert_ne!(
            full.row(1),
            (0..10).collect::<Vec<u32>>(),
            "not the first ten"
        );
    }

    #[test]
    fn every_interaction_is_held_out_equally_often() {
        // 2,000 users hold out 2 of 8 items each: binomial counts with mean 500 and standard deviation
        // 19.4; 5.5 deviations on 8 items fail by chance with probability below 4e-7.
        let all = Interactions::from_rows(8, &vec![(0..8).collect(); 2000]).expect("rows");
        let (train, _, _) = hold_out(&all, 0.25, &Seed::from_u64(2)).expect("split");
        for degree in train.item_degrees() {
            assert!((f64::from(degree) - 1500.0).abs() < 5.5 * 19.4, "{degree}");
        }
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
