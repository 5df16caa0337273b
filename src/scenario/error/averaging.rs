//! What can be wrong with the `[averaging]` table.

use crate::protocol::averaging::AveragingError;

/// Why the `[averaging]` table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AveragingTableError {
    /// No averaging schedule.
    #[error("[averaging] {0}")]
    Averaging(#[from] AveragingError),
    /// A scheme that takes means of integers mod 2^k.
    #[error(
        "[averaging] noise.scheme = \"ring\" needs sums that are exact: gossip takes means, and integers mod 2^k cannot be divided; set \
         averaging = {{ scheme = \"tree\" }}, or noise.scheme = \"pairwise\""
    )]
    Ring,
    /// Both ways of fixing the number of rounds.
    #[error("[averaging] give either tolerance or rounds, not both")]
    ToleranceAndRounds,
    /// A number of rounds outside what can be run.
    #[error("[averaging] rounds must lie between 1 and {limit}, found {found}")]
    Rounds {
        /// The number given.
        found: u32,
        /// The largest number allowed.
        limit: u32,
    },
}
