//! What can be wrong with the `[averaging]` table.

use crate::protocol::averaging::AveragingError;
use crate::topology::PeerNameError;

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
    /// A root that no peer is called.
    #[error("[averaging] root: {0}")]
    Root(#[from] PeerNameError),
    /// Both ways of fixing the number of rounds.
    #[error("[averaging] give either tolerance or rounds, not both")]
    ToleranceAndRounds,
    /// Rounding where no peer sends anything that could be rounded.
    #[error(
        "[averaging] values = \"{values}\" says what peers send one another, and engine \"{engine}\" {why}: remove it, or choose \
         engine.kind lockstep, event or swarm"
    )]
    Values {
        /// The values asked for.
        values: &'static str,
        /// The engine.
        engine: &'static str,
        /// Why they mean nothing there.
        why: &'static str,
    },
    /// A number of rounds outside what can be run.
    #[error("[averaging] rounds must lie between 1 and {limit}, found {found}")]
    Rounds {
        /// The number given.
        found: u32,
        /// The largest number allowed.
        limit: u32,
    },
}
