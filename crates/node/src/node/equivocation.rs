//! Proof, for anybody, that a member signed two different frames for one place of the protocol.

use crate::protocol::SessionId;
use crate::protocol::wire::signed::{STAMP_LEN, Stamp};
use crate::session::{Domain, Identity, PublicId, STAMP_BYTES, Signature};

/// What frames are signed for.
const FRAME: Domain = Domain("undertone 2026-11 frame v4");

/// Bytes of a stamp with its signature.
pub const SIGNED_STAMP_LEN: usize = STAMP_LEN + 64;

const _: () = assert!(SIGNED_STAMP_LEN == STAMP_BYTES);

/// Whether these bytes are a stamp of a frame of this session, signed by this member.
#[must_use]
pub fn is_stamp(bytes: &[u8; SIGNED_STAMP_LEN], session: SessionId, signer: &PublicId) -> bool {
    let read = SignedStamp::from_bytes(bytes);
    read.is_some_and(|signed| signed.stamp.session() == session && signed.is_by(signer))
}

/// A stamp and the signature of whoever sent the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::node) struct SignedStamp {
    pub(super) stamp: Stamp,
    pub(super) signature: Signature,
}

impl SignedStamp {
    /// Signs the stamp of a frame.
    pub(super) fn by(identity: &Identity, stamp: Stamp) -> Self {
        let signature = identity.sign(FRAME, stamp.bytes());
        Self { stamp, signature }
    }

    /// Whether `id` signed it.
    pub(super) fn is_by(&self, id: &PublicId) -> bool {
        let signed = id.verify(FRAME, self.stamp.bytes(), &self.signature);
        signed.is_ok()
    }

    /// Stamp and signature, one after the other.
    pub(in crate::node) fn to_bytes(self) -> [u8; SIGNED_STAMP_LEN] {
        let mut bytes = [0; SIGNED_STAMP_LEN];
        bytes[..STAMP_LEN].copy_from_slice(self.stamp.bytes());
        bytes[STAMP_LEN..].copy_from_slice(&self.signature.to_bytes());
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (stamp, signature) = bytes.split_first_chunk::<STAMP_LEN>()?;
        let signature = signature.try_into().ok()?;
        Some(Self {
            stamp: Stamp::from_bytes(*stamp),
            signature: Signature::from_bytes(signature),
        })
    }
}

/// Two signed stamps of one member that contradict each other.
///
/// A stamp is a frame's header and the digest of its values, so the proof is 254 bytes, whatever the frames held, and shows no value.
/// Whoever has the frames can see that they are the ones stamped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Who signed both.
    pub culprit: PublicId,
    /// What came first: 63 bytes of stamp and 64 of signature.
    pub first: Vec<u8>,
    /// What came later, likewise.
    pub second: Vec<u8>,
}

/// Why evidence proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// Not two signed stamps.
    #[error(
        "this is no evidence: it must be two stamps of {SIGNED_STAMP_LEN} bytes, signatures included"
    )]
    NotStamps,
    /// Not signed by the one who is accused.
    #[error("this is no evidence: one of the stamps is not signed by {culprit}")]
    Signature {
        /// Who is accused.
        culprit: PublicId,
    },
    /// Two stamps that may both be.
    #[error("this is no evidence: the stamps do not contradict each other")]
    NoContradiction,
}

impl Evidence {
    pub(super) fn new(culprit: PublicId, first: SignedStamp, second: SignedStamp) -> Self {
        Self {
            culprit,
            first: first.to_bytes().to_vec(),
            second: second.to_bytes().to_vec(),
        }
    }

    /// Checks the proof; nothing but the evidence itself is needed.
    ///
    /// # Errors
    /// [`EvidenceError`] if it does not prove that the culprit signed two different frames for the same session, release, round, kind and part.
    pub fn verify(&self) -> Result<(), EvidenceError> {
        let stamp = |bytes| SignedStamp::from_bytes(bytes).ok_or(EvidenceError::NotStamps);
        let (first, second) = (stamp(&self.first)?, stamp(&self.second)?);
        let culprit = self.culprit;
        if !first.is_by(&culprit) || !second.is_by(&culprit) {
            return Err(EvidenceError::Signature { culprit });
        }
        let (first, second) = (first.stamp, second.stamp);
        if !first.is_of_one_place_with(&second) || first == second {
            return Err(EvidenceError::NoContradiction);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(place: u8, content: u8) -> Stamp {
        let mut bytes = [content; STAMP_LEN];
        bytes[..31].fill(place);
        Stamp::from_bytes(bytes)
    }

    #[test]
    fn evidence_holds_for_two_contents_of_one_place_by_one_key_and_for_nothing_else() {
        let liar = Identity::from_secret([7; 32].into());
        let honest = Identity::from_secret([8; 32].into());
        let by = |identity, place, content| SignedStamp::by(identity, stamp(place, content));
        let evidence = |first, second| Evidence::new(liar.id(), first, second);
        let proof = evidence(by(&liar, 1, 1), by(&liar, 1, 2));
        assert_eq!(proof.verify(), Ok(()));

        let harmless = evidence(by(&liar, 1, 1), by(&liar, 1, 1));
        assert_eq!(harmless.verify(), Err(EvidenceError::NoContradiction));
        let elsewhere = evidence(by(&liar, 1, 1), by(&liar, 2, 2));
        assert_eq!(elsewhere.verify(), Err(EvidenceError::NoContradiction));
        let culprit = liar.id();
        let forged = evidence(by(&liar, 1, 1), by(&honest, 1, 2));
        assert_eq!(forged.verify(), Err(EvidenceError::Signature { culprit }));
        let framed = Evidence {
            culprit: honest.id(),
            ..proof.clone()
        };
        let culprit = honest.id();
        assert_eq!(framed.verify(), Err(EvidenceError::Signature { culprit }));
        for byte in 0..SIGNED_STAMP_LEN {
            let mut changed = proof.clone();
            changed.second[byte] ^= 1;
            assert!(changed.verify().is_err(), "byte {byte}");
        }
        let mut cut = proof;
        cut.first.pop();
        assert_eq!(cut.verify(), Err(EvidenceError::NotStamps));
    }
}
