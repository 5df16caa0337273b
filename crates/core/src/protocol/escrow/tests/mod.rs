//! Seals, shares and rules together: what opens, what does not, and whole schedules.

mod adversary;
mod hostile;
mod liar;
mod one_key;
mod schedules;
mod sealing;

use std::collections::BTreeMap;
use std::convert::Infallible;

use zeroize::Zeroizing;

use super::*;
use crate::protocol::SessionId;
use crate::protocol::regroup::{
    Attempt, Certificate, CertificateError, SIGNATURE_LEN, Threshold, ViewNumber, held_statement,
};
use crate::vocabulary::{PeerIndex, ReleaseId};

pub(super) const SESSION: SessionId = SessionId([7; 16]);

pub(super) fn attempt(retry: u32, view: u64) -> Attempt {
    Attempt {
        release: ReleaseId(1),
        retry,
        view: ViewNumber(view),
    }
}

pub(super) fn peers(numbers: impl IntoIterator<Item = u32>) -> Vec<PeerIndex> {
    numbers.into_iter().map(PeerIndex).collect()
}

/// 32 bytes that belong to these numbers.
pub(super) fn secret(of: &[u32]) -> Zeroizing<[u8; 32]> {
    let bytes: Vec<u8> = of.iter().flat_map(|n| n.to_le_bytes()).collect();
    Zeroizing::new(*blake3::hash(&bytes).as_bytes())
}

pub(super) fn root(peer: u32) -> SealRoot {
    SealRoot::from_secret(&secret(&[1, peer]))
}

/// The key of one direction, from what the two ends share.
pub(super) fn escrow_key(dealer: PeerIndex, holder: PeerIndex) -> EscrowKey {
    let (lower, upper) = (dealer.min(holder).0, dealer.max(holder).0);
    EscrowKey::new(&secret(&[2, lower, upper]), dealer, holder)
}

/// A signature that only this peer can make, as far as tests go.
pub(super) fn sign(by: PeerIndex, statement: &[u8]) -> [u8; SIGNATURE_LEN] {
    let mut signature = [0; SIGNATURE_LEN];
    let mut keyed = blake3::Hasher::new_keyed(&secret(&[3, by.0]));
    keyed.update(statement);
    keyed.finalize_xof().fill(&mut signature);
    signature
}

pub(super) fn verify(by: PeerIndex, statement: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
    sign(by, statement) == *signature
}

/// Keeps a record, and cannot fail.
pub(super) fn keep(disk: &mut Vec<Record>) -> impl FnOnce(&Record) -> Result<(), Infallible> {
    |record| {
        disk.push(record.clone());
        Ok(())
    }
}

/// All shares of a seal as they travel, by holder.
pub(super) fn hidden(seal: &Seal) -> Vec<(PeerIndex, [u8; HIDDEN_SHARE_LEN])> {
    let holders = seal.holders().iter().copied();
    holders.zip(seal.hidden().copied()).collect()
}

/// What is sealed by `dealer` for `holders`, with a threshold of its own.
pub(super) struct Order {
    pub(super) attempt: Attempt,
    pub(super) dealer: PeerIndex,
    pub(super) threshold: Threshold,
    pub(super) holders: Vec<PeerIndex>,
    pub(super) values: Vec<u8>,
    pub(super) scale: f64,
}

impl Order {
    pub(super) fn with<R>(&self, then: impl FnOnce(&Sealing<'_>) -> R) -> R {
        let keys: BTreeMap<PeerIndex, EscrowKey> = self
            .holders
            .iter()
            .map(|&holder| (holder, escrow_key(self.dealer, holder)))
            .collect();
        let holders: Vec<(PeerIndex, &EscrowKey)> =
            self.holders.iter().map(|h| (*h, &keys[h])).collect();
        then(&Sealing {
            attempt: self.attempt,
            dealer: self.dealer,
            threshold: self.threshold,
            scale: self.scale,
            query: [9; 32],
            holders: &holders,
            values: &self.values,
        })
    }

    pub(super) fn expected(&self) -> Expected<'_> {
        Expected {
            attempt: self.attempt,
            dealer: self.dealer,
            threshold: self.threshold,
            holders: &self.holders,
            bytes: self.values.len(),
        }
    }
}
