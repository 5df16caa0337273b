//! Tolerant peers in virtual time, while things go wrong: crashes, restarts with what is on the disk, links that are given up.
//!
//! Peers are the [`TolerantPeer`](crate::protocol::tolerant::TolerantPeer) that a deployment would run, unchanged. Links keep order and lose nothing while both ends live: what a network loses is
//! sent again, which is latency here. A disk keeps what was written before the crash.

mod account;
mod network;
mod observer;
mod schedule;
#[cfg(test)]
mod tests;

pub use network::{FaultyError, FaultyOutcome, Fired, PeerEnd, run};
pub use observer::{Broken, Observed};
pub use schedule::{Crash, CrashPoint, FaultSchedule, Suspicion};
