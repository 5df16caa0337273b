//! A sealed contribution: hidden, committed to, its key shared among the neighbours.
//!
//! ```text
//! attempt (16) | dealer (4) | τ (1) | m (1) | scale (8) | query (32) | bytes (4) | commit (32)
//! m times, holders ascending:  H(share) (32)
//! values under the stream of the key
//! ```
//!
//! That is the *frame*, and all holders are sent the same one. Beside it each is sent its own share, 32 bytes under its own escrow key, and nobody else's. Nothing
//! is lost by that: whoever opens a contribution without its owner gathers shares that their holders decrypted and gave up, and never reads one that was hidden for
//! somebody else. A holder that has started again has its share on its disk, from before it said that it holds the seal. And nothing is learned by it: what a coalition is
//! sent is a part of what it would be sent with all shares in every copy. Beside the values that is 130 + 32·m bytes for m holders.
//!
//! `commit` is a keyed hash of the values and of all fields before it, under a key that follows from the seal's: it tells whoever opens that these
//! are the values that were sealed, at this scale, for this query, and it commits to the key, since two keys that open one frame to
//! two contributions would be a collision. `H(share)` is what a share that a holder sends later is checked against, so that a wrong one
//! names its holder; if τ shares are right and give no key that opens, the dealer made them so.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand::{Rng, SeedableRng};
use zeroize::Zeroizing;

use super::keys::{EscrowKey, SealKey, SealRoot};
use super::shamir::{SECRET_LEN, Share, ShareError, combine, split};
use crate::protocol::regroup::{ADDRESS_LEN, Attempt, Threshold};
use crate::vocabulary::PeerIndex;

const DEALER: usize = ADDRESS_LEN;
const SHARES: usize = DEALER + 4;
const HOLDERS: usize = SHARES + 1;
const SCALE: usize = HOLDERS + 1;
const QUERY: usize = SCALE + 8;
const BYTES: usize = QUERY + 32;
const COMMITMENT: usize = BYTES + 4;
/// Bytes before the shares.
pub const SEAL_HEAD_LEN: usize = COMMITMENT + 32;
/// Bytes per holder, of the hash of its share.
pub const SEAL_HASH_LEN: usize = 32;
/// Bytes of a share as it travels, beside the frame.
pub const HIDDEN_SHARE_LEN: usize = SECRET_LEN;

/// What hashes of shares are of.
const SHARE_CONTEXT: &str = "undertone 2026-11 share of a sealed contribution v1";

/// What is sealed, for whom.
#[derive(Clone, Copy)]
pub struct Sealing<'a> {
    /// For which attempt.
    pub attempt: Attempt,
    /// Whose contribution.
    pub dealer: PeerIndex,
    /// How many shares open it.
    pub threshold: Threshold,
    /// What the dealer scaled its noise with: finite and above 0.
    pub scale: f64,
    /// A digest of the public query that the contribution answers.
    pub query: [u8; 32],
    /// The dealer's live neighbours, ascending, each with the key for shares that go to it.
    pub holders: &'a [(PeerIndex, &'a EscrowKey)],
    /// The contribution, as its frames would have carried it.
    pub values: &'a [u8],
}

/// Shares of a seal under the escrow keys of their holders, by holder: all of them where the dealer keeps it, a holder's own where that does.
type Hidden = Arc<[(PeerIndex, [u8; HIDDEN_SHARE_LEN])]>;

/// What a seal that arrives must be: known before its bytes are.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// For which attempt.
    pub attempt: Attempt,
    /// From whom.
    pub dealer: PeerIndex,
    /// How many shares open it.
    pub threshold: Threshold,
    /// The dealer's live neighbours in the view, ascending.
    pub holders: &'a [PeerIndex],
    /// Bytes of the contribution.
    pub bytes: usize,
}

/// A sealed contribution, as its owner keeps it and its neighbours hold it: the bytes that were sealed once, and nothing that could seal
/// again. `Debug` prints where it belongs.
#[derive(Clone, PartialEq)]
pub struct Seal {
    frame: Arc<[u8]>,
    hidden: Hidden,
    threshold: Threshold,
    holders: Arc<[PeerIndex]>,
}

