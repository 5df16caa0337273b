//! What a host is given, and what it tells.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use super::tolerance::Told;
use crate::node::equivocation::Evidence;
use crate::node::error::{GateError, HostError};
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::averaging::PeerBytes;
use crate::protocol::{Event, PeerSetup};
use crate::session::{Identity, PublicId};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// A member, and where it can be reached.
#[derive(Clone, Debug)]
pub struct MemberAddress {
    /// Who it is.
    pub id: PublicId,
    /// Where it listens, as multiaddresses: TCP or QUIC, by number or by name.
    pub addresses: Vec<String>,
    /// Whether it can be dialled. Whoever cannot dials everybody else.
    pub reachable: bool,
}

/// Limits of a host's connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// Connections that may be between their first byte and the end of their handshake, in each direction.
    pub pending: u32,
    /// Those of them that may come from one address; never fewer than the members need.
    pub pending_per_address: u32,
    /// How long a handshake may take.
    pub handshake: Duration,
}

/// Connections that one member may have: the one in use, and the one that takes its place where the other end has noticed
/// before this one that the first is dead.
pub(super) const PER_MEMBER: u32 = 2;

impl HostLimits {
    /// Connections of one address that may be open before their handshake has ended, beside so many others that take part. Members may share
    /// one address, behind a router or on one machine.
    pub(super) fn share(&self, others: u32) -> u32 {
        self.pending_per_address.max(PER_MEMBER * others)
    }

    /// Connections of all addresses that may be.
    pub(super) fn incoming(&self, others: u32) -> u32 {
        self.pending.max(4 * self.share(others))
    }

    /// Sockets that a host may have at once beside so many others, whoever connects: that many incoming ones, those of the others, and one dial each.
    #[must_use]
    pub fn sockets(&self, others: u32) -> u64 {
        u64::from(self.incoming(others)) + u64::from(PER_MEMBER + 1) * u64::from(others)
    }
}

impl Default for HostLimits {
    /// 256 connections at once, 32 of one address, 10 seconds each.
    fn default() -> Self {
        Self {
            pending: 256,
            pending_per_address: 32,
            handshake: Duration::from_secs(10),
        }
    }
}

/// What a host starts from.
#[derive(Debug)]
pub struct HostSetup {
    /// The key that connections are authenticated and frames are signed with.
    pub identity: Arc<Identity>,
    /// Where to listen, as multiaddresses.
    pub listen: Vec<String>,
    /// All members; this one may be among them, which tells whether it is reachable.
    pub members: Vec<MemberAddress>,
    /// Whom it is connected with from the beginning, and passes words on to; `None` is everybody. The others may connect, and are dialled when
    /// the peer runs beside them.
    pub near: Option<BTreeSet<PublicId>>,
    /// How long a broken connection may take to come back before the member counts as lost.
    pub grace: Duration,
    /// Limits of connections.
    pub limits: HostLimits,
}

/// Called before the first frame of a release leaves, once per release, on a thread that may block.
pub type Gate = Box<dyn FnMut(ReleaseId) -> Result<(), GateError> + Send>;

/// A peer of the protocol, to be run over this host's connections.
pub struct PeerRun {
    /// What the peer starts from.
    pub setup: PeerSetup,
    /// Who its neighbours are, in the order of the setup.
    pub neighbours: Vec<(PeerIndex, PublicId)>,
    /// What must succeed before anything of a release leaves.
    pub gate: Gate,
}

/// What a peer has sent to all its neighbours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Messages, each counted once.
    pub messages: u64,
    /// Frames and prefixes of these messages, each counted once: what every engine counts.
    pub bytes: PeerBytes,
    /// Records that were written again after a connection had broken.
    pub resent: u64,
}

impl AddAssign for Written {
    fn add_assign(&mut self, other: Self) {
        self.messages += other.messages;
        self.bytes += other.bytes;
        self.resent += other.resent;
    }
}

/// What a host tells. Events about one member come in no particular order with control frames of others.
#[derive(Debug)]
pub enum HostEvent {
    /// A member is connected.
    Up(PublicId),
    /// A member's connection is broken; it is being dialled or waited for.
    Down(PublicId),
    /// A member has not come back within the grace. It is still being dialled or waited for.
    Lost(PublicId),
    /// A control frame, once per content and member.
    Control {
        /// Who sent it, which need not be who wrote it.
        from: PublicId,
        /// What it holds.
        bytes: Vec<u8>,
    },
    /// An event of the peer.
    Event(Event),
    /// What a peer that tolerates losses tells.
    Tolerant(Told),
    /// The peer has finished, and every neighbour that is there has acknowledged what it was sent.
    Finished(Written),
    /// A member did what it must not. A run in which a neighbour does has ended.
    Fault {
        /// Who.
        culprit: PublicId,
        /// What.
        what: Misbehaviour,
        /// A proof that others can check, where there is one.
        evidence: Option<Evidence>,
    },
    /// The run or the host cannot go on.
    Failed(HostError),
}
