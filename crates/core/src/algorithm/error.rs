//! Numbers that make no algorithm.

use super::{RatedRows, Text};

/// Numbers that make no algorithm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AlgorithmError {
    /// One of the counts is zero or too large.
    #[error("{what} must lie between {low} and {high}, found {found}")]
    Count {
        /// Which parameter.
        what: &'static str,
        /// Smallest value allowed.
        low: usize,
        /// Largest value allowed.
        high: usize,
        /// The value given.
        found: usize,
    },
    /// A momentum that is negative, NaN or infinite.
    #[error(
        "algorithm.momentum must be a finite number, at least 0, found {found}: a good one is near (lambda_(rank+1) / 2)^2"
    )]
    Momentum {
        /// The value given.
        found: f64,
    },
    /// A number of iterations the algorithm cannot run.
    #[error(
        "algorithm.kind = \"{algorithm}\" releases everything in {needed} iteration(s): set algorithm.iterations = {needed}, \
         found {found}"
    )]
    Iterations {
        /// The algorithm.
        algorithm: &'static str,
        /// The only number it runs.
        needed: u32,
        /// The number given.
        found: u32,
    },
    /// A choice that is still to be made.
    #[error(
        "algorithm.kind = \"auto\" is a choice that `undertone run`, `advise`, `verify` and `audit` make of one experiment, after a pilot: name an \
         algorithm here, such as the one that `undertone advise` recommends"
    )]
    Unchosen,
    /// A number out of its range.
    #[error("algorithm.{key} must be {range}, found {found}")]
    Number {
        /// The key.
        key: &'static str,
        /// The values that it can have.
        range: &'static str,
        /// The value given.
        found: f64,
    },
    /// A key that the algorithm does not have, or needs, or that does not go with the others.
    #[error("algorithm.{key} {why}")]
    Key {
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: Text,
    },
    /// A method of completion where there are no ratings.
    #[error(
        "algorithm.kind = \"{algorithm}\" predicts ratings: set data.values = \"ratings\", with data.ranges and data.row_clip"
    )]
    Ratings {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// Shares that do not divide the budget.
    #[error(
        "completion.shares must be three numbers above 0 that add up to 1, for sums, counts and the triangle, such as [0.10, 0.05, 0.85]; found {found:?}"
    )]
    Shares {
        /// The shares given.
        found: [f64; 3],
    },
    /// Numbers of rows that no rows have.
    #[error(
        "completion needs at least one slot, a clip between 1e-150 and 1e150, and a cap of at least one rating; found {found:?}"
    )]
    Rows {
        /// The numbers given.
        found: RatedRows,
    },
    /// A block of a size that no block has.
    #[error(
        "algorithm.block = {block} with rank = {rank}: blocks hold at least rank and at most as many columns as there are items ({items}); leave \
         block out or change it"
    )]
    Block {
        /// The block asked for.
        block: usize,
        /// The rank.
        rank: usize,
        /// Items n.
        items: usize,
    },
}

/// The most iterations of any algorithm.
pub const MAX_ITERATIONS: u32 = 100_000;

impl AlgorithmError {
    /// The refusal of a key, with the reason and what to change.
    pub fn key(key: &'static str, why: impl Into<Text>) -> Self {
        let why = why.into();
        Self::Key { key, why }
    }

    /// Refuses numbers that rows of ratings cannot have.
    ///
    /// # Errors
    /// [`Self::Rows`].
    pub fn check_rows(found: RatedRows) -> Result<(), Self> {
        match found.are_valid() {
            true => Ok(()),
            false => Err(Self::Rows { found }),
        }
    }

    /// Refuses what is no finite number above 0.
    ///
    /// # Errors
    /// [`Self::Number`].
    pub fn positive(key: &'static str, found: f64) -> Result<(), Self> {
        let range = "a finite number above 0";
        match found.is_finite() && found > 0.0 {
            true => Ok(()),
            false => Err(Self::Number { key, range, found }),
        }
    }

    /// Refuses another number of iterations than the only one that the algorithm runs.
    ///
    /// # Errors
    /// [`Self::Iterations`].
    pub fn check_iterations(algorithm: &'static str, needed: u32, found: u32) -> Result<(), Self> {
        match found == needed {
            true => Ok(()),
            false => Err(Self::Iterations {
                algorithm,
                needed,
                found,
            }),
        }
    }

    /// Refuses a count out of its range.
    ///
    /// # Errors
    /// [`Self::Count`].
    pub fn count(
        what: &'static str,
        (low, high): (usize, usize),
        found: usize,
    ) -> Result<(), Self> {
        match (low..=high).contains(&found) {
            true => Ok(()),
            false => Err(Self::Count {
                what,
                low,
                high,
                found,
            }),
        }
    }

    /// Refuses a rank of 0 or above the number of items, and no iterations or more than [`MAX_ITERATIONS`].
    ///
    /// # Errors
    /// [`Self::Count`].
    pub fn check(items: usize, rank: usize, iterations: u32) -> Result<(), Self> {
        Self::count("algorithm.rank", (1, items), rank)?;
        let most = MAX_ITERATIONS as usize;
        Self::count("algorithm.iterations", (1, most), iterations as usize)
    }
}
