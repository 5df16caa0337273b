//! Errors of a swarm run.

use std::io;
use std::time::Duration;

use libp2p::noise;
use libp2p::swarm::DialError;

use super::descriptors::TooFewFiles;
use super::host_error::HostError;
use crate::protocol::{Fault, PeerError};
use crate::vocabulary::PeerIndex;

/// Errors that end a swarm without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum SwarmError {
    /// The caller is inside an asynchronous runtime, where blocking is forbidden.
    #[error(
        "the swarm engine blocks its thread and was called inside an asynchronous runtime: \
         call it from a thread of its own"
    )]
    NestedRuntime,
    /// Averaging that is made for lost messages, over connections that lose none.
    #[error(
        "the session's averaging is made for losing {} % of the messages, and the connections of a swarm lose none: set engine.loss = 0, or \
         engine.kind = \"event\"",
        100.0 * loss
    )]
    Lossless {
        /// The fraction of messages that should be lost.
        loss: f64,
    },
    /// The runtime's threads could not be started.
    #[error("cannot start the asynchronous runtime: {0}")]
    Runtime(#[source] io::Error),
    /// The swarm would need more sockets than the process may open.
    #[error("{0}, or use the memory transport")]
    FileDescriptors(#[from] TooFewFiles),
    /// A peer could not be built or could not go on.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A peer's network identity could not sign its Noise key.
    #[error("{peer} cannot set up Noise: {source}")]
    Noise {
        /// The peer.
        peer: PeerIndex,
        /// Why.
        source: noise::Error,
    },
    /// A peer cannot listen.
    #[error("{peer} cannot listen: {source}")]
    Listen {
        /// The peer.
        peer: PeerIndex,
        /// Why.
        source: io::Error,
    },
    /// A peer cannot connect to a neighbour.
    #[error("{from} cannot dial {to}: {source}")]
    Dial {
        /// The dialling peer.
        from: PeerIndex,
        /// The neighbour.
        to: PeerIndex,
        /// Why.
        source: Box<DialError>,
    },
    /// No connection to a neighbour came about.
    #[error("{peer} has no connection to {neighbour} after {after:?}")]
    Unconnected {
        /// The waiting peer.
        peer: PeerIndex,
        /// The neighbour.
        neighbour: PeerIndex,
        /// How long it waited.
        after: Duration,
    },
    /// A neighbour did not acknowledge the stream opened to it.
    #[error(
        "{from} opened {attempts} streams to {to} and none was acknowledged; the last one failed: {source}"
    )]
    Handshake {
        /// The opening peer.
        from: PeerIndex,
        /// The neighbour.
        to: PeerIndex,
        /// Streams opened.
        attempts: u32,
        /// What happened to the last one.
        source: io::Error,
    },
    /// A neighbour's stream ended before it had said everything the plan has it say.
    #[error(
        "{reporter} lost {neighbour} after {received} of {expected} frames: {source}; \
         did that peer stop?"
    )]
    Disconnected {
        /// Who reports.
        reporter: PeerIndex,
        /// The neighbour.
        neighbour: PeerIndex,
        /// Frames received from it.
        received: u64,
        /// Frames the plan has it send.
        expected: u64,
        /// How the stream ended.
        source: io::Error,
    },
    /// A frame could not be written.
    #[error("{peer} cannot write to {neighbour}: {source}")]
    Write {
        /// The writing peer.
        peer: PeerIndex,
        /// The neighbour.
        neighbour: PeerIndex,
        /// Why.
        source: io::Error,
    },
    /// A neighbour did not take the last frames.
    #[error(
        "{peer} has finished, but {neighbour} has not read its last frames within {after:?}: is that peer stuck?"
    )]
    Unread {
        /// The writing peer.
        peer: PeerIndex,
        /// The neighbour.
        neighbour: PeerIndex,
        /// How long it waited.
        after: Duration,
    },
    /// More frames wait for a neighbour than the protocol can have in flight.
    #[error(
        "{capacity} frames of {peer} already wait for {neighbour}, the protocol has at most two in flight"
    )]
    QueueFull {
        /// The writing peer.
        peer: PeerIndex,
        /// The neighbour.
        neighbour: PeerIndex,
        /// Capacity of the queue.
        capacity: usize,
    },
    /// A peer reported a neighbour.
    #[error("{reporter} reports {fault}")]
    Fault {
        /// Who reports.
        reporter: PeerIndex,
        /// What and whom.
        fault: Fault,
    },
    /// What a simulation on several hosts ends with, beyond the rest.
    #[error(transparent)]
    Host(#[from] HostError),
    /// A task of a node ended without a word: a bug.
    #[error("a task of the swarm ended without reporting; this is a bug in Undertone")]
    TaskLost,
}

impl SwarmError {
    /// The neighbour that a peer complains of.
    pub(super) fn neighbour(&self) -> Option<PeerIndex> {
        match self {
            Self::Dial { to, .. } | Self::Handshake { to, .. } => Some(*to),
            Self::Unconnected { neighbour, .. }
            | Self::Disconnected { neighbour, .. }
            | Self::Write { neighbour, .. }
            | Self::Unread { neighbour, .. } => Some(*neighbour),
            Self::Fault { fault, .. } => Some(fault.culprit),
            _ => None,
        }
    }
}
