//! Why peers on a network cannot go on, whichever way they are run.

use std::error::Error;
use std::io;
use std::time::Duration;

use libp2p::swarm::DialError;

use super::descriptors::TooFewFiles;
use super::equivocation::Evidence;
use super::misbehaviour::Misbehaviour;
use crate::protocol::tolerant::TolerantError;
use crate::protocol::{Fault, PeerError};
use crate::session::PublicId;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Errors that end a swarm, a simulation on several hosts or a deployed host without an outcome. Nothing in one of a deployed host is a function of private rows.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
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
    /// An address that is none, or of a kind that a host does not speak.
    #[error(
        "{address} is no address that can be used: write /ip4/…/tcp/PORT, /ip4/…/udp/PORT/quic-v1, the same with /ip6 or, to be \
         dialled only, with /dns4, /dns6 or /dns"
    )]
    Address {
        /// The text.
        address: String,
    },
    /// A member that is listed twice.
    #[error("{id} is listed as a member twice")]
    MemberTwice {
        /// The member.
        id: PublicId,
    },
    /// Neither Noise nor TLS can be set up with this identity.
    #[error("the connections' encryption cannot be set up: {0}")]
    Encryption(#[source] Box<dyn Error + Send + Sync>),
    /// The node cannot listen.
    #[error(
        "cannot listen on {address}: {source}; is the port taken, or the address of another machine?"
    )]
    Listen {
        /// Where.
        address: String,
        /// Why.
        source: io::Error,
    },
    /// A control frame that no member would take.
    #[error("a control frame has at most {limit} bytes, this one has {found}")]
    ControlTooLong {
        /// Bytes found.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// More control frames than a member may send in one session.
    #[error("a member sends at most {limit} control frames in a session")]
    ControlTooMany {
        /// The limit.
        limit: usize,
    },
    /// A second run on one host.
    #[error("this host has begun a run before: a host carries one session")]
    BegunBefore,
    /// Neighbours that are not those of the setup, or no members.
    #[error(
        "the neighbours of the run are not those of the peer's setup, or are no members of this host"
    )]
    Neighbours,
    /// The peer could not be built or could not go on.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A peer that tolerates losses could not go on.
    #[error(transparent)]
    Tolerant(#[from] TolerantError),
    /// A release, or a try at one, that cannot be charged: nothing of it has left.
    #[error("nothing of {release} has left this peer: {source}")]
    Charge {
        /// The release.
        release: ReleaseId,
        /// Why.
        source: GateError,
    },
    /// A try at a release that is not begun with those who are left.
    #[error("{release} is not begun: {source}")]
    Begin {
        /// The release.
        release: ReleaseId,
        /// Why.
        source: GateError,
    },
    /// What must be on the disk before anything leaves is not.
    #[error("this peer cannot write down what it must not forget, and says nothing more: {0}")]
    Keep(#[source] GateError),
    /// Files that were brought back from a backup, or copied.
    #[error(
        "{member} shows a later life that this member has signed in the session: its files were brought back from a backup, or copied. What they say must not be \
         said again; leave the session with `undertone node abandon`"
    )]
    OtherLife {
        /// Who shows it.
        member: PublicId,
    },
    /// A member did what it must not.
    #[error("{culprit} {what}")]
    Misbehaved {
        /// Who.
        culprit: PublicId,
        /// What.
        what: Misbehaviour,
        /// A proof that others can check, where there is one.
        evidence: Option<Box<Evidence>>,
    },
    /// A host did not come up.
    #[error(
        "host \"{host}\" was not there within {after:?}: start it with the same files and `--host {number}`"
    )]
    Missing {
        /// The host.
        host: String,
        /// Its place in the hosts file.
        number: usize,
        /// How long this one waited.
        after: Duration,
    },
    /// Somebody else answers.
    #[error(
        "who answers at the address of host \"{host}\" is not that host of this simulation: start all with the same seed and hosts file ({source})"
    )]
    Stranger {
        /// The host.
        host: String,
        /// What the network said.
        source: Box<DialError>,
    },
    /// A host runs something else.
    #[error(
        "host \"{host}\" has {what} other than this one's: start all with the same files, changes and build"
    )]
    Other {
        /// The host.
        host: String,
        /// What is different there.
        what: &'static str,
    },
    /// The connection to a host ended without a word.
    #[error("lost host \"{host}\": did it stop?")]
    Lost {
        /// The host.
        host: String,
    },
    /// A host said why it ended.
    #[error("host \"{host}\" has ended: {said}")]
    Ended {
        /// Who says so.
        host: String,
        /// Its words.
        said: String,
    },
    /// A host said what no host of this plan says.
    #[error("host \"{host}\" sent something that is not due: {what}")]
    Malformed {
        /// The host.
        host: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A host that is up takes or says nothing.
    #[error("host \"{host}\" has said nothing for {after:?}: is it stuck?")]
    Silent {
        /// The host.
        host: String,
        /// How long this one waited.
        after: Duration,
    },
    /// A peer of this host has lost one on another.
    #[error("host \"{host}\" may be gone: {source}")]
    LostNeighbour {
        /// The host of the neighbour.
        host: String,
        /// What the peer reported.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The connection between hosts could not be set up.
    #[error("cannot set up the connection between the hosts: {0}")]
    Setup(#[source] io::Error),
    /// A task of the node ended without a word: a bug.
    #[error("a task of the node ended without reporting; this is a bug in Undertone")]
    TaskLost,
}

/// Why nothing of a release may leave.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct GateError(Box<dyn Error + Send + Sync>);

impl GateError {
    /// For this reason.
    pub fn new(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(reason.into())
    }
}

impl HostError {
    /// Whether it is what another host of a simulation did or lacks.
    #[must_use]
    pub fn concerns_a_host(&self) -> bool {
        matches!(
            self,
            Self::Missing { .. }
                | Self::Stranger { .. }
                | Self::Other { .. }
                | Self::Lost { .. }
                | Self::Ended { .. }
                | Self::Malformed { .. }
                | Self::Silent { .. }
                | Self::LostNeighbour { .. }
                | Self::Setup(_)
        )
    }

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
