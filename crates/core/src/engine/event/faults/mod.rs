//! Tolerant peers in virtual time, while things go wrong: crashes, restarts with what is on the disk, links that are given up.
//!
//! Peers are the [`TolerantPeer`](crate::protocol::tolerant::TolerantPeer) that a deployment would run, unchanged. Links keep order, and what they lose is
//! sent again, until they are given up. A disk keeps what was written before the crash.

mod account;
mod carrier;
mod error;
mod fired;
mod interceptor;
mod network;
mod observer;
mod outcome;
mod random;
mod rates;
mod schedule;
mod shrink;
mod sizes;
#[cfg(any(test, feature = "testing"))]
#[doc(hidden)]
pub mod testing;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::engine::{Observer, SessionViews, Silent};
use crate::protocol::regroup::Tolerance;

pub use error::{MOST_LISTED, MOST_LOSS, MOST_MICROS, ScheduleError};
pub use fired::{Cases, Fired};
pub use network::FaultyError;
pub use observer::{Broken, Observed};
pub use outcome::{FaultyOutcome, MOST_MOMENTS, Moment, PeerEnd, Taken};
pub use random::Extent;
pub use rates::RandomFaults;
pub use schedule::{
    Crash, CrashPoint, Deviates, FailingDisk, FaultSchedule, Outage, Partition, Suspicion,
};
pub use shrink::shrink;

/// Runs the session of these views under this schedule, in which everything is listed ([`FaultSchedule::explicit`]).
///
/// # Errors
/// [`FaultyError`] if a peer cannot go on for another reason than the schedule, the schedule is of another session, or the run has no end.
pub fn run(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
) -> Result<FaultyOutcome, FaultyError> {
    run_watched(views, tolerance, schedule, &mut Silent)
}

/// The same, watched: the observer is told how far every peer is and what happens to it, and may make the run wait.
///
/// # Errors
/// As for [`run`].
pub fn run_watched(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
    observer: &mut dyn Observer,
) -> Result<FaultyOutcome, FaultyError> {
    network::run(views, tolerance, schedule, observer, None)
}
