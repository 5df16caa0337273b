//! The header that every frame begins with, and the kinds of messages it names.

use super::error::WireError;
use super::{CHUNK_BYTES, HEADER_LEN, VERSION};
use crate::protocol::message::{Body, Message, SessionId};
use crate::protocol::values::Values;
use crate::vocabulary::{ReleaseId, Round};

const MARK: u8 = 0x55;

/// What the values of a message are. The number of each is its byte in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// One f64 that is agreed on.
    Number = 1,
    /// A sum of f64.
    F64 = 2,
    /// Own coordinates, f64 or −∞.
    Coordinates = 3,
    /// A sum of f32.
    F32 = 4,
    /// A sum of integers mod 2³².
    Residues32 = 5,
    /// A sum of integers mod 2⁶⁴.
    Residues64 = 6,
}

impl Kind {
    fn from_byte(found: u8) -> Result<Self, WireError> {
        let all = [
            Self::Number,
            Self::F64,
            Self::Coordinates,
            Self::F32,
            Self::Residues32,
            Self::Residues64,
        ];
        let kind = all.into_iter().find(|kind| *kind as u8 == found);
        kind.ok_or(WireError::Kind { found })
    }

    /// The kind of a message where sums exchange `values`. What a plan does not exchange travels at its full width, to be
    /// refused by name.
    pub(super) fn of(body: &Body, values: Values) -> Self {
        match (body, values) {
            (Body::Scale(_), _) => Self::Number,
            (Body::Coordinates(_), _) => Self::Coordinates,
            (Body::Average(_), Values::F32) => Self::F32,
            (Body::Average(_), _) => Self::F64,
            (Body::Residues(_), Values::Residues32) => Self::Residues32,
            (Body::Residues(_), _) => Self::Residues64,
        }
    }

    /// What the coordinates of a sum of this kind are; `None` for what is no sum.
    pub(super) fn exchanges(self) -> Option<Values> {
        match self {
            Self::Number | Self::Coordinates => None,
            Self::F64 => Some(Values::F64),
            Self::F32 => Some(Values::F32),
            Self::Residues32 => Some(Values::Residues32),
            Self::Residues64 => Some(Values::Residues64),
        }
    }

    /// Bytes of one value.
    pub(super) fn bytes(self) -> usize {
        self.exchanges().unwrap_or_default().bytes()
    }

    /// Values of a full frame.
    pub(super) fn chunk(self) -> usize {
        CHUNK_BYTES / self.bytes()
    }
}

/// What a frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) session: SessionId,
    pub(super) release: ReleaseId,
    pub(super) round: Round,
    pub(super) kind: Kind,
    /// Where the frame's first value stands in its message.
    pub(super) first: u32,
}

impl Header {
    /// The header of the frame of `message` whose values begin at `first`.
    pub(super) fn of(message: &Message, kind: Kind, first: usize) -> Self {
        Self {
            session: message.session,
            release: message.release,
            round: message.round,
            kind,
            first: first as u32,
        }
    }

    /// As bytes: mark, version, session (16), release, round, kind, first value; integers little-endian.
    pub(super) fn to_bytes(self) -> [u8; HEADER_LEN] {
        let mut bytes = [0; HEADER_LEN];
        bytes[0] = MARK;
        bytes[1] = VERSION;
        bytes[2..18].copy_from_slice(&self.session.0);
        bytes[18..22].copy_from_slice(&self.release.0.to_le_bytes());
        bytes[22..26].copy_from_slice(&self.round.0.to_le_bytes());
        bytes[26] = self.kind as u8;
        bytes[27..31].copy_from_slice(&self.first.to_le_bytes());
        bytes
    }

    /// From bytes of this version.
    ///
    /// # Errors
    /// [`WireError::NotAFrame`], [`WireError::Version`] and [`WireError::Kind`].
    pub(super) fn from_bytes(bytes: &[u8; HEADER_LEN]) -> Result<Self, WireError> {
        let [mark, version, rest @ ..] = bytes;
        if *mark != MARK {
            return Err(WireError::NotAFrame);
        }
        if *version != VERSION {
            return Err(WireError::Version { found: *version });
        }
        let mut session = SessionId([0; 16]);
        session.0.copy_from_slice(&rest[..16]);
        let integer = |at: usize| {
            let mut bytes = [0; 4];
            bytes.copy_from_slice(&rest[at..at + 4]);
            u32::from_le_bytes(bytes)
        };
        Ok(Self {
            session,
            release: ReleaseId(integer(16)),
            round: Round(integer(20)),
            kind: Kind::from_byte(rest[24])?,
            first: integer(25),
        })
    }

    /// Whether another frame belongs to the same message as this one.
    pub(super) fn is_of_one_message_with(&self, other: &Self) -> bool {
        Self { first: 0, ..*self } == Self { first: 0, ..*other }
    }
}
