//! Numbers that make no algorithm.

use super::{ClipError, DescentError, RatedRows};

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
    /// A rank the algorithm does not have.
    #[error(
        "algorithm.kind = \"{algorithm}\" finds one eigenvector: set algorithm.rank = 1, found {found}; deflation finds several"
    )]
    Rank {
        /// The algorithm.
        algorithm: &'static str,
        /// The rank given.
        found: usize,
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
    /// A share of the budget that leaves nothing to one side.
    #[error(
        "algorithm.eigenvalue_share must lie strictly between 0 and 1, found {found}: 0.05 leaves most of the budget to the vectors"
    )]
    EigenvalueShare {
        /// The value given.
        found: f64,
    },
    /// A choice that is still to be made.
    #[error(
        "algorithm.kind = \"auto\" is a choice that `undertone run`, `advise`, `verify` and `audit` make of one experiment, after a pilot: name an \
         algorithm here, such as the one that `undertone advise` recommends"
    )]
    Unchosen,
    /// Numbers that make no descent.
    #[error(transparent)]
    Descent(#[from] DescentError),
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
    /// A coherence that no vector has.
    #[error(
        "algorithm.coherence must lie between 1 and the number of items, {items}, found {found}: it is a guess at n times the largest squared \
         entry of the eigenvector"
    )]
    Coherence {
        /// The value given.
        found: f64,
        /// Items n.
        items: usize,
    },
    /// Numbers that make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
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
    /// A coherence without the scale that it is for, or the other way round.
    #[error(
        "algorithm.scale and algorithm.coherence: scale = \"fixed\" needs a coherence, and scale = \"adaptive\" has none"
    )]
    Scale,
}

/// The most iterations of any algorithm.
pub const MAX_ITERATIONS: u32 = 100_000;

impl AlgorithmError {
    /// Refuses a count out of its range.
    pub(super) fn count(
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
    pub(super) fn check(items: usize, rank: usize, iterations: u32) -> Result<(), Self> {
        Self::count("algorithm.rank", (1, items), rank)?;
        let most = MAX_ITERATIONS as usize;
        Self::count("algorithm.iterations", (1, most), iterations as usize)
    }
}
