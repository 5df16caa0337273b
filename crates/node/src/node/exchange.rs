//! What the tasks of a node hand one another: frames, news for the driver, reports for the collector.

use std::io;
use std::sync::Arc;

use super::error::SwarmError;
use crate::protocol::averaging::{PeerBytes, Phase};
use crate::protocol::{Event, Fault, Message};
use crate::vocabulary::PeerIndex;

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

/// What one writer has put on its stream, hello excluded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) messages: u64,
    pub(super) bytes: PeerBytes,
}

/// What the tasks around a driver tell it.
#[derive(Debug)]
pub(super) enum Inbound {
    /// A neighbour has acknowledged the stream opened to it.
    Opened,
    /// A message, with its sender as authenticated by Noise.
    Message { from: PeerIndex, message: Message },
    /// A reader found a neighbour misbehaving.
    Fault(Fault),
    /// A neighbour's stream ended too early.
    Lost {
        from: PeerIndex,
        received: u64,
        expected: u64,
        source: io::Error,
    },
    /// A neighbour closed its stream between two frames and before its last one: it may have been done early, as this
    /// peer will be then. All it said has been handed over before.
    Ended {
        from: PeerIndex,
        received: u64,
        expected: u64,
    },
    /// The node's swarm failed.
    Failed(SwarmError),
}

/// What a driver tells the collector.
#[derive(Debug)]
pub(super) enum Report {
    /// An event of the peer.
    Event(Event),
    /// The peer has finished and everything it said is written.
    Done(Written),
    /// The node cannot go on.
    Failed(SwarmError),
}
