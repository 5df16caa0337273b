//! What can be wrong with the `[pilot]` table.

use crate::privacy::PrivacyError;

/// Why the `[pilot]` table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PilotTableError {
    /// A share that is none.
    #[error(
        "[pilot] share = {found} must be at least 0 and below 1: 0.05 leaves 95 % of the budget to the run, 0 makes no pilot"
    )]
    Share {
        /// The share asked for.
        found: f64,
    },
    /// A pilot that spends nothing.
    #[error(
        "[pilot] share = 0 with algorithm.kind = \"pilot\": a pilot that spends nothing says nothing; raise the share"
    )]
    Nothing,
    /// Something that two sessions under one budget have not been shown to go with.
    #[error("[pilot] with {key}: {why}")]
    With {
        /// The other key.
        key: &'static str,
        /// Why the two do not go together, and what to change.
        why: &'static str,
    },
    /// A pilot before an algorithm that the file names.
    #[error(
        "[pilot] with algorithm.kind = \"{kind}\": a pilot goes before algorithm.kind = \"auto\", which chooses by it; set that, or leave \
         [pilot] out"
    )]
    NotChosen {
        /// The algorithm.
        kind: &'static str,
    },
    /// An algorithm that divides its budget by shares of its own.
    #[error(
        "[pilot] with algorithm.kind = \"{kind}\": a pilot goes before power, momentum, krylov, covariance, isometric-covariance and raked-covariance, whose \
         releases cost one record the same; choose one of them or leave [pilot] out"
    )]
    Follows {
        /// The algorithm.
        kind: &'static str,
    },
    /// Something that a choice would have to know of and does not.
    #[error("algorithm.kind = \"auto\" with {key}: {why}")]
    Open {
        /// The other key.
        key: &'static str,
        /// Why nothing can be chosen, and what to change.
        why: &'static str,
    },
    /// Counts of users without a proved bound.
    #[error("[pilot] counts how many users have how many interactions: {0}")]
    Unproved(#[source] PrivacyError),
}
