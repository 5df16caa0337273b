//! One-time keys of a session: what two members share, and what a member keeps to itself.

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;
use x25519_dalek::{PublicKey, StaticSecret};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::entropy;
use super::identity::PublicId;
use super::statement::SessionHash;
use crate::noise::{PeerNoise, Term};
use crate::protocol::SessionPlan;
use crate::vocabulary::{PeerIndex, StreamKey};

/// Why two members share no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The operating system gave no random bytes.
    #[error("the operating system gives no random numbers: no session can begin")]
    Entropy,
    /// A public key of small order, with which everybody shares the same secret.
    #[error("{with} announced a key that gives no secret: it is refused")]
    Weak {
        /// Who.
        with: PublicId,
    },
}

/// A member's X25519 key for one session. `Debug` prints nothing of it.
pub struct Ephemeral(StaticSecret);

/// A member as both ends of a pair know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairEnd {
    /// Who.
    pub id: PublicId,
    /// Its X25519 public key for this session.
    pub ephemeral: [u8; 32],
}

impl Ephemeral {
    /// A new key from the operating system's entropy.
    ///
    /// # Errors
    /// [`KeyError::Entropy`].
    pub fn generate() -> Result<Self, KeyError> {
        let bytes = fresh()?;
        Ok(Self(StaticSecret::from(*bytes)))
    }

    /// The key that was generated before and kept on this member's disk.
    pub(crate) fn from_kept(secret: &[u8; 32]) -> Self {
        Self(StaticSecret::from(*secret))
    }

    /// The secret, to be kept in a file that nobody else can read until the session ends.
    pub(crate) fn secret(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0.to_bytes())
    }

    /// The public key that a Join announces.
    #[must_use]
    pub fn public(&self) -> [u8; 32] {
        PublicKey::from(&self.0).to_bytes()
    }

    /// The key of the noise that `me` and `other` share under this plan, or in one view of a session under it.
    ///
    /// HKDF-SHA256 (Krawczyk and Eronen, RFC 5869) of the X25519 secret (RFC 7748), with the plan as salt and both ends, lower index first, as
    /// information: no key of one plan, pair or session is one of another.
    ///
    /// # Errors
    /// [`KeyError::Weak`] where the secret is all zeros, which a key of small order makes it whatever ours is.
    pub fn shared(
        &self,
        plan: &[u8; 32],
        me: PairEnd,
        other: PairEnd,
    ) -> Result<StreamKey, KeyError> {
        let key = self.agreed(b"undertone 2026-11 pair v1", plan, me, other)?;
        Ok(StreamKey::from_secret(&key))
    }

    /// The secret that `me` and `other` share for the seals of contributions under this plan, and for nothing else.
    ///
    /// # Errors
    /// Those of [`Self::shared`].
    pub fn seal_pair(
        &self,
        plan: &[u8; 32],
        me: PairEnd,
        other: PairEnd,
    ) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        self.agreed(b"undertone 2026-11 seal v1", plan, me, other)
    }

    /// What both ends of a pair know for this purpose.
    fn agreed(
        &self,
        purpose: &[u8; 25],
        plan: &[u8; 32],
        me: PairEnd,
        other: PairEnd,
    ) -> Result<Zeroizing<[u8; 32]>, KeyError> {
        let secret = self.0.diffie_hellman(&PublicKey::from(other.ephemeral));
        if !secret.was_contributory() {
            return Err(KeyError::Weak { with: other.id });
        }
        let (lower, upper) = if me.id < other.id {
            (me, other)
        } else {
            (other, me)
        };
        let mut key = Zeroizing::new([0; 32]);
        let info: [&[u8]; 5] = [
            purpose,
            lower.id.bytes(),
            upper.id.bytes(),
            &lower.ephemeral,
            &upper.ephemeral,
        ];
        Hkdf::<Sha256>::new(Some(plan), secret.as_bytes())
            .expand_multi_info(&info, &mut *key)
            .expect("32 bytes are within what HKDF-SHA256 gives");
        Ok(key)
    }
}

impl fmt::Debug for Ephemeral {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ephemeral(redacted)")
    }
}

/// The root of a deployed member's own noise in one session.
///
/// It is drawn from the operating system: no seed, flag or variable decides it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct OwnNoise([u8; 32]);

impl OwnNoise {
    /// A new root from the operating system's entropy.
    ///
    /// # Errors
    /// [`KeyError::Entropy`].
    pub fn from_os() -> Result<Self, KeyError> {
        Ok(Self(*fresh()?))
    }

    /// The root that was drawn before and kept on this member's disk, of a session in which nothing has left yet.
    pub(crate) fn from_kept(root: &[u8; 32]) -> Self {
        Self(*root)
    }

