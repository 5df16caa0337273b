//! What can be wrong with the `[engine]` table.

use crate::vocabulary::Quantity;

/// Why the `[engine]` table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum EngineTableError {
    /// Latency bounds in the wrong order.
    #[error("[engine] latency.uniform needs low_micros <= high_micros, found {low} and {high}")]
    Latency {
        /// Shortest time given.
        low: u64,
        /// Longest time given.
        high: u64,
    },
    /// Lost messages on an engine that loses none.
    #[error(
        "[engine] kind = \"{kind}\" loses no messages: remove loss, or set kind = \"event\" with averaging.scheme = \"push-sum\" or \
         \"pairwise\""
    )]
    Loss {
        /// The engine.
        kind: &'static str,
    },
    /// A number of probes the analytic engine cannot draw.
    #[error(
        "[engine] probes must lie between 1 and {most} (64, or the number of peers where that is less), found {found}"
    )]
    Probes {
        /// The number given.
        found: usize,
        /// The largest number allowed.
        most: usize,
    },
    /// Integers, which the analytic engine does not draw.
    #[error(
        "[engine] kind = \"analytic\" draws sums of real numbers, and noise.scheme = \"ring\" makes them of integers: set engine.kind = \
         \"lockstep\" or noise.scheme = \"pairwise\""
    )]
    AnalyticRing,
    /// An algorithm the analytic engine cannot run.
    #[error(
        "[engine] kind = \"analytic\" draws sums of products A X, but algorithm.kind releases {released}: set engine.kind = \"lockstep\" \
         or another algorithm"
    )]
    AnalyticRelease {
        /// What the algorithm releases.
        released: Quantity,
    },
}
