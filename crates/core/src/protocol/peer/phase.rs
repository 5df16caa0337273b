//! Where a peer is within one release.

use std::sync::Arc;

use crate::protocol::averaging::mass::Holding;
use crate::protocol::plan::{Steps, Terms};

/// What the peer waits for.
pub(super) enum Phase {
    /// Nothing yet, or in between two phases.
    Waiting,
    /// Max-consensus of a public number.
    Agree { round: u32, value: f64 },
    /// The averaging of a sum of real numbers.
    Average {
        /// Position in the peer's list of steps; the round, in a recurrence.
        at: usize,
        terms: Terms,
        current: Arc<Vec<f64>>,
        previous: Arc<Vec<f64>>,
    },
    /// The addition of a sum of integers mod 2^k.
    Add {
        /// Position in the peer's list of steps.
        at: usize,
        terms: Terms,
        steps: Steps,
        current: Arc<Vec<u64>>,
    },
    /// The passing of mass.
    Pass {
        /// Place among the peer's own steps.
        at: usize,
        terms: Terms,
        holding: Holding,
    },
    /// The spreading of own coordinates.
    Gather {
        round: u32,
        terms: Terms,
        /// What has come so far, peer after peer; −∞ for what has not.
        known: Arc<Vec<f64>>,
    },
    /// All releases are done.
    Finished,
}
