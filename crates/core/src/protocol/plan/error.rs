//! Plans that cannot be run.

use crate::algorithm::{AlgorithmError, Text, Unsupported};
use crate::noise::SigmaError;
use crate::noise::integer::UnsupportedSigma;
use crate::privacy::{Adjacency, PrivacyError, SensitivityRule};
use crate::vocabulary::{Quantity, ReleaseId};

/// A plan that cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SessionPlanError {
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
    /// Contributions, or shared noise, that 64-bit floating-point numbers hold too coarsely.
    #[error(
        "rounding to 64-bit floating-point numbers may move {release} by {found:.1e} of {beside}, and at most 1/64 is allowed: {advice}"
    )]
    Rounding {
        /// What is released.
        release: Quantity,
        /// The share that rounding may have.
        found: f64,
        /// Of what.
        beside: &'static str,
        /// What to change.
        advice: &'static str,
    },
    /// Numbers that make no algorithm.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// A quantity without a proved bound: noise scaled by another would protect nothing.
    #[error(transparent)]
    Sensitivity(#[from] PrivacyError),
    /// An algorithm that makes other releases than the plan has.
    #[error(
        "the program planned is not that of the algorithm, \"{algorithm}\": plan Algorithm::program of the algorithm that the session runs"
    )]
    OtherProgram {
        /// The name in the program.
        algorithm: Text,
    },
    /// More coordinates per release than a message holds.
    #[error(
        "algorithm.kind = \"{algorithm}\" on {dimension} items would have every peer release {found} numbers at once, a \
         message holds at most {most}: lower data.items or algorithm.rank"
    )]
    TooWide {
        /// The algorithm.
        algorithm: Text,
        /// Items n.
        dimension: usize,
        /// Coordinates of one release.
        found: usize,
        /// The most a message holds.
        most: usize,
    },
    /// A declared release that is none.
    #[error("algorithm \"{algorithm}\" declares {release} wrongly: {problem}")]
    Release {
        /// The algorithm.
        algorithm: Text,
        /// Which release.
        release: ReleaseId,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Noise factors that are not one per release.
    #[error("{found} noise factors for {releases} releases: give none or one each")]
    Factors {
        /// How many.
        found: usize,
        /// How many are needed.
        releases: usize,
    },
    /// Noise factors that spend more than the plan's releases may.
    #[error(
        "the noise factors of {releases} releases cost as much as {found} even ones: raise them until the sum of their \
         inverse squares, of Laplace noise of their inverses, is at most {releases}"
    )]
    Overspent {
        /// Σ 1/f_l², of Laplace noise Σ 1/f_l, over the releases that one record meets, the most over all batches.
        found: f64,
        /// What it may be: the number of releases that one record meets.
        releases: f64,
    },
    /// Integers that make no ring.
    #[error("the plan of sums mod 2^k: {problem}")]
    Ring {
        /// What is wrong, and what to change.
        problem: &'static str,
    },
    /// Laplace noise that is not dealt as any plan deals it.
    #[error("the plan of Laplace noise: {problem}")]
    Laplace {
        /// What is wrong.
        problem: &'static str,
    },
    /// Wishart noise that is not dealt as any plan deals it.
    #[error("the plan of Wishart noise: {problem}")]
    Wishart {
        /// What is wrong.
        problem: &'static str,
    },
    /// A program that the plan's noise does not go with.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Own noise of a ring that no sampler draws.
    #[error(transparent)]
    Sampler(#[from] UnsupportedSigma),
    /// A standard deviation that no noise has.
    #[error(transparent)]
    Sigma(#[from] SigmaError),
    /// Bounds for rows as they are held, under an algorithm that makes rows of its own.
    #[error(
        "algorithm \"{algorithm}\" makes rows of its own and adds up those, for which no bound is proved under adjacency = \"{adjacency}\" with \
         sensitivity = \"{rule}\": set privacy.adjacency = \"user\" or \"replace-user\", and privacy.sensitivity = \"unit-row\""
    )]
    OwnRows {
        /// The algorithm.
        algorithm: Text,
        /// What one record is.
        adjacency: Adjacency,
        /// How its effect is bounded.
        rule: SensitivityRule,
    },
    /// Users who are replaced, under noise that does not cover it.
    #[error(
        "algorithm \"{algorithm}\" with these constants plans too little noise for adjacency = \"replace-user\": set privacy.adjacency = \"user\" or \
         algorithm.mode = \"tight\""
    )]
    NotReplaced {
        /// The algorithm.
        algorithm: Text,
    },
    /// Own coordinates without noise, although sums have some.
    #[error(
        "algorithm \"{algorithm}\" releases own coordinates: set sigma_coordinate to a curator's standard deviation per \
         unit sensitivity, as sums have noise"
    )]
    BareCoordinates {
        /// The algorithm.
        algorithm: Text,
    },
    /// Peers with noise under an algorithm that only somebody who sees all rows can run.
    #[error(
        "algorithm \"{algorithm}\" searches for thresholds by comparing secrets, which no sum of peers' noisy inputs does: leave the peers \
         without noise and use engine \"central\", or another clip"
    )]
    CuratorOnly {
        /// The algorithm.
        algorithm: Text,
    },
}
