//! Secrets and signatures of simulated peers: what deployed members agree on by key exchange follows from the seed here.

use std::fmt;
use std::sync::Arc;

use rand::Rng;
use zeroize::Zeroizing;

use super::SessionViews;
use crate::protocol::regroup::{SIGNATURE_LEN, Signer, Verifier};
use crate::protocol::tolerant::SealSecrets;
use crate::vocabulary::{NoiseLabel, PeerIndex, StreamKey};

/// What names the secrets of a session among everything that follows from its seed.
const SECRETS: &[u8] = b"sealed contributions";

impl SessionViews {
    /// What a peer seals with. Like noise it is bound to the plan and to all rows: two runs of one seed that differ in either have
    /// nothing in common.
    #[must_use]
    pub fn seal_secrets(&self, me: PeerIndex) -> SealSecrets {
        let root = self.session().engine_root(SECRETS);
        let own = bytes(&root.key(NoiseLabel::Seal, me.0, 0));
        let neighbours = self.session().graph().neighbours(me.index()).iter();
        let pairs = neighbours.map(|&other| {
            let (lower, upper) = (other.min(me.0), other.max(me.0));
            let pair = bytes(&root.key(NoiseLabel::SealPair, lower, upper));
            (PeerIndex(other), pair)
        });
        let secrets = SealSecrets::new(me, &own, pairs);
        match self.defect {
            None => secrets,
            Some(defect) => defect.secrets(me, secrets),
        }
    }

    /// A peer's signatures, and how it checks those of others.
    #[must_use]
    pub fn signatures(&self, me: PeerIndex) -> Arc<dyn Signer> {
        let root = self.session().engine_root(SECRETS);
        let key = bytes(&root.key(NoiseLabel::Signature, 0, 0));
        Arc::new(SimulatedSignatures { me, key })
    }
}

/// Signatures of a simulation: keyed hashes of who signs and of what, under a key that the network alone has. They cost a hundredth of Ed25519, and
/// within a simulation nobody else can make them either.
struct SimulatedSignatures {
    me: PeerIndex,
    key: Zeroizing<[u8; 32]>,
}

impl SimulatedSignatures {
    fn of(&self, by: PeerIndex, bytes: &[u8]) -> [u8; SIGNATURE_LEN] {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&by.0.to_le_bytes());
        hasher.update(bytes);
        let mut signature = [0; SIGNATURE_LEN];
        hasher.finalize_xof().fill(&mut signature);
        signature
    }
}

impl Signer for SimulatedSignatures {
    fn sign(&self, bytes: &[u8]) -> [u8; SIGNATURE_LEN] {
        self.of(self.me, bytes)
    }
}

impl Verifier for SimulatedSignatures {
    fn verify(&self, by: PeerIndex, bytes: &[u8], signature: &[u8; SIGNATURE_LEN]) -> bool {
        self.of(by, bytes) == *signature
    }
}

impl fmt::Debug for SimulatedSignatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimulatedSignatures({}, key redacted)", self.me)
    }
}

fn bytes(key: &StreamKey) -> Zeroizing<[u8; 32]> {
    let mut bytes = Zeroizing::new([0; 32]);
    key.words(0, 0).fill_bytes(&mut *bytes);
    bytes
}
