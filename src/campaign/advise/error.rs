//! Why there is no advice.

/// Why there is no advice.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AdviseError {
    /// A number of a guess that is out of range.
    #[error("the assumed {what} must be a number from {low} to {high}, found {found}")]
    Guess {
        /// Which.
        what: &'static str,
        /// The least allowed.
        low: f64,
        /// The largest allowed.
        high: f64,
        /// The value given.
        found: f64,
    },
    /// Rows of numbers.
    #[error(
        "advice is drawn from stand-ins of interactions, and these are rows of numbers: compare algorithms in a sweep with sweep.error = \
         \"variance\" on public data of the same kind"
    )]
    Numbers,
    /// Noise of another law than candidates are compared under.
    #[error(
        "candidates are compared under Gaussian noise, and noise.distribution is \"laplace\" or \"wishart\": compare them in a sweep, or set \
         noise.distribution = \"gaussian\" and privacy.delta"
    )]
    Laplace,
    /// The eigenvectors of another matrix.
    #[error(
        "candidates are compared by the eigenvectors of A, and algorithm.precondition = \"items\" asks for those of P A P: leave precondition out, or compare \
         algorithms in a sweep"
    )]
    Preconditioned,
    /// Recommendations from a released matrix.
    #[error(
        "candidates are compared by the error of eigenvectors, and [recommender] makes recommendations of a released Gram matrix, which few candidates release: leave \
         [recommender] out, or keep the file's algorithm"
    )]
    Recommender,
    /// A number of users that is private.
    #[error(
        "advice depends on the number of users, which peers.partition = \"hashed\" keeps private: give a public list of users with data.users_file, or choose \
         another partition"
    )]
    HiddenUsers,
    /// Nothing to draw stand-ins from.
    #[error("at least one guess at the data is needed, found none")]
    NoGuess,
    /// Shares of other items.
    #[error("a pilot of these data has a share for each of {items} items, found {found}")]
    Shares {
        /// Shares given.
        found: usize,
        /// Items.
        items: usize,
    },
    /// A budget that nothing fits.
    #[error(
        "no candidate sends at most {budget} bytes from the busiest peer: the cheapest, {cheapest}, sends {least}; raise \
         --bytes, or lower algorithm.rank or the degree of the graph"
    )]
    Budget {
        /// The budget.
        budget: u64,
        /// The cheapest candidate.
        cheapest: String,
        /// What that sends.
        least: u64,
    },
    /// Nothing can be run.
    #[error(
        "no candidate has a proved sensitivity for this adjacency, rule and cap, or could be run: {0}"
    )]
    NoCandidate(String),
}
