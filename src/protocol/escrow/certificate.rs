//! Views as a holder knows them, and certificates: everybody's word that all seals of an attempt are held.

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

/// A decided view, as one of its members sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    number: u64,
    digest: [u8; 32],
    members: Vec<PeerIndex>,
    neighbours: Vec<PeerIndex>,
}

/// A list of peers that is no view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// Members or neighbours out of order.
    #[error("members and neighbours of view {number} are listed in ascending order, each once")]
    Order {
        /// Of which view.
        number: u64,
    },
    /// A neighbour that takes no part.
    #[error("{neighbour} is a live neighbour in view {number} and no member of it")]
    Stranger {
        /// Of which view.
        number: u64,
        /// Who.
        neighbour: PeerIndex,
    },
}

impl View {
    /// The view with this number: its members, ascending, and of these the live neighbours of the peer at hand, ascending. `digest` is of all that was
    /// decided, members and cut links, so that two who sign for one digest agree on who holds whose seals.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn new(
        number: u64,
        digest: [u8; 32],
        members: Vec<PeerIndex>,
        neighbours: Vec<PeerIndex>,
    ) -> Result<Self, ViewError> {
        let ascending = |list: &[PeerIndex]| list.windows(2).all(|pair| pair[0] < pair[1]);
        if !ascending(&members) || !ascending(&neighbours) {
            return Err(ViewError::Order { number });
        }
        let stranger = neighbours
            .iter()
            .find(|n| members.binary_search(n).is_err());
        if let Some(&neighbour) = stranger {
            return Err(ViewError::Stranger { number, neighbour });
        }
        Ok(Self {
            number,
            digest,
            members,
            neighbours,
        })
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u64 {
        self.number
    }

    /// The digest of what was decided.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Who takes part, ascending.
    #[must_use]
    pub fn members(&self) -> &[PeerIndex] {
        &self.members
    }

    /// Live neighbours of the peer at hand, ascending: the holders of its seals, and whose seals it holds.
    #[must_use]
    pub fn neighbours(&self) -> &[PeerIndex] {
        &self.neighbours
    }

    /// Whether somebody takes part.
    #[must_use]
    pub fn has(&self, peer: PeerIndex) -> bool {
        self.members.binary_search(&peer).is_ok()
    }
}

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

    /// For which attempt.
    #[must_use]
    pub fn attempt(&self) -> Attempt {
        self.attempt
    }

    /// Checks that all of `members`, and nobody else, signed `statement`; `verify` says whether a signature is that peer's over those bytes.
    ///
    /// # Errors
    /// [`CertificateError`] for the first member, by number, that has not.
    pub(super) fn check(
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
