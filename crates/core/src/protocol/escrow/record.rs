//! What a peer has on disk before it acts on it, and the same as bytes.

use std::sync::Arc;

use zeroize::Zeroizing;

use super::membership::Membership;
use super::seal::{Expected, HIDDEN_SHARE_LEN, Seal, seal_len};
use super::shamir::{SECRET_LEN, Share};
use crate::protocol::regroup::{ADDRESS_LEN, Attempt, MOST_HOLDERS, Threshold, ViewNumber};
use crate::vocabulary::{PeerIndex, ReleaseId};

/// What a holder keeps of a seal in mind; the frame itself lies wherever the holder keeps blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSeal {
    /// BLAKE3 of the frame.
    pub digest: [u8; 32],
    /// The scale that the dealer states.
    pub scale: f64,
    /// The digest of the query that the dealer states.
    pub query: [u8; 32],
    /// The own share.
    pub share: Share,
}

/// One thing that has happened to a peer's seals and shares. A peer is what its records make of it.
///
/// `Debug` prints no share.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A view was entered.
    Entered(Membership),
    /// A contribution was sealed: here are the bytes, which are never made again.
    Sealed(Seal),
    /// A neighbour's seal, and the own share in it, are kept.
    Held {
        /// Whose.
        dealer: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
        /// What is kept.
        seal: HeldSeal,
    },
    /// The word that all seals of an attempt are held may leave.
    Attested(Attempt),
    /// Everybody's word was heard.
    Certified(Attempt),
    /// The key of the own contribution may leave.
    Opened(Attempt),
    /// The share in somebody's contribution may leave.
    Released {
        /// Whose.
        dealer: PeerIndex,
        /// For which attempt.
        attempt: Attempt,
    },
    /// All before this release is over: its frames and shares are forgotten, and nothing of it is done any more.
    Closed(ReleaseId),
}

/// Bytes that are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a record of escrow ends at byte {at} or holds there what no peer writes: the file is damaged"
)]
pub struct RecordError {
    /// Where.
    pub at: usize,
}

