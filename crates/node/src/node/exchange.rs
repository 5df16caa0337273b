//! What the tasks of a node hand one another: frames for writers, reports for the collector.

use std::sync::Arc;

use super::deployed::Written;
use super::error::HostError;
use crate::protocol::averaging::Phase;
use crate::protocol::{Event, Message};

/// Frames that may wait for one neighbour. The protocol has at most two in flight.
pub(super) const QUEUE: usize = 4;

/// An encoded frame with its prefix, shared between all neighbours it goes to.
pub(super) type Frame = Arc<Vec<u8>>;

/// A message for a writer.
#[derive(Clone, Debug)]
pub(super) enum Said {
    /// One of a single frame, encoded once for all it goes to, and what it is for.
    Frame(Phase, Frame),
    /// One of several frames. Every writer encodes them one after the other, so that no copy of the whole exists: its values
    /// are those that the peer holds.
    Long(Message),
}

/// What a driver tells the collector.
#[derive(Debug)]
pub(super) enum Report {
    /// An event of the peer.
    Event(Event),
    /// The peer has finished and everything it said is written.
    Done(Written),
    /// The node cannot go on.
    Failed(HostError),
}