/// Why bytes are no seal, or a seal does not open.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SealError {
    /// Another length than the plan has.
    #[error("a seal of {found} bytes, expected {expected}")]
    Length {
        /// Bytes present.
        found: usize,
        /// Bytes that a seal of this plan has.
        expected: usize,
    },
    /// A seal of something else.
    #[error("the seal is for another {what} than expected here")]
    Other {
        /// What differs.
        what: &'static str,
    },
    /// A scale that no noise has.
    #[error("a seal with a scale of {found}: a scale is a finite number above 0")]
    Scale {
        /// What it says.
        found: f64,
    },
    /// Holders out of order.
    #[error("holders of a seal are in ascending order, each once, and not the dealer itself")]
    Order,
    /// Nobody of the seal's holders.
    #[error("{peer} holds no share of this seal")]
    NotAHolder {
        /// Who.
        peer: PeerIndex,
    },
    /// A share that is not the one the dealer named.
    #[error("the share at point {point} is not the one that its dealer sealed")]
    Share {
        /// Where.
        point: u8,
    },
    /// A key that is not the seal's, or values that are not those committed to.
    #[error("the key does not open the seal")]
    Key,
    /// Shares that are right and give no key that opens.
    #[error("shares that all are as {dealer} dealt them do not open its seal: it dealt wrong ones")]
    Dealt {
        /// Who made them.
        dealer: PeerIndex,
    },
    /// Shares that give no key.
    #[error(transparent)]
    Shares(#[from] ShareError),
}

/// Bytes of the frame of a seal for so many holders of a contribution of so many bytes.
#[must_use]
pub fn seal_len(holders: usize, bytes: usize) -> usize {
    SEAL_HASH_LEN
        .saturating_mul(holders)
        .saturating_add(SEAL_HEAD_LEN)
        .saturating_add(bytes)
}

impl Seal {
    /// Seals. There is no way here from outside: what may be sealed, and that it is sealed once, is a rule of [`Escrow`](super::Escrow).
    pub(super) fn new(root: &SealRoot, sealing: &Sealing<'_>) -> Result<Self, SealError> {
        let Sealing {
            attempt,
            dealer,
            threshold,
            scale,
            query,
            holders,
            values,
        } = *sealing;
        let listed: Vec<PeerIndex> = holders.iter().map(|(holder, _)| *holder).collect();
        check(dealer, &listed, scale)?;
        let length = u32::try_from(values.len()).map_err(|_| SealError::Length {
            found: values.len(),
            expected: u32::MAX as usize,
        })?;
        let key = root.key(attempt);
        let mut coefficients = root.coefficients(attempt);
        let shares = split(key.secret(), threshold, holders.len(), |row| {
            coefficients.fill(row);
        })?;

        let mut frame = Vec::with_capacity(seal_len(holders.len(), values.len()));
        frame.extend_from_slice(&attempt.address());
        frame.extend_from_slice(&dealer.0.to_le_bytes());
        frame.push(threshold.shares() as u8);
        frame.push(shares.len() as u8);
        frame.extend_from_slice(&scale.to_le_bytes());
        frame.extend_from_slice(&query);
        frame.extend_from_slice(&length.to_le_bytes());
        let commit = commitment(&key, &frame, values);
        frame.extend_from_slice(&commit);
        let mut hidden = Vec::with_capacity(holders.len());
        for (share, (holder, escrow)) in shares.iter().zip(holders) {
            frame.extend_from_slice(&share_hash(&frame[..SCALE], share));
            let mut value = *share.value();
            let pad = escrow.pad(attempt, threshold, share.point());
            value.iter_mut().zip(pad.iter()).for_each(|(v, p)| *v ^= p);
            hidden.push((*holder, value));
        }
        let start = frame.len();
        frame.extend_from_slice(values);
        apply_stream(&key.stream(&commit), &mut frame[start..]);
        Ok(Self {
            frame: frame.into(),
            hidden: hidden.into(),
            threshold,
            holders: listed.into(),
        })
    }

