//! What a host is given to run a peer that tolerates losses, and what that peer tells.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use zeroize::Zeroizing;

use crate::node::error::GateError;
use crate::protocol::regroup::{Attempt, End, Evidence, Resume, View};
use crate::protocol::tolerant::{Format, TolerantPeer};
use crate::protocol::{Event, FaultKind, SessionId};
use crate::session::{Domain, Identity, PublicId, Signature};
use crate::vocabulary::PeerIndex;

/// One life of a member's process in a session: how many there were before, how many restarts it announces with it, and a number that no other
/// life has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Life(u64);

impl Life {
    /// The life after so many, at most 2²⁴ − 1, with a number drawn for it. Lives that came to nothing are not announced, so that `restarts` may be fewer.
    #[must_use]
    pub fn new(before: u32, restarts: u8, drawn: u32) -> Self {
        let before = u64::from(before.min(0x00ff_ffff));
        Self(before << 40 | u64::from(restarts) << 32 | u64::from(drawn))
    }

    /// From the number that was kept of it.
    #[must_use]
    pub fn from_number(number: u64) -> Self {
        Self(number)
    }

    /// As a number to keep.
    #[must_use]
    pub fn number(self) -> u64 {
        self.0
    }

    /// How many there were before.
    #[must_use]
    pub fn before(self) -> u32 {
        (self.0 >> 40) as u32
    }

    /// How many restarts it announces.
    pub(super) fn restarts(self) -> u8 {
        (self.0 >> 32) as u8
    }

    /// Whether it comes after another one.
    pub(super) fn follows(self, other: Self) -> bool {
        self.before() > other.before()
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Life({}, {:08x})", self.before(), self.0 as u32)
    }
}

/// What lives are signed for.
const LIFE: Domain = Domain("undertone 2026-11 life v1");

/// A life with its member's signature: it shows to everybody, and to a member whose files were brought back from a backup, that the member has lived it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignedLife {
    life: Life,
    signature: Signature,
}

impl SignedLife {
    /// Bytes of one.
    pub(super) const LEN: usize = 72;

    /// Signs a life of the holder of this key in a session.
    #[must_use]
    pub fn sign(identity: &Identity, session: SessionId, life: Life) -> Self {
        let signature = identity.sign(LIFE, &signed_bytes(session, life));
        Self { life, signature }
    }

    /// The life.
    #[must_use]
    pub fn life(&self) -> Life {
        self.life
    }

    /// Whether this member has signed it, in this session.
    pub(super) fn is_of(&self, member: &PublicId, session: SessionId) -> bool {
        let bytes = signed_bytes(session, self.life);
        member.verify(LIFE, &bytes, &self.signature).is_ok()
    }

    /// Whether it shows that another life of the same member is over, or runs beside it.
    pub(super) fn ends(&self, other: Life) -> bool {
        self.life != other && !other.follows(self.life)
    }

    pub(super) fn to_bytes(self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..8].copy_from_slice(&self.life.0.to_le_bytes());
        bytes[8..].copy_from_slice(&self.signature.to_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: [u8; Self::LEN]) -> Self {
        let (mut life, mut signature) = ([0; 8], [0; 64]);
        life.copy_from_slice(&bytes[..8]);
        signature.copy_from_slice(&bytes[8..]);
        Self {
            life: Life(u64::from_le_bytes(life)),
            signature: Signature::from_bytes(signature),
        }
    }
}

fn signed_bytes(session: SessionId, life: Life) -> [u8; 24] {
    let mut bytes = [0; 24];
    bytes[..16].copy_from_slice(&session.0);
    bytes[16..].copy_from_slice(&life.0.to_le_bytes());
    bytes
}

/// The ledger and the disk of a tolerant peer. Whatever it does is durable when it returns; after an error nothing may leave any more.
pub trait Keeper: Send {
    /// Charges the try of this attempt; a try that is charged already is not charged again.
    ///
    /// # Errors
    /// Why it is not charged.
    fn charge(&mut self, attempt: Attempt) -> Result<(), GateError>;

    /// Keeps these records, in order.
    ///
    /// # Errors
    /// Why they are not kept.
    fn keep(&mut self, records: Vec<Zeroizing<Vec<u8>>>) -> Result<(), GateError>;

    /// Notes who takes part in an attempt that begins, for the account of what happened: kept with the first record of it.
    ///
    /// # Errors
    /// Why nothing is begun among these.
    fn note(&mut self, attempt: Attempt, view: &View) -> Result<(), GateError>;
}

/// A tolerant peer, to be run over a host's connections.
pub struct TolerantRun {
    /// The peer, new or recovered.
    pub peer: TolerantPeer,
    /// How its frames and records are written.
    pub format: Format,
    /// What streams name: the session in which nothing has gone wrong.
    pub session: SessionId,
    /// Its neighbours before anything went wrong, ascending.
    pub neighbours: Vec<(PeerIndex, PublicId)>,
    /// Its public id.
    pub me: PublicId,
    /// Which life this is.
    pub life: SignedLife,
    /// How long a neighbour that is connected may keep this peer waiting.
    pub step_limit: Duration,
    /// Its ledger and disk.
    pub keeper: Box<dyn Keeper>,
}

/// What a tolerant peer tells.
#[derive(Debug)]
pub enum Told {
    /// An event of its peer of a view, and of which attempt.
    Event(Attempt, Event),
    /// How it goes on, from the beginning and whenever something has gone wrong.
    WentOn {
        /// Who takes part.
        view: Arc<View>,
        /// With what.
        resume: Resume,
    },
    /// A link of this member is cut.
    GaveUp(PublicId),
    /// A neighbour sent what no honest peer sends; its link is cut.
    Fault {
        /// Who.
        culprit: PublicId,
        /// What.
        what: FaultKind,
    },
    /// Somebody has signed two things that no honest member signs both.
    Deviates(Box<Evidence>),
    /// It is over. Whoever has finished still answers those who come back.
    Ended(End),
}
