//! One line of the ledger: what it says, how it is written, and how it is checked.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};

use super::super::digest::Digest;
use super::super::ledger_error::LineError;
use super::super::terms::{Head, Reservation, SessionEnd, Square};
use crate::session::{Domain, Identity, MemberName, PublicId, Signature};
use crate::vocabulary::ReleaseId;

/// What a line is signed as.
const DOMAIN: Domain = Domain("undertone 2026-11 ledger v1");

/// Bytes of the longest line, its end included.
pub(super) const LONGEST: usize = 1 << 16;

/// What stands between a line's content and its signature.
const BEFORE_SIGNATURE: &str = ",\"sig\":\"";

/// Characters of a signature in base64.
const SIGNATURE: usize = 88;

/// What stands after it.
const AFTER_SIGNATURE: &str = "\"}";

/// The content of a line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// Its number, from 0. A line that takes up a ledger that was lost jumps over the numbers that were in use.
    pub(super) n: u64,
    /// The hash of the line before; of the first line 32 zeros.
    pub(super) prev: Digest,
    /// When it was written, by this peer's clock, in UTC to the second.
    pub(super) time: String,
    /// What happened.
    #[serde(flatten)]
    pub(super) event: LedgerEvent,
}

/// What the ledger records.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LedgerEvent {
    /// The ledger of this peer begins.
    Opened {
        /// Whose it is.
        id: PublicId,
        /// What it was called then.
        name: MemberName,
    },
    /// A session may spend so much.
    Reserved(Reservation),
    /// A release was paid for, before anything of it left.
    Charged {
        /// Of which session.
        session: Digest,
        /// Which.
        release: ReleaseId,
        /// How many tries had been charged anew in the session when this one began, itself included: 0 unless peers were lost.
        #[serde(default, skip_serializing_if = "is_none_anew")]
        retry: u32,
        /// Its μ².
        mu_squared: Square,
    },
    /// A session is over; what it did not charge is free again.
    Finished {
        /// Which.
        session: Digest,
        /// How it ended.
        outcome: SessionEnd,
    },
    /// Sessions that a lost ledger had: charged in full.
    Adopted {
        /// How far that ledger went, as others saw it.
        known: Head,
        /// The sessions that it had and this one has not.
        sessions: Vec<Reservation>,
    },
}

/// Whether nothing was charged anew: lines of sessions in which nothing goes wrong do not say it.
fn is_none_anew(retry: &u32) -> bool {
    *retry == 0
}

impl Entry {
    /// The line as it stands in the file, signed, with its end.
    pub(super) fn line(&self, identity: &Identity) -> String {
        let mut text = serde_json::to_string(self).unwrap_or_else(|error| {
            unreachable!("numbers, hashes and checked text are JSON: {error}")
        });
        let signature = identity.sign(DOMAIN, text.as_bytes());
        text.pop();
        text.push_str(BEFORE_SIGNATURE);
        STANDARD.encode_string(signature.to_bytes(), &mut text);
        text.push_str(AFTER_SIGNATURE);
        text.push('\n');
        text
    }

    /// Reads a line without its end and checks its signature; not what it says.
    pub(super) fn read(line: &[u8], owner: &PublicId) -> Result<Self, LineError> {
        let (content, signature) = split(line).ok_or(LineError::Form)?;
        let content = [content, b"}"].concat();
        owner
            .verify(DOMAIN, &content, &signature)
            .map_err(|_| LineError::Signature)?;
        let entry: Self = serde_json::from_slice(&content).map_err(|_| LineError::Form)?;
        // One content has one text: no unknown keys, no blanks, no other spelling of a number.
        match serde_json::to_vec(&entry) {
            Ok(text) if text == content => Ok(entry),
            _ => Err(LineError::Spelling),
        }
    }
}

/// A line's content without its closing brace, and its signature.
pub(super) fn split(line: &[u8]) -> Option<(&[u8], Signature)> {
    let rest = line.strip_suffix(AFTER_SIGNATURE.as_bytes())?;
    let (rest, encoded) = rest.split_at_checked(rest.len().checked_sub(SIGNATURE)?)?;
    let content = rest.strip_suffix(BEFORE_SIGNATURE.as_bytes())?;
    let bytes = STANDARD.decode(encoded).ok()?;
    Some((content, Signature::from_bytes(bytes.try_into().ok()?)))
}

/// The part of `tail` that could be a whole line: up to the end of its first signature.
pub(super) fn whole_line(tail: &[u8]) -> Option<&[u8]> {
    let mark = BEFORE_SIGNATURE.as_bytes();
    let at = tail.windows(mark.len()).position(|window| window == mark)?;
    tail.get(..at + mark.len() + SIGNATURE + AFTER_SIGNATURE.len())
}