    /// The seal with this frame and these hidden shares, if it is the one expected. Nothing is allocated for what the bytes announce. Whether a share is the one that
    /// the frame names shows once it is read ([`Self::share_of`]).
    ///
    /// # Errors
    /// [`SealError::Length`], [`SealError::Other`], [`SealError::Scale`], [`SealError::Order`] for expected holders out of order, and [`SealError::NotAHolder`] for a
    /// share of somebody else.
    pub fn read(
        frame: Arc<[u8]>,
        hidden: &[(PeerIndex, [u8; HIDDEN_SHARE_LEN])],
        expected: &Expected<'_>,
    ) -> Result<Self, SealError> {
        let length = seal_len(expected.holders.len(), expected.bytes);
        if frame.len() != length {
            return Err(SealError::Length {
                found: frame.len(),
                expected: length,
            });
        }
        let seal = Self {
            frame,
            hidden: hidden.into(),
            threshold: expected.threshold,
            holders: expected.holders.into(),
        };
        let differs = [
            ("attempt", seal.attempt() == expected.attempt),
            ("dealer", seal.dealer() == expected.dealer),
            (
                "threshold",
                usize::from(seal.frame[SHARES]) == expected.threshold.shares(),
            ),
            (
                "number of holders",
                usize::from(seal.frame[HOLDERS]) == expected.holders.len(),
            ),
            (
                "length of contribution",
                u32::from_le_bytes(seal.field(BYTES)) as usize == expected.bytes,
            ),
        ];
        if let Some((what, _)) = differs.into_iter().find(|(_, same)| !same) {
            return Err(SealError::Other { what });
        }
        check(expected.dealer, expected.holders, seal.scale())?;
        let stranger = |(peer, _): &&(PeerIndex, _)| expected.holders.binary_search(peer).is_err();
        match hidden.iter().find(stranger) {
            Some(&(peer, _)) => Err(SealError::NotAHolder { peer }),
            None => Ok(seal),
        }
    }

    /// The bytes that were sealed: what is sent to every holder, sent again, and kept.
    #[must_use]
    pub fn frame(&self) -> &Arc<[u8]> {
        &self.frame
    }

    /// The share of one holder as it travels, which that holder alone can read; nothing where this is another holder's copy.
    #[must_use]
    pub fn hidden_for(&self, holder: PeerIndex) -> Option<&[u8; HIDDEN_SHARE_LEN]> {
        let mut all = self.hidden.iter();
        all.find(|(peer, _)| *peer == holder)
            .map(|(_, share)| share)
    }

    /// All shares as they travel, as far as they are here.
    pub fn hidden(&self) -> impl Iterator<Item = &[u8; HIDDEN_SHARE_LEN]> {
        self.hidden.iter().map(|(_, share)| share)
    }

