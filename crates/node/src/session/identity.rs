//! Who a member is: an Ed25519 key pair, and the public id that others know it by.

use std::fmt;
use std::str::FromStr;

use ed25519_dalek::{Signer, SigningKey, VerifyingKey};

/// What libp2p puts before a raw Ed25519 key to make a peer id: an identity multihash of 36 bytes that holds a key of type 1 with 32 bytes.
const PREFIX: [u8; 6] = [0x00, 0x24, 0x08, 0x01, 0x12, 0x20];

/// Bytes of a signature.
pub(crate) const SIGNATURE_LEN: usize = 64;

/// A member as others know it: its raw Ed25519 public key, written as a libp2p peer id. Members are in the order of their raw keys.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicId([u8; 32]);

/// A public id made ready to verify many signatures: to decompress a key costs a sixth of a verification.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Verifier {
    id: PublicId,
    key: VerifyingKey,
}

/// A signature by a member's key, which does not say whose.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; SIGNATURE_LEN]);

/// What a signature is for. Signatures over equal bytes in two domains differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain(pub(crate) &'static str);

/// Why an id, a key or a signature is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// Text that is no peer id.
    #[error(
        "this is no public id: it must be the 52 letters that `undertone node id` prints, beginning with 12D3KooW"
    )]
    NotAnId,
    /// Bytes that are no point of the curve, or a point of small order that anybody can sign for.
    #[error("this public id is no key that anybody can hold")]
    NotAKey,
    /// A signature by somebody else, or over something else.
    #[error("the signature is not by {by} over these bytes")]
    Signature {
        /// Who should have signed.
        by: PublicId,
    },
    /// The operating system gave no random bytes.
    #[error("the operating system gives no random numbers: no key can be made")]
    Entropy,
}

/// A member's secret key. `Debug` prints the public id only.
pub struct Identity(SigningKey);

impl Identity {
    /// A new key pair from the operating system's entropy.
    ///
    /// # Errors
    /// [`IdentityError::Entropy`].
    pub fn generate() -> Result<Self, IdentityError> {
        let mut secret = [0; 32];
        super::entropy::fill(&mut secret).map_err(|_| IdentityError::Entropy)?;
        Ok(Self::from_secret(zeroize::Zeroizing::new(secret)))
    }

    /// The key pair of these 32 secret bytes, which are wiped.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the caller's copy is taken, and wiped here"
    )]
    pub fn from_secret(secret: zeroize::Zeroizing<[u8; 32]>) -> Self {
        Self(SigningKey::from_bytes(&secret))
    }

    /// The secret, to be written to a file that nobody else can read.
    #[must_use]
    pub fn secret(&self) -> zeroize::Zeroizing<[u8; 32]> {
        zeroize::Zeroizing::new(self.0.to_bytes())
    }

    /// What others know this member by.
    #[must_use]
    pub fn id(&self) -> PublicId {
        PublicId(self.0.verifying_key().to_bytes())
    }

    /// Signs `bytes` in this domain.
    #[must_use]
    pub fn sign(&self, domain: Domain, bytes: &[u8]) -> Signature {
        Signature(self.0.sign(&domain.digest(bytes)).to_bytes())
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({}, secret redacted)", self.id())
    }
}

impl Domain {
    /// What is signed: BLAKE3 of the bytes under a key that is derived from the domain's name.
    fn digest(self, bytes: &[u8]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(self.0);
        hasher.update(bytes);
        *hasher.finalize().as_bytes()
    }
}

impl Signature {
    /// From its 64 bytes.
    #[must_use]
    pub fn from_bytes(bytes: [u8; SIGNATURE_LEN]) -> Self {
        Self(bytes)
    }

    /// Its 64 bytes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; SIGNATURE_LEN] {
        self.0
    }
}

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature")
    }
}

impl PublicId {
    /// The id with this raw key.
    ///
    /// # Errors
    /// [`IdentityError::NotAKey`] for bytes that are no point of the curve, or one of small order.
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, IdentityError> {
        Verifier::from_bytes(bytes).map(|verifier| verifier.id)
    }

    /// A name with the end of the id, as it stands wherever somebody is blamed: `ulm (12D3KooW..x7Yzab12)`. Whoever invites chooses names and may
    /// give two members names that look alike.
    #[must_use]
    pub fn beside(&self, name: &str) -> String {
        let id = self.to_string();
        format!("{name} ({}..{})", &id[..8], &id[id.len() - 8..])
    }

    /// The same, ready to verify.
    ///
    /// # Errors
    /// None for an id of this type, which is a key.
    pub fn verifier(&self) -> Result<Verifier, IdentityError> {
        Verifier::from_bytes(self.0)
    }