    /// The root, to be kept in a file that nobody else can read until the session ends.
    pub(crate) fn root(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.0)
    }

    /// The number that this member commits to and reveals. It says nothing about the root, and there is one per session file.
    #[must_use]
    pub fn number(&self, session: &SessionHash) -> [u8; 32] {
        let mut message = [0; 34];
        message[0] = 3;
        message[1..33].copy_from_slice(&session.0);
        *blake3::keyed_hash(&self.0, &message).as_bytes()
    }

    /// What all seals of this member's contributions under this plan derive from.
    pub(crate) fn seal_root(&self, plan: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        let mut message = [4; 33];
        message[1..].copy_from_slice(plan);
        Zeroizing::new(*blake3::keyed_hash(&self.0, &message).as_bytes())
    }

    fn key(&self, plan: &[u8; 32], what: u8) -> StreamKey {
        let mut message = [0; 33];
        message[0] = what;
        message[1..].copy_from_slice(plan);
        let key = blake3::keyed_hash(&self.0, &message);
        StreamKey::from_secret(&Zeroizing::new(*key.as_bytes()))
    }

    /// All noise of a member under this plan: its own, drawn from this root alone, and what it shares with each partner.
    ///
    /// `partners` are its neighbours in the noise graph, ascending, each with the key that both have.
    #[must_use]
    pub fn peer_noise(
        &self,
        plan: &SessionPlan,
        index: PeerIndex,
        partners: Vec<(PeerIndex, StreamKey)>,
    ) -> PeerNoise {
        self.noise_in(plan.digest(), plan, index, partners)
    }

    /// The same in one view of a session, whose plan this is: `within` names session and view, and no two views have one name. Plans of two views
    /// may be alike, and nothing that was drawn in one may be drawn in another.
    #[must_use]
    pub fn noise_in(
        &self,
        within: &[u8; 32],
        plan: &SessionPlan,
        index: PeerIndex,
        partners: Vec<(PeerIndex, StreamKey)>,
    ) -> PeerNoise {
        let (sigmas, digest) = (plan.sigmas(), within);
        let laws = plan.ring_laws();
        let (key, scale) = (self.key(digest, 1), sigmas.own_of(index));
        let own = match (laws, sigmas.laplace, sigmas.wishart) {
            (Some(laws), ..) => Term::rounded(key, scale, laws.clone()),
            (None, Some(shares), _) => Term::laplace(key, scale, shares.shape),
            (None, None, Some(shares)) => Term::wishart(key, scale, shares.of_peer(index)),
            (None, None, None) => Term::new(key, scale),
        };
        let sharing = partners.into_iter().filter(|_| sigmas.pairwise != 0.0);
        let pairs = sharing.map(|(partner, key)| {
            let scale = match index < partner {
                true => sigmas.pairwise,
                false => -sigmas.pairwise,
            };
            match laws {
                Some(laws) => Term::mask(key, scale, laws.clone()),
                None => Term::new(key, scale),
            }
        });
        let coordinate = Term::new(self.key(digest, 2), sigmas.coordinate);
        PeerNoise::new(own, pairs.collect(), coordinate)
    }
}

impl fmt::Debug for OwnNoise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnNoise(redacted)")
    }
}

/// 64 hexadecimal digits that no other session file has.
///
/// # Errors
/// [`KeyError::Entropy`].
pub fn nonce() -> Result<String, KeyError> {
    fresh().map(|bytes| super::statement::hex(&*bytes))
}

/// A number from the operating system that tells two lives of one process apart. It hides nothing.
///
/// # Errors
/// [`KeyError::Entropy`].
pub fn drawn() -> Result<u32, KeyError> {
    let mut bytes = [0; 4];
    entropy::fill(&mut bytes).map_err(|_| KeyError::Entropy)?;
    Ok(u32::from_le_bytes(bytes))
}

/// Whether a public key gives two members a secret. A key of small order gives everybody the same one, whatever the other key is.
pub(super) fn gives_a_secret(public: &[u8; 32]) -> bool {
    let any = StaticSecret::from([1; 32]);
    any.diffie_hellman(&PublicKey::from(*public))
        .was_contributory()
}

/// 32 bytes from the operating system.
fn fresh() -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let mut bytes = Zeroizing::new([0; 32]);
    entropy::fill(&mut *bytes).map_err(|_| KeyError::Entropy)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Own noise, noise of own coordinates and the root of seals: whoever learns one key learns no other.
    #[test]
    fn every_use_of_the_own_secret_has_a_key_of_its_own() {
        let (own, plan) = (OwnNoise::from_kept(&[7; 32]), [5; 32]);
        let seal = StreamKey::from_secret(&own.seal_root(&plan));
        let number = StreamKey::from_secret(&Zeroizing::new(own.number(&SessionHash(plan))));
        let keys = [own.key(&plan, 1), own.key(&plan, 2), seal, number];
        for (place, key) in keys.iter().enumerate() {
            assert!(keys[..place].iter().all(|other| other != key), "{place}");
        }
    }
}
