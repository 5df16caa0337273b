//! Why a host cannot go on, and what members do that they must not.

use std::error::Error;
use std::io;

use crate::protocol::tolerant::TolerantError;
use crate::protocol::{Fault, FaultKind, PeerError, SessionId, wire::WireError};
use crate::session::PublicId;
use crate::vocabulary::ReleaseId;

/// Why this host cannot start or go on. Nothing in it is a function of private rows.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
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
    /// The host cannot listen.
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
    /// What comes before the first frame of a release has failed, so that the release did not leave.
    #[error("nothing of {release} has left this peer: {source}")]
    Gate {
        /// The release.
        release: ReleaseId,
        /// Why.
        source: GateError,
    },
    /// A peer that tolerates losses could not go on.
    #[error(transparent)]
    Tolerant(#[from] TolerantError),
    /// A try at a release that cannot be charged: nothing of it has left.
    #[error("nothing of this try at {release} has left this peer: {source}")]
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
    /// A task of the host ended without a word: a bug.
    #[error("a task of the host ended without reporting; this is a bug in Undertone")]
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

/// What a member did that the protocol has nobody do. The member is the one that the connection authenticated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Misbehaviour {
    /// The first bytes of a stream are no greeting.
    #[error("greets with bytes that are no greeting of this protocol")]
    NotAGreeting,
    /// Another version of the records.
    #[error("speaks version {found} of the records, this build version {expected}")]
    Version {
        /// Version found.
        found: u8,
        /// Version of this build.
        expected: u8,
    },
    /// Another session.
    #[error("is in session {found}, expected {expected}: the members were given different plans")]
    WrongSession {
        /// This peer's session.
        expected: SessionId,
        /// The member's session.
        found: SessionId,
    },
    /// A record that is none, or a frame that the plan does not have.
    #[error("sent a malformed record: {0}")]
    Malformed(WireError),
    /// Streams that were ended within a record, again and again, on a connection that stayed.
    #[error("ends its streams in the middle of records")]
    Truncated,
    /// A frame without the signature of its sender.
    #[error("sent record {sequence} without a valid signature of its own")]
    Signature {
        /// Number of the record.
        sequence: u64,
    },
    /// A record that came before.
    #[error("sent record {sequence} again, which had been received")]
    Replayed {
        /// Number of the record.
        sequence: u64,
    },
    /// A record that skips others.
    #[error("sent record {found} where record {expected} was due")]
    Gap {
        /// Number of the record that was due.
        expected: u64,
        /// Number of the record that came.
        found: u64,
    },
    /// Two different frames for one place of the protocol, both signed. The evidence is transferable.
    #[error(
        "signed two different frames for one release, round and part: record {sequence} and an earlier one"
    )]
    Equivocation {
        /// Number of the later record.
        sequence: u64,
    },
    /// An acknowledgement of records that were not sent, or that takes one back.
    #[error(
        "acknowledges record {found}, where {acknowledged} had been acknowledged and {sent} sent"
    )]
    Acknowledgement {
        /// The record acknowledged.
        found: u64,
        /// The last record acknowledged before.
        acknowledged: u64,
        /// The last record sent.
        sent: u64,
    },
    /// Records that were sent and are not acknowledged, more than the protocol can have in flight.
    #[error(
        "has left {limit} records without acknowledgement, more than the protocol can have in flight"
    )]
    Unacknowledged {
        /// The limit.
        limit: usize,
    },
    /// A control frame beyond the limit.
    #[error("announces a control frame of {found} bytes, the limit is {limit}")]
    ControlTooLong {
        /// Bytes announced.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Too many control frames.
    #[error("has sent more than {limit} control frames")]
    ControlTooMany {
        /// The limit.
        limit: usize,
    },
    /// A claim that this peer's life is over, without a later life that this peer has signed.
    #[error("says that it knows a later life of this peer, and does not show one")]
    LifeNotShown,
    /// A life that its member has not signed.
    #[error("names a life of its own that it has not signed")]
    LifeNotSigned,
    /// What the protocol itself refuses.
    #[error(transparent)]
    Protocol(FaultKind),
}

impl From<WireError> for Misbehaviour {
    fn from(error: WireError) -> Self {
        match error {
            WireError::Version { found } => Self::Version {
                found,
                expected: crate::protocol::wire::signed::SIGNED_VERSION,
            },
            other => Self::Malformed(other),
        }
    }
}

impl From<Fault> for Misbehaviour {
    fn from(fault: Fault) -> Self {
        Self::Protocol(fault.kind)
    }
}