    /// The raw key.
    #[must_use]
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Checks that this member signed `bytes` in this domain.
    ///
    /// # Errors
    /// [`IdentityError::Signature`].
    pub fn verify(
        &self,
        domain: Domain,
        bytes: &[u8],
        signature: &Signature,
    ) -> Result<(), IdentityError> {
        let refused = IdentityError::Signature { by: *self };
        let verifier = self.verifier().map_err(|_| refused)?;
        verifier.verify(domain, bytes, signature)
    }
}

impl Verifier {
    /// Of the id with this raw key.
    ///
    /// # Errors
    /// As for [`PublicId::from_bytes`].
    pub fn from_bytes(bytes: [u8; 32]) -> Result<Self, IdentityError> {
        match VerifyingKey::from_bytes(&bytes) {
            Ok(key) if !key.is_weak() => Ok(Self {
                id: PublicId(bytes),
                key,
            }),
            _ => Err(IdentityError::NotAKey),
        }
    }

    /// Whose signatures it verifies.
    #[must_use]
    pub fn id(&self) -> PublicId {
        self.id
    }

    /// Checks that this member signed `bytes` in this domain.
    ///
    /// # Errors
    /// [`IdentityError::Signature`].
    pub fn verify(
        &self,
        domain: Domain,
        bytes: &[u8],
        signature: &Signature,
    ) -> Result<(), IdentityError> {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        let verified = self.key.verify_strict(&domain.digest(bytes), &signature);
        verified.map_err(|_| IdentityError::Signature { by: self.id })
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Verifier({})", self.id)
    }
}

impl fmt::Display for PublicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = [0; 38];
        bytes[..6].copy_from_slice(&PREFIX);
        bytes[6..].copy_from_slice(&self.0);
        f.pad(&bs58::encode(bytes).into_string())
    }
}

impl fmt::Debug for PublicId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicId({self})")
    }
}

impl FromStr for PublicId {
    type Err = IdentityError;

    fn from_str(text: &str) -> Result<Self, IdentityError> {
        // Longer than any id: nothing is decoded that could be large.
        if text.len() > 64 {
            return Err(IdentityError::NotAnId);
        }
        let bytes = bs58::decode(text).into_vec();
        let bytes = bytes.map_err(|_| IdentityError::NotAnId)?;
        let key = bytes.strip_prefix(&PREFIX).ok_or(IdentityError::NotAnId)?;
        let key: [u8; 32] = key.try_into().map_err(|_| IdentityError::NotAnId)?;
        Self::from_bytes(key)
    }
}

impl serde::Serialize for PublicId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for PublicId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: Domain = Domain("undertone test one");
    const TWO: Domain = Domain("undertone test two");

    #[test]
    fn signatures_hold_for_one_key_one_domain_and_the_same_bytes() {
        let identity = Identity::from_secret([7; 32].into());
        let other = Identity::from_secret([8; 32].into());
        let signature = identity.sign(ONE, b"body");
        assert!(identity.id().verify(ONE, b"body", &signature).is_ok());
        assert!(identity.id().verify(TWO, b"body", &signature).is_err());
        assert!(identity.id().verify(ONE, b"bodY", &signature).is_err());
        assert!(other.id().verify(ONE, b"body", &signature).is_err());
    }

    #[test]
    fn ids_are_those_of_libp2p() {
        let mut secret = [7; 32];
        let pair = libp2p::identity::Keypair::ed25519_from_bytes(&mut secret).expect("32 bytes");
        let identity = Identity::from_secret([7; 32].into());
        assert_eq!(
            identity.id().to_string(),
            pair.public().to_peer_id().to_string()
        );
        assert_eq!(identity.id().to_string().parse(), Ok(identity.id()));
    }

    #[test]
    fn what_is_no_key_is_no_id() {
        for text in ["", "12D3KooW", "0OIl", &"1".repeat(10_000)] {
            assert_eq!(text.parse::<PublicId>(), Err(IdentityError::NotAnId));
        }
        // The neutral element and another point of small order: everybody can sign for them.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        assert_eq!(PublicId::from_bytes(neutral), Err(IdentityError::NotAKey));
        assert_eq!(PublicId::from_bytes([0; 32]), Err(IdentityError::NotAKey));
    }

    #[test]
    fn secrets_are_not_printed() {
        let identity = Identity::from_secret([7; 32].into());
        let printed = format!("{identity:?}");
        assert!(printed.ends_with("secret redacted)"), "{printed}");
        assert!(!printed.contains("7, 7"));
    }
}
