//! What members tell one another before and around a session, as signed bytes.
//!
//! # Replays
//! A statement names its session file and no try of it, so that what was signed in one try can be said again in the next. Whatever an honest member
//! signs stays true for as long as the file may be used, in every process: its Join, number, plans and result are the same ones, and its lists are
//! numbered and only shrink ([`Listed`]). The exception is a departure before the plan was agreed on, since its member may come
//! back: it holds over the connection of whoever says so.
//!
//! ```text
//! mark 0x53 | version | kind | sender's raw key (32) | session (32) | body | signature (64)
//! ```
//!
//! Integers are little-endian. What is signed is everything before the signature, in a domain of its own per kind. Every length is bounded before
//! anything is allocated, and what follows a body's end is refused, so that one statement has one encoding.

use std::fmt;
use std::sync::Arc;

use super::identity::{
    Domain, Identity, IdentityError, PublicId, SIGNATURE_LEN, Signature, Verifier,
};
use super::stamps::Stamps;

const MARK: u8 = 0x53;

/// Version of these statements; another is refused.
const VERSION: u8 = 3;

/// Mark, version, kind, key and session.
const HEADER_LEN: usize = 3 + 32 + 32;

/// The longest statement in bytes.
pub const MOST_BYTES: usize = 4096;

/// The longest text within one, in bytes.
const MOST_TEXT: usize = 200;

/// The longest Join in bytes: a header, every field, a text, a signature.
pub const MOST_JOIN: usize = HEADER_LEN + 3 + 1 + MOST_TEXT + 3 * 32 + 40 + SIGNATURE_LEN;

/// The most members of a session: bits of a roster.
pub const MOST_MEMBERS: usize = 128;

/// The hash of a session file, which names the session until its plan does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionHash(pub [u8; 32]);

impl fmt::Display for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0[..8]))
    }
}

impl fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionHash({self})")
    }
}

/// Bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    use fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// How many entries a ledger has, and the hash of the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerHead {
    /// Entries.
    pub length: u64,
    /// Of the last entry; zeros of an empty ledger.
    pub hash: [u8; 32],
}

/// What sort of noise a member draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// From keys that nobody else has.
    Deployed = 1,
    /// From a seed that whoever runs the simulation has: not private.
    Simulation = 2,
}

/// A member takes part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// What sort of noise it draws.
    pub mode: Mode,
    /// Lowest and highest version of the frames it speaks.
    pub wire: (u8, u8),
    /// Version of the program.
    pub build: String,
    /// Hash of numbers that its samplers draw.
    pub sampler: [u8; 32],
    /// Its X25519 public key for this session.
    pub ephemeral: [u8; 32],
    /// Hash of the number that it will reveal.
    pub commitment: [u8; 32],
    /// Its ledger after it has reserved what this session may cost.
    pub ledger: LedgerHead,
}

impl Join {
    /// Version and fingerprint of the build that said it.
    pub(super) fn built(&self) -> String {
        format!("{} ({})", self.build, hex(&self.sampler[..4]))
    }
}

/// Who a member holds Joins of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Roster {
    /// Which attempt to agree on a list this is, from 0.
    pub attempt: u8,
    /// One bit per invited member, in the order of raw keys.
    pub members: u128,
    /// Of the Joins of those, in that order.
    pub joins: [u8; 32],
}

/// The list that a member has signed last, and the Joins that it held.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// The list.
    pub roster: Roster,
    /// The Joins as signed, of its members and maybe of others.
    pub joins: Vec<Signed>,
}

/// Hashes of everything that members must agree on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sections(pub [[u8; 32]; SECTIONS.len()]);

impl Sections {
    /// The hash of the list of members that all this is for.
    #[must_use]
    pub fn roster(&self) -> [u8; 32] {
        self.0[0]
    }
}

/// What each hash of [`Sections`] is of.
pub const SECTIONS: [&str; 7] = [
    "roster",
    "communication graph",
    "noise graph",
    "starting block",
    "schedule",
    "noise",
    "plan",
];

/// Why a member leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// Its own policy, plan or operator refuses, or nothing is left for it to do: it does not come back.
    Refused = 1,
    /// It cannot go on without another member, or since another member has ended the session.
    Lost = 2,
    /// Something failed at its own end: it may start again and ask for the result.
    Failed = 3,
}

