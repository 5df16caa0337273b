//! One directed edge: records that are sent until they are acknowledged, over as many connections as it takes.
//!
//! ```text
//! opener                                                acceptor
//!   greeting: session                       ──────▶
//!                                           ◀──────     session, last record received
//!   record last + 1, last + 2, …            ──────▶     checked, decoded, handed to the driver
//!                                           ◀──────     acknowledgement of every fourth record, of large ones, and of the last (8 bytes)
//! ```

mod incoming;
mod outgoing;
mod receiving;
mod sending;

pub(super) use incoming::Incoming;
#[cfg(test)]
pub(in crate::node) use incoming::{Stopped, read_record};
pub(super) use outgoing::Outgoing;
pub(in crate::node) use receiving::Receiving;
#[cfg(test)]
pub(in crate::node) use receiving::{Blame, blame};
pub(in crate::node) use sending::{Record, Sending};

/// Records between two acknowledgements.
const ACKNOWLEDGED_EVERY: u64 = 4;

/// Bytes of a frame that is acknowledged whatever its number, so that its sender lets go of the values: the few that are in use then stay in
/// a cache.
const LARGE: usize = 64 * 1024;
