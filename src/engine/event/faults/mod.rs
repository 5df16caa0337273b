//! Tolerant peers in virtual time, while things go wrong: crashes, restarts with what is on the disk, links that are given up.
//!
//! Peers are the [`TolerantPeer`](crate::protocol::tolerant::TolerantPeer) that a deployment would run, unchanged. Links keep order, and what they lose is
//! sent again, until they are given up. A disk keeps what was written before the crash.

mod account;
mod carrier;
mod error;
mod fired;
mod network;
mod observer;
mod outcome;
mod random;
mod rates;
mod schedule;
mod shrink;
mod sizes;
#[cfg(test)]
pub(crate) mod tests;

pub use error::{MOST_LISTED, MOST_LOSS, MOST_MICROS, ScheduleError};
pub use fired::{Cases, Fired};
pub use network::{FaultyError, run};
pub use observer::{Broken, Observed};
pub use outcome::{FaultyOutcome, MOST_MOMENTS, Moment, PeerEnd, Taken};
pub use random::Extent;
pub use rates::RandomFaults;
pub use schedule::{
    Crash, CrashPoint, Deviates, FailingDisk, FaultSchedule, Outage, Partition, Suspicion,
};
pub use shrink::shrink;
