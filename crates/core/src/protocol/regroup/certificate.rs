//! Certificates: everybody's word that all that was published in an attempt is held.

use std::collections::BTreeMap;

use super::attempt::{ADDRESS_LEN, Attempt};
use crate::protocol::SessionId;
use crate::vocabulary::PeerIndex;

/// What signatures on held seals are over begins with this.
const DOMAIN: &[u8; 17] = b"undertone held v1";

/// Bytes of what is signed.
pub const HELD_LEN: usize = DOMAIN.len() + 16 + ADDRESS_LEN + 32;

/// Bytes of a signature.
pub const SIGNATURE_LEN: usize = 64;

/// What a member signs once it durably holds the seals of all its neighbours in an attempt. It is the same for all members, so that
/// nobody says two things by signing it.
#[must_use]
pub fn held_statement(session: SessionId, attempt: Attempt, view: &[u8; 32]) -> [u8; HELD_LEN] {
    let mut bytes = [0; HELD_LEN];
    let parts: [&[u8]; 4] = [DOMAIN, &session.0, &attempt.address(), view];
    let mut rest = &mut bytes[..];
    for part in parts {
        let (here, after) = rest.split_at_mut(part.len());
        here.copy_from_slice(part);
        rest = after;
    }
    bytes
}

/// Signatures of all members of a view that they hold the seals of an attempt. Nothing else opens a key or frees a share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    attempt: Attempt,
    signatures: BTreeMap<PeerIndex, [u8; SIGNATURE_LEN]>,
}

/// Signatures that are no certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateError {
    /// Somebody has not signed.
    #[error(
        "{by} has not signed that it holds the seals of {attempt}; a certificate has the signatures of all who take part"
    )]
    Missing {
        /// Who.
        by: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// Somebody signed that is no member.
    #[error("{by} signed for {attempt} and takes no part in it")]
    Stranger {
        /// Who.
        by: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// A signature by somebody else, or over something else.
    #[error("the signature by {by} for {attempt} is none")]
    Signature {
        /// Who should have signed.
        by: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
}

impl Certificate {
    /// These signatures for an attempt, not yet checked.
    #[must_use]
    pub fn new(attempt: Attempt, signatures: BTreeMap<PeerIndex, [u8; SIGNATURE_LEN]>) -> Self {
        Self {
            attempt,
            signatures,
        }
    }

    /// Who signed, and how, ascending.
    pub fn signatures(&self) -> impl Iterator<Item = (PeerIndex, [u8; SIGNATURE_LEN])> + '_ {
        self.signatures.iter().map(|(by, word)| (*by, *word))
    }

    /// For which attempt.
    #[must_use]
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// Checks that all of `members`, and nobody else, signed `statement`; `verify` says whether a signature is that peer's over those bytes.
    ///
    /// # Errors
    /// [`CertificateError`] for the first member, by number, that has not.
    pub(in crate::protocol) fn check(
        &self,
        members: &[PeerIndex],
        statement: &[u8; HELD_LEN],
        verify: impl Fn(PeerIndex, &[u8], &[u8; SIGNATURE_LEN]) -> bool,
    ) -> Result<(), CertificateError> {
        let attempt = self.attempt;
        for by in members.iter().copied() {
            match self.signatures.get(&by) {
                None => return Err(CertificateError::Missing { by, attempt }),
                Some(signature) if !verify(by, statement, signature) => {
                    return Err(CertificateError::Signature { by, attempt });
                }
                Some(_) => {}
            }
        }
        let mut signed = self.signatures.keys();
        match signed.find(|by| members.binary_search(by).is_err()) {
            Some(&by) => Err(CertificateError::Stranger { by, attempt }),
            None => Ok(()),
        }
    }
}