    fn field<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut field = [0; N];
        field.copy_from_slice(&self.frame[at..at + N]);
        field
    }

    /// Which attempt it is for.
    #[must_use]
    pub fn attempt(&self) -> Attempt {
        Attempt::of_address(&self.field(0))
    }

    /// Whose contribution.
    #[must_use]
    pub fn dealer(&self) -> PeerIndex {
        PeerIndex(u32::from_le_bytes(self.field(DEALER)))
    }

    /// What the dealer says to have scaled its noise with.
    #[must_use]
    pub fn scale(&self) -> f64 {
        f64::from_le_bytes(self.field(SCALE))
    }

    /// The digest of the query that the dealer says to have answered.
    #[must_use]
    pub fn query(&self) -> [u8; 32] {
        self.field(QUERY)
    }

    /// The commitment to the contribution and its key.
    #[must_use]
    pub fn commit(&self) -> [u8; 32] {
        self.field(COMMITMENT)
    }

    /// Who has a share of the key, ascending.
    #[must_use]
    pub fn holders(&self) -> &[PeerIndex] {
        &self.holders
    }

    /// How many shares open it.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// BLAKE3 of its frame, which all holders have alike: two signed digests for one attempt are proof that the dealer sealed twice.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        *blake3::hash(&self.frame).as_bytes()
    }

    /// The share of one holder, out of what only it can read.
    ///
    /// # Errors
    /// [`SealError::NotAHolder`], also for a share that is not in this copy, and [`SealError::Share`] where the share is not the one that the seal names: the dealer deals wrongly, or the
    /// key is not this direction's.
    pub fn share_of(&self, holder: PeerIndex, escrow: &EscrowKey) -> Result<Share, SealError> {
        let at = self.holders.binary_search(&holder);
        let at = at.map_err(|_| SealError::NotAHolder { peer: holder })?;
        // At most 255 holders: the frame says so in a byte.
        let point = (at + 1) as u8;
        let hidden = self.hidden_for(holder);
        let hidden = hidden.ok_or(SealError::NotAHolder { peer: holder })?;
        let mut value = Zeroizing::new(*hidden);
        let pad = escrow.pad(self.attempt(), self.threshold, point);
        value.iter_mut().zip(pad.iter()).for_each(|(v, p)| *v ^= p);
        let share = Share::new(point, &value)?;
        self.check_share(&share)?;
        Ok(share)
    }

    /// Whether a share is the one that was dealt at its point.
    ///
    /// # Errors
    /// [`SealError::Share`] if not.
    pub fn check_share(&self, share: &Share) -> Result<(), SealError> {
        let point = share.point();
        let at = usize::from(point).saturating_sub(1);
        let named = at < self.holders.len() && {
            let found = blake3::Hash::from(share_hash(&self.frame[..SCALE], share));
            found == self.field::<32>(SEAL_HEAD_LEN + SEAL_HASH_LEN * at)
        };
        match named {
            true => Ok(()),
            false => Err(SealError::Share { point }),
        }
    }

    /// The contribution, to whoever has its key.
    ///
    /// # Errors
    /// [`SealError::Key`] for another key, or values that are not those committed to.
    pub fn open(&self, key: &SealKey) -> Result<Vec<u8>, SealError> {
        let commit = self.commit();
        let mut values = self.frame[SEAL_HEAD_LEN + SEAL_HASH_LEN * self.holders.len()..].to_vec();
        apply_stream(&key.stream(&commit), &mut values);
        let found = commitment(key, &self.frame[..COMMITMENT], &values);
        // In constant time.
        match blake3::Hash::from(found) == blake3::Hash::from(commit) {
            true => Ok(values),
            false => Err(SealError::Key),
        }
    }

    /// The key and the contribution, from at least τ different shares that holders gave up.
    ///
    /// # Errors
    /// [`SealError::Share`] for one that was not dealt, [`SealError::Shares`] for too few, [`SealError::Dealt`] where all are right and do not open.
    pub fn recover(&self, shares: &[Share]) -> Result<(SealKey, Vec<u8>), SealError> {
        shares
            .iter()
            .try_for_each(|share| self.check_share(share))?;
        let key = SealKey::from_secret(&combine(shares, self.threshold)?);
        let dealer = self.dealer();
        let values = self.open(&key).map_err(|_| SealError::Dealt { dealer })?;
        Ok((key, values))
    }
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Seal({}, {})", self.dealer(), self.attempt())
    }
}

fn check(dealer: PeerIndex, holders: &[PeerIndex], scale: f64) -> Result<(), SealError> {
    let ascending = holders.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || holders.contains(&dealer) {
        return Err(SealError::Order);
    }
    // Written so that NaN is refused too.
    if !(scale > 0.0 && scale.is_finite()) {
        return Err(SealError::Scale { found: scale });
    }
    Ok(())
}

/// A keyed hash of the head of a frame, up to its commitment, and of the values.
fn commitment(key: &SealKey, head: &[u8], values: &[u8]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_keyed(&key.commitment());
    hasher.update(&head[..COMMITMENT]);
    hasher.update(values);
    *hasher.finalize().as_bytes()
}

/// H(share): of the attempt, the dealer, the threshold, the number of holders, the point and the value.
fn share_hash(head: &[u8], share: &Share) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(SHARE_CONTEXT);
    hasher.update(head);
    hasher.update(&[share.point()]);
    hasher.update(share.value());
    *hasher.finalize().as_bytes()
}

fn apply_stream(key: &Zeroizing<[u8; 32]>, bytes: &mut [u8]) {
    let mut stream = ChaCha20Rng::from_seed(**key);
    let mut pad = Zeroizing::new([0; 4096]);
    for part in bytes.chunks_mut(pad.len()) {
        stream.fill_bytes(&mut *pad);
        part.iter_mut()
            .zip(pad.iter())
            .for_each(|(byte, pad)| *byte ^= pad);
    }
}
