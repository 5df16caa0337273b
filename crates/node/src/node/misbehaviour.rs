//! What members do that they must not.

use crate::protocol::wire::WireError;
use crate::protocol::{Fault, FaultKind, SessionId};

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