impl Record {
    /// As bytes. Those of held seals hold a share: the file they go to is nobody else's to read.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        // Long enough at once: growing would leave copies of shares behind.
        let room = match self {
            Self::Sealed(seal) => {
                5 + (4 + HIDDEN_SHARE_LEN) * seal.holders().len() + seal.frame().len()
            }
            Self::Entered(view) => 64 + 4 * (view.members().len() + view.neighbours().len()),
            _ => 256,
        };
        let mut out = Zeroizing::new(Vec::with_capacity(room));
        let peers = |out: &mut Vec<u8>, list: &[PeerIndex]| {
            out.extend_from_slice(&(list.len() as u32).to_le_bytes());
            list.iter()
                .for_each(|peer| out.extend_from_slice(&peer.0.to_le_bytes()));
        };
        match self {
            Self::Entered(view) => {
                out.push(1);
                out.extend_from_slice(&view.number().0.to_le_bytes());
                out.extend_from_slice(view.digest());
                peers(&mut out, view.members());
                peers(&mut out, view.neighbours());
            }
            Self::Sealed(seal) => {
                out.push(2);
                peers(&mut out, seal.holders());
                seal.hidden().for_each(|share| out.extend_from_slice(share));
                out.extend_from_slice(seal.frame());
            }
            Self::Held {
                dealer,
                attempt,
                seal,
            } => {
                out.push(3);
                out.extend_from_slice(&dealer.0.to_le_bytes());
                out.extend_from_slice(&attempt.address());
                out.extend_from_slice(&seal.digest);
                out.extend_from_slice(&seal.scale.to_le_bytes());
                out.extend_from_slice(&seal.query);
                out.push(seal.share.point());
                out.extend_from_slice(seal.share.value());
            }
            Self::Attested(attempt) => {
                out.push(4);
                out.extend_from_slice(&attempt.address());
            }
            Self::Certified(attempt) => {
                out.push(5);
                out.extend_from_slice(&attempt.address());
            }
            Self::Opened(attempt) => {
                out.push(6);
                out.extend_from_slice(&attempt.address());
            }
            Self::Released { dealer, attempt } => {
                out.push(7);
                out.extend_from_slice(&dealer.0.to_le_bytes());
                out.extend_from_slice(&attempt.address());
            }
            Self::Closed(release) => {
                out.push(8);
                out.extend_from_slice(&release.0.to_le_bytes());
            }
        }
        out
    }

    /// The record in these bytes, all of them. `peer` is who keeps them and `threshold` its own.
    ///
    /// # Errors
    /// [`RecordError`]; nothing is allocated beyond the length of the bytes.
    pub fn read(bytes: &[u8], peer: PeerIndex, threshold: Threshold) -> Result<Self, RecordError> {
        let mut from = Reader { bytes, at: 0 };
        let record = match from.array::<1>()?[0] {
            1 => {
                let number = ViewNumber(u64::from_le_bytes(from.array()?));
                let digest = from.array()?;
                let (members, neighbours) = (from.peers()?, from.peers()?);
                let view = Membership::new(number, digest, members, neighbours);
                Self::Entered(view.map_err(|_| from.damaged())?)
            }
            2 => {
                let holders = from.peers()?;
                let shares = holders.len().checked_mul(HIDDEN_SHARE_LEN);
                let (shares, _) = from.take(shares.ok_or(from.damaged())?)?.as_chunks();
                let hidden = holders.iter().copied().zip(shares.iter().copied());
                let hidden: Vec<_> = hidden.collect();
                let frame: Arc<[u8]> = from.rest().into();
                // What it is for stands in it; that it is this peer's seal is checked against what it says.
                let address = frame.first_chunk::<ADDRESS_LEN>();
                let attempt = Attempt::of_address(address.ok_or(from.damaged())?);
                let head = seal_len(holders.len(), 0);
                let expected = Expected {
                    attempt,
                    dealer: peer,
                    threshold,
                    holders: &holders,
                    bytes: frame.len().checked_sub(head).ok_or(from.damaged())?,
                };
                let few = holders.len() <= MOST_HOLDERS;
                let seal = Seal::read(Arc::clone(&frame), &hidden, &expected).ok();
                Self::Sealed(seal.filter(|_| few).ok_or(from.damaged())?)
            }
            3 => Self::Held {
                dealer: from.peer()?,
                attempt: from.attempt()?,
                seal: HeldSeal {
                    digest: from.array()?,
                    scale: f64::from_le_bytes(from.array()?),
                    query: from.array()?,
                    share: {
                        let point = from.array::<1>()?[0];
                        let value = Zeroizing::new(from.array::<SECRET_LEN>()?);
                        Share::new(point, &value).map_err(|_| from.damaged())?
                    },
                },
            },
            4 => Self::Attested(from.attempt()?),
            5 => Self::Certified(from.attempt()?),
            6 => Self::Opened(from.attempt()?),
            7 => Self::Released {
                dealer: from.peer()?,
                attempt: from.attempt()?,
            },
            8 => Self::Closed(ReleaseId(u32::from_le_bytes(from.array()?))),
            _ => return Err(RecordError { at: 0 }),
        };
        match from.at == bytes.len() {
            true => Ok(record),
            false => Err(from.damaged()),
        }
    }
}

/// Reads from the front, never beyond the end.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn damaged(&self) -> RecordError {
        RecordError { at: self.at }
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], RecordError> {
        let rest = &self.bytes[self.at..];
        let taken = rest.get(..length).ok_or(self.damaged())?;
        self.at += length;
        Ok(taken)
    }

    fn rest(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        self.at = self.bytes.len();
        rest
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn peer(&mut self) -> Result<PeerIndex, RecordError> {
        Ok(PeerIndex(u32::from_le_bytes(self.array()?)))
    }

    fn attempt(&mut self) -> Result<Attempt, RecordError> {
        Ok(Attempt::of_address(&self.array()?))
    }

    fn peers(&mut self) -> Result<Vec<PeerIndex>, RecordError> {
        let count = u32::from_le_bytes(self.array()?) as usize;
        // The bytes must be there before anything is allocated for them.
        let bytes = self.take(count.checked_mul(4).ok_or(self.damaged())?)?;
        let four = bytes.chunks_exact(4);
        let index = |b: &[u8]| b.iter().rev().fold(0, |n, b| n << 8 | u32::from(*b));
        Ok(four.map(|bytes| PeerIndex(index(bytes))).collect())
    }
}
