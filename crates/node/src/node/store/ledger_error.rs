//! Why a ledger is unusable, or will not record something.

use super::digest::Digest;
use super::terms::{MOST_ADOPTED, ScopeName, SessionEnd};
use crate::privacy::Adjacency;
use crate::vocabulary::ReleaseId;

/// Why a line is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Longer than any.
    #[error("it is longer than any line")]
    TooLong,
    /// No JSON object with a signature at its end.
    #[error("it is no line of a ledger")]
    Form,
    /// The signature does not verify.
    #[error("its signature is not by this peer's key over what it says")]
    Signature,
    /// Written in another way than this program writes.
    #[error("it is not written as this version writes it")]
    Spelling,
    /// It does not follow the line before.
    #[error("it does not follow the line before")]
    Chain,
    /// What it says cannot have happened.
    #[error("what it says cannot have happened after the lines before it")]
    Impossible,
}

/// Why the ledger is unusable, or will not record something.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Something in the file does not verify.
    #[error(
        "line {line} of the ledger does not verify: {problem}. Nothing can be spent on it: restore the newest copy of the state directory, and \
         repair what is missing with `undertone node ledger --adopt`"
    )]
    Line {
        /// Counted from 1.
        line: u64,
        /// What is wrong.
        problem: LineError,
    },
    /// Nothing there, or not even a first line.
    #[error(
        "the ledger has no first line: it was deleted or never made; restore the state directory"
    )]
    Empty,
    /// The disk failed.
    #[error(
        "the ledger cannot be written: {0}. Nothing more may be spent or sent until the node starts anew"
    )]
    Write(#[source] std::io::Error),
    /// It failed before.
    #[error(
        "the ledger could not be written before: nothing more may be spent or sent until the node starts anew"
    )]
    Fenced,
    /// Too little is left.
    #[error(
        "scope \"{scope}\" has too little left for this session, with {adjacency} adjacency: the session may cost epsilon = {wanted:.4}, sessions before it hold \
         {held:.4} of {epsilon} (delta = {delta:e}), and one of at most {left:.4} would fit; lower the session's epsilon, \
         finish or abandon sessions that hold reservations, or raise lifetime.\"{scope}\".epsilon in policy.toml"
    )]
    Budget {
        /// Whose data.
        scope: ScopeName,
        /// The unit of protection.
        adjacency: Adjacency,
        /// The scope's ε.
        epsilon: f64,
        /// The scope's δ.
        delta: f64,
        /// ε of this session alone, at that δ.
        wanted: f64,
        /// ε of everything charged and reserved.
        held: f64,
        /// ε that a session may have to fit.
        left: f64,
        /// The same as a μ².
        left_squared: f64,
    },
    /// Spending without a reservation.
    #[error("session {session} has no reservation in the ledger")]
    NotReserved {
        /// Which.
        session: Digest,
    },
    /// Another reservation for a session that has one.
    #[error(
        "session {session} is in the ledger with another scope, adjacency or size: run it as it was begun, or `undertone node abandon` it"
    )]
    Differs {
        /// Which.
        session: Digest,
    },
    /// A release that was charged another amount.
    #[error("{release} of session {session} was charged another amount before")]
    ChargeDiffers {
        /// Which session.
        session: Digest,
        /// Which release.
        release: ReleaseId,
    },
    /// More than was reserved.
    #[error(
        "session {session} may spend mu^2 = {reserved:?}, and this release would bring it to {total:?}"
    )]
    Overcharged {
        /// Which.
        session: Digest,
        /// What was reserved.
        reserved: f64,
        /// What it would come to.
        total: f64,
    },
    /// A session that is over.
    #[error("session {session} has ended ({ended}): nothing more can be reserved or spent for it")]
    Ended {
        /// Which.
        session: Digest,
        /// How.
        ended: SessionEnd,
    },
    /// A repair with a session that is not missing.
    #[error(
        "session {session} is in the ledger already, or twice in the repair: name only what is missing"
    )]
    NotMissing {
        /// Which.
        session: Digest,
    },
    /// A repair that leads nowhere.
    #[error(
        "this ledger has {length} lines, and the repair is about one of {known}: nothing is missing"
    )]
    NotBehind {
        /// Ours.
        length: u64,
        /// What others know.
        known: u64,
    },
    /// A repair beyond the limit.
    #[error("a repair takes up at most {MOST_ADOPTED} sessions")]
    TooMany,
}

impl LedgerError {
    /// The exit code of a command that ends with it: 4 for a ledger that is unusable, 2 for what it refuses.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Line { .. } | Self::Empty | Self::Write(_) | Self::Fenced => 4,
            _ => 2,
        }
    }
}
