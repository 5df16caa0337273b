//! What a neighbour did wrong, with its number and the figures.

use super::escrow::Refused;
use super::message::SessionId;
use super::wire::WireError;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// A neighbour's misbehaviour. The message is ignored; the peer goes on waiting for a valid one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{culprit}: {kind}")]
pub struct Fault {
    /// The neighbour to blame, as authenticated by the transport.
    pub culprit: PeerIndex,
    /// What it did.
    pub kind: FaultKind,
}

/// The kinds of misbehaviour a peer can tell.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FaultKind {
    /// A message from a peer that is not a neighbour.
    #[error("is not a neighbour")]
    UnknownSender,
    /// A message of another session: the two peers were given different plans.
    #[error("is in session {found}, expected {expected}: the peers were given different plans")]
    WrongSession {
        /// This peer's session.
        expected: SessionId,
        /// The sender's session.
        found: SessionId,
    },
    /// A frame that is no message.
    #[error("sent a malformed frame: {0}")]
    Malformed(#[from] WireError),
    /// A block of the wrong size.
    #[error("sent {found} values, expected {expected}")]
    WrongShape {
        /// Values the release has.
        expected: usize,
        /// Values in the message.
        found: usize,
    },
    /// A sum whose coordinates are not what the plan exchanges.
    #[error("sent a sum of {found}, where the plan exchanges {expected}")]
    OtherValues {
        /// What the plan exchanges.
        expected: &'static str,
        /// What came.
        found: &'static str,
    },
    /// A value that the plan's values cannot be: one that is no f32, or an integer of 2^k or more.
    #[error("sent a value at coordinate {coordinate} that is none of {values}")]
    OutOfRange {
        /// Position of the first such value.
        coordinate: usize,
        /// What the plan exchanges.
        values: &'static str,
    },
    /// NaN or an infinity.
    #[error("sent a value that is not finite at coordinate {coordinate}")]
    NotFinite {
        /// Position of the first such value.
        coordinate: usize,
    },
    /// A number that no contribution, noise and averaging of this plan can come to.
    #[error(
        "sent a value at coordinate {coordinate} that is larger than data, noise and averaging of this plan can make any"
    )]
    TooLarge {
        /// Position of the first such value.
        coordinate: usize,
    },
    /// A number to agree on that none can be: a largest norm that no orthonormal block has, NaN or an infinity.
    #[error("claims a largest row norm of {value}, but an orthonormal block has at most 1")]
    ScaleOutOfRange {
        /// The value claimed.
        value: f64,
    },
    /// A round number the plan does not have.
    #[error("sent {release}, {round}, which the plan does not have")]
    NoSuchStep {
        /// Release of the message.
        release: ReleaseId,
        /// Round of the message.
        round: Round,
    },
    /// Another number at a coordinate than the one that was there before.
    #[error(
        "sent another number for coordinate {coordinate}, which its owner's messages had filled before"
    )]
    Contradiction {
        /// Position of the first such coordinate.
        coordinate: usize,
    },
    /// A message where the averaging program lets this neighbour send this peer none.
    #[error("sent {release}, {round}, where the averaging has it send nothing to this peer")]
    Unexpected {
        /// Release of the message.
        release: ReleaseId,
        /// Round of the message.
        round: Round,
    },
    /// A step that is over, or one that the neighbour cannot have reached.
    #[error(
        "sent step {found} while its message of step {expected} is due; only that one and its next are possible"
    )]
    OutOfStep {
        /// The step of the message that is due, counted over the session.
        expected: u64,
        /// The step of the message.
        found: u64,
    },
    /// A second message for one step.
    #[error("sent step {step} twice")]
    Duplicate {
        /// The step, counted over the session.
        step: u64,
    },
    /// A sealed contribution, a key or a share that is not what it should be.
    #[error("sealed its contribution wrongly, or gave up a share that is none: {0}")]
    Sealed(Refused),
    /// A sealed contribution or a share that does not fit what this peer holds of others.
    #[error(
        "sent what does not fit what this peer holds, since one of the two deviates, or another has told them different things: {0}"
    )]
    Unlike(Refused),
    /// A statement of what has gone wrong that no member makes: more retries than the session pays for, releases or views that it has not had.
    #[error(
        "sent a statement that no member makes which follows the protocol: its counts are beyond what the session allows"
    )]
    Impossible,
    /// Nothing arrived before the deadline.
    #[error("sent nothing for step {step} before the deadline")]
    Silent {
        /// The step that waits, counted over the session.
        step: u64,
    },
}

impl FaultKind {
    /// Whether it may be the doing of another than the neighbour: of whoever has told two members different things, or keeps one waiting.
    #[must_use]
    pub fn names_nobody(&self) -> bool {
        matches!(self, Self::Unlike(_) | Self::Silent { .. })
    }
}