/// What a member states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Statement {
    /// It takes part.
    Join(Join),
    /// Whose Joins it holds.
    Roster(Roster),
    /// Its part of the beacon.
    Reveal([u8; 32]),
    /// What it computed.
    Ready(Sections),
    /// Somebody's ledger has gone back.
    LedgerBehind {
        /// The Join that shows it, as signed for whatever session. It is not verified here: [`LedgerProof`](super::LedgerProof) does.
        join: Arc<[u8]>,
    },
    /// It leaves.
    Gone {
        /// Why.
        reason: Reason,
        /// Because of whom, where it observed that at its own link.
        about: Option<PublicId>,
        /// In words.
        text: String,
        /// Whether it takes part in this session no more, not even if it is tried again. Everybody may repeat that; any other departure is one
        /// of the process that says so, and holds over that process's own connection alone.
        is_final: bool,
    },
    /// It has the result.
    Finished {
        /// Of the basis.
        result: [u8; 32],
    },
    /// It has received these signed stamps of frames.
    Stamps(Stamps),
}

/// Kinds of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// [`Statement::Join`]
    Join = 1,
    /// [`Statement::Roster`]
    Roster = 2,
    /// [`Statement::Reveal`]
    Reveal = 3,
    /// [`Statement::Ready`]
    Ready = 4,
    /// [`Statement::LedgerBehind`]
    LedgerBehind = 5,
    /// [`Statement::Gone`]
    Gone = 6,
    /// [`Statement::Finished`]
    Finished = 7,
    /// [`Statement::Stamps`]
    Stamps = 8,
}

