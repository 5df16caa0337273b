//! Keys of sealed contributions: a contribution's own, and those under which its shares travel.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::shamir::SECRET_LEN;
use crate::protocol::regroup::{ADDRESS_LEN, Attempt, Threshold};
use crate::vocabulary::PeerIndex;

/// Domains of everything that is derived here: first bytes of messages to keyed hashes, of which no two under one key are alike.
const KEY: u8 = 1;
const COEFFICIENTS: u8 = 2;
const STREAM: u8 = 3;
const COMMIT: u8 = 4;

/// What is put before the ends of a direction.
const ESCROW: &[u8; 20] = b"undertone escrow v1 ";

/// The secret from which all of a peer's own seals in one session derive. `Debug` prints nothing of it.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct SealRoot([u8; 32]);

/// The key of one sealed contribution: whoever has it can read that contribution. `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct SealKey([u8; SECRET_LEN]);

/// The key under which one peer sends shares of its contributions to one holder. `Debug` prints nothing of it.
///
/// There are two for every pair, one for each direction. With one for both, whoever sees all seals of an attempt knows the sum of the two shares that
/// cross on every link, since both are hidden by the same pad; in a complete graph of eight with two colluders that turns two keys
/// that were opened into all others.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct EscrowKey([u8; 32]);

impl SealRoot {
    /// The root with these bytes, which nobody else knows and which no other session has.
    #[must_use]
    pub fn from_secret(secret: &Zeroizing<[u8; 32]>) -> Self {
        Self(**secret)
    }

    fn message(what: u8, attempt: Attempt) -> [u8; 1 + ADDRESS_LEN] {
        let mut message = [what; 1 + ADDRESS_LEN];
        message[1..].copy_from_slice(&attempt.address());
        message
    }

    /// The key of the contribution to one attempt.
    pub(super) fn key(&self, attempt: Attempt) -> SealKey {
        let message = Self::message(KEY, attempt);
        SealKey(*blake3::keyed_hash(&self.0, &message).as_bytes())
    }

    /// The coefficients of that key's shares, always the same, so that a share that is sent again is the same share.
    pub(super) fn coefficients(&self, attempt: Attempt) -> blake3::OutputReader {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&Self::message(COEFFICIENTS, attempt));
        hasher.finalize_xof()
    }
}

impl SealKey {
    /// A key that its owner sent, or that shares gave.
    #[must_use]
    pub fn from_secret(secret: &Zeroizing<[u8; SECRET_LEN]>) -> Self {
        Self(**secret)
    }

    /// Its bytes, which are sent once nothing speaks against it.
    #[must_use]
    pub fn secret(&self) -> &[u8; SECRET_LEN] {
        &self.0
    }

    /// The key of the stream that hides the values that `commit` is of. Other values have another commitment and another stream, so that not even a
    /// peer that sealed twice in one attempt would hide two contributions under one stream.
    pub(super) fn stream(&self, commit: &[u8; 32]) -> Zeroizing<[u8; 32]> {
        let mut message = [STREAM; 33];
        message[1..].copy_from_slice(commit);
        Zeroizing::new(*blake3::keyed_hash(&self.0, &message).as_bytes())
    }

    /// The key of the commitment.
    pub(super) fn commitment(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*blake3::keyed_hash(&self.0, &[COMMIT]).as_bytes())
    }
}

impl EscrowKey {
    /// The key for shares that `dealer` sends to `holder`, from the secret that the two agreed on for this session and for nothing else.
    #[must_use]
    pub fn new(pair: &Zeroizing<[u8; 32]>, dealer: PeerIndex, holder: PeerIndex) -> Self {
        let mut message = [0; 28];
        message[..20].copy_from_slice(ESCROW);
        message[20..24].copy_from_slice(&dealer.0.to_le_bytes());
        message[24..].copy_from_slice(&holder.0.to_le_bytes());
        Self(*blake3::keyed_hash(pair, &message).as_bytes())
    }

    /// What hides the share at this point of one attempt, and nothing else: it follows from the dealer's root, the attempt, the threshold and
    /// the point which share that is.
    pub(super) fn pad(
        &self,
        attempt: Attempt,
        threshold: Threshold,
        point: u8,
    ) -> Zeroizing<[u8; SECRET_LEN]> {
        let mut message = [0; ADDRESS_LEN + 2];
        message[..ADDRESS_LEN].copy_from_slice(&attempt.address());
        message[ADDRESS_LEN] = threshold.shares() as u8;
        message[ADDRESS_LEN + 1] = point;
        Zeroizing::new(*blake3::keyed_hash(&self.0, &message).as_bytes())
    }
}

macro_rules! redacted {
    ($($key:ident),*) => {
        $(impl std::fmt::Debug for $key {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($key), "(redacted)"))
            }
        })*
    };
}

redacted!(SealRoot, SealKey, EscrowKey);
