//! Signatures on what members tell one another: who said it is known, and what nobody honest says twice is proof.

use std::fmt;

use super::attempt::ViewNumber;
use super::certificate::{SIGNATURE_LEN, held_statement};
use super::record::{Record, Statement};
use crate::protocol::SessionId;
use crate::vocabulary::PeerIndex;

/// What is signed begins with this, where it is not a statement of what is held.
const DOMAIN: &[u8; 20] = b"undertone regroup v2";

/// The public keys of all members.
pub trait Verifier: fmt::Debug + Send + Sync {
    /// Whether a signature is that of this member over these bytes.
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool;
}

/// A member's own key beside them. Deployed members have Ed25519; a simulation's network takes what nobody else in it can make.
pub trait Signer: Verifier {
    /// This member's signature over these bytes; always the same for the same bytes.
    fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_LEN];
}

/// A record with the signature of its origin. Whoever forwards it changes nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Signed {
    /// What is said.
    pub record: Record,
    /// By whom: over [`Record::signed_bytes`].
    pub signature: [u8; SIGNATURE_LEN],
}

impl fmt::Debug for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signed({:?})", self.record)
    }
}

impl Record {
    /// What its origin signs. `digest` gives that of a view, by its number: whoever says what it holds says among whom. Nothing for what is held in a
    /// view that is not known.
    #[must_use]
    pub fn signed_bytes(
        &self,
        session: SessionId,
        digest: impl FnOnce(ViewNumber) -> Option<[u8; 32]>,
    ) -> Option<Vec<u8>> {
        let mut out = Vec::with_capacity(128);
        out.extend_from_slice(DOMAIN);
        out.extend_from_slice(&session.0);
        out.extend_from_slice(&self.origin().0.to_le_bytes());
        match self {
            Self::Held { attempt, .. } => {
                let digest = digest(attempt.view)?;
                return Some(held_statement(session, *attempt, &digest).to_vec());
            }
            Self::Cut { link, .. } => {
                out.push(1);
                out.extend_from_slice(&link.0.to_le_bytes());
            }
            Self::Restart { count, .. } => out.extend_from_slice(&[2, *count]),
            Self::Statement {
                serial, statement, ..
            } => {
                out.push(3);
                out.extend_from_slice(&serial.to_le_bytes());
                // Without the size of the session the same bytes could be read as another statement.
                for length in statement.disruptions.lengths() {
                    out.extend_from_slice(&length.to_le_bytes());
                }
                statement.append_to(&mut out);
            }
            Self::Finished { .. } => out.push(4),
        }
        Some(out)
    }
}

impl Statement {
    /// As bytes that no other statement has: lists come with their length.
    pub(super) fn append_to(&self, out: &mut Vec<u8>) {
        let Self {
            disruptions,
            done,
            certified,
            sent,
            retries,
        } = self;
        disruptions.append_to(out);
        out.extend_from_slice(&done.0.to_le_bytes());
        out.extend_from_slice(&(certified.len() as u32).to_le_bytes());
        for attempt in certified {
            out.extend_from_slice(&attempt.address());
        }
        match sent {
            None => out.push(0),
            Some(attempt) => {
                out.push(1);
                out.extend_from_slice(&attempt.address());
            }
        }
        out.extend_from_slice(&retries.to_le_bytes());
    }
}