impl Kind {
    const ALL: [Self; 8] = [
        Self::Join,
        Self::Roster,
        Self::Reveal,
        Self::Ready,
        Self::LedgerBehind,
        Self::Gone,
        Self::Finished,
        Self::Stamps,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Join => "Join",
            Self::Roster => "Roster",
            Self::Reveal => "Reveal",
            Self::Ready => "Ready",
            Self::LedgerBehind => "LedgerBehind",
            Self::Gone => "Gone",
            Self::Finished => "Finished",
            Self::Stamps => "Stamps",
        }
    }

    fn domain(self) -> Domain {
        Domain(match self {
            Self::Join => "undertone 2026-11 session join v1",
            Self::Roster => "undertone 2026-11 session roster v1",
            Self::Reveal => "undertone 2026-11 session reveal v1",
            Self::Ready => "undertone 2026-11 session ready v1",
            Self::LedgerBehind => "undertone 2026-11 session ledger behind v2",
            Self::Gone => "undertone 2026-11 session gone v2",
            Self::Finished => "undertone 2026-11 session finished v1",
            Self::Stamps => "undertone 2026-11 session stamps v1",
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why bytes are no statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatementError {
    /// Longer than any.
    #[error("{found} bytes, and a statement has at most {MOST_BYTES}")]
    TooLong {
        /// How long.
        found: usize,
    },
    /// Of another kind of data.
    #[error("the first byte is not that of a statement")]
    NotAStatement,
    /// Of another version.
    #[error("version {found} of the statements, expected {VERSION}")]
    Version {
        /// Which.
        found: u8,
    },
    /// Of no kind.
    #[error("kind {found}, which there is not")]
    Kind {
        /// Which.
        found: u8,
    },
    /// Too short, too long, or with values that there are not.
    #[error("a {kind} whose body is not one")]
    Body {
        /// Which kind it says it is.
        kind: Kind,
    },
    /// Of another session.
    #[error("it is of session {found}")]
    Session {
        /// Which.
        found: SessionHash,
    },
    /// By somebody who was not invited.
    #[error("it is by {from}, who is not invited")]
    Stranger {
        /// Whose key.
        from: PublicId,
    },
    /// With a key or a signature that does not hold.
    #[error(transparent)]
    Identity(#[from] IdentityError),
}

/// A statement, who signed it, and its bytes as signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Who.
    pub from: PublicId,
    /// What.
    pub statement: Statement,
    /// As sent.
    pub bytes: Arc<[u8]>,
}

impl Signed {
    /// Signs a statement for a session.
    #[must_use]
    pub fn new(identity: &Identity, session: SessionHash, statement: Statement) -> Self {
        let kind = statement.kind();
        let mut bytes = vec![MARK, VERSION, kind as u8];
        bytes.extend_from_slice(identity.id().bytes());
        bytes.extend_from_slice(&session.0);
        statement.write(&mut bytes);
        let signature = identity.sign(kind.domain(), &bytes);
        bytes.extend_from_slice(&signature.to_bytes());
        Self {
            from: identity.id(),
            statement,
            bytes: bytes.into(),
        }
    }

    /// Reads and verifies a statement of this session by one of these members.
    ///
    /// # Errors
    /// [`StatementError`]; the signature is looked at last.
    pub fn read(
        bytes: &[u8],
        session: SessionHash,
        invited: impl Fn(&PublicId) -> bool,
    ) -> Result<Self, StatementError> {
        Self::read_by(bytes, session, |key| {
            let verifier = Verifier::from_bytes(*key)?;
            let from = verifier.id();
            match invited(&from) {
                true => Ok(verifier),
                false => Err(StatementError::Stranger { from }),
            }
        })
    }

    /// The same where members are ready to be verified: `verifier_of` finds one by its raw key, or says why that is nobody.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(super) fn read_by(
        bytes: &[u8],
        session: SessionHash,
        verifier_of: impl FnOnce(&[u8; 32]) -> Result<Verifier, StatementError>,
    ) -> Result<Self, StatementError> {
        let found = bytes.len();
        if found > MOST_BYTES {
            return Err(StatementError::TooLong { found });
        }
        let Some((signed, signature)) = bytes.split_last_chunk::<SIGNATURE_LEN>() else {
            return Err(StatementError::NotAStatement);
        };
        let Some((header, body)) = signed.split_first_chunk::<HEADER_LEN>() else {
            return Err(StatementError::NotAStatement);
        };
        if header[0] != MARK {
            return Err(StatementError::NotAStatement);
        }
        if header[1] != VERSION {
            return Err(StatementError::Version { found: header[1] });
        }
        let kind = Kind::ALL
            .into_iter()
            .find(|kind| *kind as u8 == header[2])
            .ok_or(StatementError::Kind { found: header[2] })?;
        let mut rest = Body(&header[3..]);
        let (from, of) = (rest.array(), rest.array());
        let (Some(from), Some(of)) = (from, of) else {
            return Err(StatementError::NotAStatement);
        };
        if SessionHash(of) != session {
            return Err(StatementError::Session {
                found: SessionHash(of),
            });
        }
        let verifier = verifier_of(&from)?;
        let mut body = Body(body);
        let statement = Statement::read(kind, &mut body)
            .filter(|_| body.0.is_empty())
            .ok_or(StatementError::Body { kind })?;
        verifier.verify(kind.domain(), signed, &Signature::from_bytes(*signature))?;
        Ok(Self {
            from: verifier.id(),
            statement,
            bytes: bytes.into(),
        })
    }

    /// Reads and verifies a statement of whatever session by whomever, for what it proves about whoever signed it.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub(super) fn read_any(bytes: &[u8]) -> Result<Self, StatementError> {
        let of = bytes.get(35..HEADER_LEN).and_then(|of| of.try_into().ok());
        let of = SessionHash(of.ok_or(StatementError::NotAStatement)?);
        Self::read(bytes, of, |_| true)
    }

    /// Whether these bytes claim to be the departure of this member. Nothing is verified.
    #[must_use]
    pub fn claims_departure(bytes: &[u8], of: &PublicId) -> bool {
        bytes.get(2) == Some(&(Kind::Gone as u8)) && bytes.get(3..35) == Some(&of.bytes()[..])
    }

    /// BLAKE3 of the statement as signed.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        *blake3::hash(&self.bytes).as_bytes()
    }
}

