mod by_hand;
mod evidence;
mod hostile;
mod model;
mod promises;
mod schedules;

use std::sync::Arc;

use super::certificate::SIGNATURE_LEN;
use super::signed::{Signer, Verifier};
use crate::vocabulary::PeerIndex;

/// A signature that costs little, by keys that nobody in a test looks at.
#[derive(Debug)]
pub(in crate::protocol) struct Marks(pub(in crate::protocol) PeerIndex);

impl Marks {
    pub(in crate::protocol) fn of(me: PeerIndex) -> Arc<dyn Signer> {
        Arc::new(Self(me))
    }
}

impl Signer for Marks {
    fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_LEN] {
        let mut signature = [0; SIGNATURE_LEN];
        let mut hasher = blake3::Hasher::new_derive_key("undertone tests: signature");
        hasher.update(&self.0.0.to_le_bytes());
        hasher.update(bytes);
        hasher.finalize_xof().fill(&mut signature);
        signature
    }
}

impl Verifier for Marks {
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        Self(by).sign(bytes) == *signature
    }
}
