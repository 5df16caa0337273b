//! Numbers that make no method of completion but the spectral ridge.

use super::RatedRows;

/// Numbers that make no descent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DescentError {
    /// A key that the algorithm has not, or needs, or that does not go with the others.
    #[error("algorithm.{key} with algorithm.kind = \"{algorithm}\" {why}")]
    Key {
        /// The algorithm.
        algorithm: &'static str,
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
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
    /// A count out of its range.
    #[error("algorithm.{key} must lie between {low} and {high}, found {found}")]
    Count {
        /// The key.
        key: &'static str,
        /// Smallest value allowed.
        low: u32,
        /// Largest value allowed.
        high: u32,
        /// The value given.
        found: u32,
    },
    /// More items and steps than can be computed in a minute.
    #[error(
        "algorithm.kind = \"projected-gradient\" computes all eigenvectors of {items} items in each of {iterations} steps, which takes minutes \
         to hours: items cubed times steps may be at most 4e9; set data.items or algorithm.iterations lower, or take \
         algorithm.kind = \"spectral-ridge\""
    )]
    Large {
        /// Items n.
        items: usize,
        /// Steps T.
        iterations: u32,
    },
    /// Numbers of rows that no rows have.
    #[error(
        "completion needs at least one slot, a clip that is finite and above 0, and a cap of at least one rating; found {found:?}"
    )]
    Rows {
        /// The numbers given.
        found: RatedRows,
    },
}

impl DescentError {
    /// Refuses a count out of its range.
    pub(in crate::algorithm) fn check_count(
        key: &'static str,
        (low, high): (u32, u32),
        found: u32,
    ) -> Result<(), Self> {
        match (low..=high).contains(&found) {
            true => Ok(()),
            false => Err(Self::Count {
                key,
                low,
                high,
                found,
            }),
        }
    }

    /// Refuses what is no finite number above 0.
    pub(in crate::algorithm) fn check_positive(key: &'static str, found: f64) -> Result<(), Self> {
        let range = "a finite number above 0";
        match found.is_finite() && found > 0.0 {
            true => Ok(()),
            false => Err(Self::Number { key, range, found }),
        }
    }

    /// Refuses numbers that rows cannot have.
    pub(in crate::algorithm) fn check_rows(found: RatedRows) -> Result<(), Self> {
        match found.are_valid() {
            true => Ok(()),
            false => Err(Self::Rows { found }),
        }
    }
}