impl Statement {
    /// Which kind it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Join(_) => Kind::Join,
            Self::Roster(_) => Kind::Roster,
            Self::Reveal(_) => Kind::Reveal,
            Self::Ready(_) => Kind::Ready,
            Self::LedgerBehind { .. } => Kind::LedgerBehind,
            Self::Gone { .. } => Kind::Gone,
            Self::Finished { .. } => Kind::Finished,
            Self::Stamps(_) => Kind::Stamps,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Join(join) => {
                out.extend_from_slice(&[join.mode as u8, join.wire.0, join.wire.1]);
                write_text(&join.build, out);
                for hash in [&join.sampler, &join.ephemeral, &join.commitment] {
                    out.extend_from_slice(hash);
                }
                write_head(&join.ledger, out);
            }
            Self::Roster(roster) => {
                out.push(roster.attempt);
                out.extend_from_slice(&roster.members.to_le_bytes());
                out.extend_from_slice(&roster.joins);
            }
            Self::Reveal(number) => out.extend_from_slice(number),
            Self::Ready(sections) => {
                for hash in &sections.0 {
                    out.extend_from_slice(hash);
                }
            }
            Self::LedgerBehind { join } => {
                let join = &join[..join.len().min(MOST_JOIN)];
                out.extend_from_slice(&(join.len() as u16).to_le_bytes());
                out.extend_from_slice(join);
            }
            Self::Gone {
                reason,
                about,
                text,
                is_final,
            } => {
                out.push(*reason as u8);
                out.push(u8::from(*is_final));
                out.push(u8::from(about.is_some()));
                if let Some(about) = about {
                    out.extend_from_slice(about.bytes());
                }
                write_text(text, out);
            }
            Self::Finished { result } => out.extend_from_slice(result),
            Self::Stamps(stamps) => stamps.write(out),
        }
    }

    fn read(kind: Kind, body: &mut Body<'_>) -> Option<Self> {
        Some(match kind {
            Kind::Join => Self::Join(Join {
                mode: match body.byte()? {
                    1 => Mode::Deployed,
                    2 => Mode::Simulation,
                    _ => return None,
                },
                wire: (body.byte()?, body.byte()?),
                build: body.text()?,
                sampler: body.array()?,
                ephemeral: body.array()?,
                commitment: body.array()?,
                ledger: body.head()?,
            }),
            Kind::Roster => Self::Roster(Roster {
                attempt: body.byte()?,
                members: u128::from_le_bytes(body.array()?),
                joins: body.array()?,
            }),
            Kind::Reveal => Self::Reveal(body.array()?),
            Kind::Ready => {
                let mut sections = [[0; 32]; SECTIONS.len()];
                for section in &mut sections {
                    *section = body.array()?;
                }
                Self::Ready(Sections(sections))
            }
            Kind::LedgerBehind => {
                let length = usize::from(u16::from_le_bytes(body.array()?));
                let join = body.take(length).filter(|_| length <= MOST_JOIN)?;
                Self::LedgerBehind { join: join.into() }
            }
            Kind::Gone => Self::Gone {
                reason: match body.byte()? {
                    1 => Reason::Refused,
                    2 => Reason::Lost,
                    3 => Reason::Failed,
                    _ => return None,
                },
                is_final: match body.byte()? {
                    0 => false,
                    1 => true,
                    _ => return None,
                },
                about: match body.byte()? {
                    0 => None,
                    1 => Some(PublicId::from_bytes(body.array()?).ok()?),
                    _ => return None,
                },
                text: body.text()?,
            },
            Kind::Finished => Self::Finished {
                result: body.array()?,
            },
            Kind::Stamps => Self::Stamps(Stamps::read(std::mem::take(&mut body.0))?),
        })
    }
}

/// What of a text others are shown: printable ASCII, so that no terminal obeys it.
fn printable(text: &str) -> impl Iterator<Item = char> {
    text.chars()
        .map(|c| match c {
            ' '..='~' => c,
            _ => '?',
        })
        .take(MOST_TEXT)
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    let text: String = printable(text).collect();
    out.push(text.len() as u8);
    out.extend_from_slice(text.as_bytes());
}

fn write_head(head: &LedgerHead, out: &mut Vec<u8>) {
    out.extend_from_slice(&head.length.to_le_bytes());
    out.extend_from_slice(&head.hash);
}

/// What is left of a body.
struct Body<'a>(&'a [u8]);

impl Body<'_> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn byte(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn take(&mut self, length: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<String> {
        let length = usize::from(self.byte()?);
        let text = self.take(length)?;
        let valid = length <= MOST_TEXT && text.iter().all(|byte| (b' '..=b'~').contains(byte));
        valid.then(|| text.iter().map(|&byte| char::from(byte)).collect())
    }

    fn head(&mut self) -> Option<LedgerHead> {
        Some(LedgerHead {
            length: u64::from_le_bytes(self.array()?),
            hash: self.array()?,
        })
    }
}
