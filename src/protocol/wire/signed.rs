//! Signed frames: what deployed peers exchange, so that whoever was lied to can show it to others.
//!
//! ```text
//! record    length (4) | sequence (8) | frame | signature (64)
//! ```
//!
//! The frame is that of the module above with another version byte; `length` counts the frame alone, `sequence` the records of
//! one directed edge from 1. What is signed is the frame's [`Stamp`], 63 bytes: its header, and BLAKE3 of its values. So two
//! stamps of one header are proof that their signer said two things where the protocol has it say one, and the proof holds no values.
//!
//! A peer says one thing in a round, whoever it says it to, in every averaging program: the header alone tells what may be said once.
//! The sequence is not signed. It tells what was lost with a connection, and whoever breaks its order is named, without proof.

use super::arriving::check_announced_len;
use super::error::WireError;
use super::sizes::FrameSizes;
use super::{HEADER_LEN, PREFIX_LEN, VERSION};

/// Version byte of signed frames. Unsigned ones have [`VERSION`], and neither is taken for the other.
pub const SIGNED_VERSION: u8 = 4;

/// Bytes of a record before its frame.
pub const RECORD_HEAD_LEN: usize = PREFIX_LEN + 8;

/// Bytes of a stamp.
pub const STAMP_LEN: usize = HEADER_LEN + 32;

/// What is signed of a frame: its header and the digest of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([u8; STAMP_LEN]);

impl Stamp {
    /// The stamp of a signed frame, without prefix.
    ///
    /// # Errors
    /// [`WireError::TooShort`] for fewer bytes than a header, [`WireError::Version`] for a frame of another version.
    pub fn of(frame: &[u8]) -> Result<Self, WireError> {
        let short = WireError::TooShort { found: frame.len() };
        let (header, values) = frame.split_at_checked(HEADER_LEN).ok_or(short)?;
        check_version(header[1])?;
        let mut stamp = [0; STAMP_LEN];
        stamp[..HEADER_LEN].copy_from_slice(header);
        stamp[HEADER_LEN..].copy_from_slice(blake3::hash(values).as_bytes());
        Ok(Self(stamp))
    }

    /// From its bytes, as evidence keeps them.
    #[must_use]
    pub fn from_bytes(bytes: [u8; STAMP_LEN]) -> Self {
        Self(bytes)
    }

    /// Its bytes: what is signed.
    #[must_use]
    pub fn bytes(&self) -> &[u8; STAMP_LEN] {
        &self.0
    }

    /// Whether both are of frames for the same place: the same session, release, round, kind and part.
    #[must_use]
    pub fn is_of_one_place_with(&self, other: &Self) -> bool {
        self.0[..HEADER_LEN] == other.0[..HEADER_LEN]
    }
}

fn check_version(found: u8) -> Result<(), WireError> {
    if found == SIGNED_VERSION {
        Ok(())
    } else {
        Err(WireError::Version { found })
    }
}

/// Makes a frame that [`encode_frame_into`](super::encode_frame_into) has written, with its prefix, one that is to be signed.
pub fn make_signed(framed: &mut [u8]) {
    if let Some(version) = framed.get_mut(PREFIX_LEN + 1) {
        *version = SIGNED_VERSION;
    }
}

/// The header and the values of a signed frame, as [`Arriving`](super::Arriving) takes them: the header of the frame without the signature.
///
/// # Errors
/// [`WireError::TooShort`] and [`WireError::Version`].
pub fn opened(frame: &[u8]) -> Result<([u8; HEADER_LEN], &[u8]), WireError> {
    let short = WireError::TooShort { found: frame.len() };
    let (header, values) = frame.split_first_chunk::<HEADER_LEN>().ok_or(short)?;
    check_version(header[1])?;
    let mut header = *header;
    header[1] = VERSION;
    Ok((header, values))
}

/// What a record begins with: the length of its frame, and its number on its edge.
#[must_use]
pub fn record_head(length: usize, sequence: u64) -> [u8; RECORD_HEAD_LEN] {
    let mut head = [0; RECORD_HEAD_LEN];
    head[..PREFIX_LEN].copy_from_slice(&(length as u32).to_le_bytes());
    head[PREFIX_LEN..].copy_from_slice(&sequence.to_le_bytes());
    head
}

/// The length of the frame that follows this head in a plan whose messages have these sizes, and the record's number.
///
/// # Errors
/// [`WireError::TooShort`] or [`WireError::TooLong`], before anything is allocated for it.
pub fn check_record_head(
    head: &[u8; RECORD_HEAD_LEN],
    sizes: &FrameSizes,
) -> Result<(usize, u64), WireError> {
    let (mut prefix, mut sequence) = ([0; PREFIX_LEN], [0; 8]);
    prefix.copy_from_slice(&head[..PREFIX_LEN]);
    sequence.copy_from_slice(&head[PREFIX_LEN..]);
    let length = check_announced_len(prefix, sizes)?;
    Ok((length, u64::from_le_bytes(sequence)))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::message::{Body, Message, SessionId};
    use crate::protocol::values::Values;
    use crate::protocol::wire::{Arriving, Memory, encode_framed};
    use crate::vocabulary::{ReleaseId, Round};

    fn frame(round: u32, values: &[f64]) -> Vec<u8> {
        let message = Message {
            session: SessionId([3; 16]),
            release: ReleaseId(2),
            round: Round(round),
            body: Body::Average(Arc::new(values.to_vec())),
        };
        let mut framed = encode_framed(&message, Values::F64);
        make_signed(&mut framed);
        framed[PREFIX_LEN..].to_vec()
    }

    #[test]
    fn a_signed_frame_holds_what_the_unsigned_one_does_and_neither_is_taken_for_the_other() {
        let frame = frame(1, &[1.0, -2.0]);
        assert_eq!(frame[1], 4);
        let (header, values) = opened(&frame).expect("a signed frame");
        let sizes = FrameSizes::from(2);
        let arriving = Arriving::new(&header, frame.len(), &sizes, Memory::default());
        let mut arriving = arriving.expect("a header of the plan");
        arriving.take(values).expect("two values");
        let message = arriving.finish().expect("complete");
        assert_eq!(message.body, Body::Average(Arc::new(vec![1.0, -2.0])));

        let mut signed = [0; HEADER_LEN];
        signed.copy_from_slice(&frame[..HEADER_LEN]);
        let version = |found| WireError::Version { found };
        let taken = Arriving::new(&signed, frame.len(), &sizes, Memory::default());
        assert_eq!(taken.err(), Some(version(4)));
        let mut unsigned = frame;
        unsigned[1] = VERSION;
        assert_eq!(opened(&unsigned).err(), Some(version(VERSION)));
        assert_eq!(Stamp::of(&unsigned).err(), Some(version(VERSION)));
        let short = WireError::TooShort { found: 30 };
        assert_eq!(opened(&unsigned[..30]).err(), Some(short));
        assert_eq!(Stamp::of(&unsigned[..30]).err(), Some(short));
    }

    #[test]
    fn stamps_tell_places_by_headers_and_contents_by_digests() {
        let stamp = |round, values| Stamp::of(&frame(round, values)).expect("signed");
        let (one, same, other) = (stamp(1, &[1.0]), stamp(1, &[1.0]), stamp(1, &[2.0]));
        assert_eq!(one, same);
        assert!(one.is_of_one_place_with(&other) && one != other);
        assert!(!one.is_of_one_place_with(&stamp(2, &[1.0])));
        // Every bit of header and values counts.
        let frame = frame(1, &[1.0]);
        for bit in (0..8 * frame.len()).filter(|bit| bit / 8 != 1) {
            let mut changed = frame.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(Stamp::of(&changed), Ok(one), "bit {bit}");
        }
    }

    #[test]
    fn heads_of_records_are_checked_against_the_plan() {
        let sizes = FrameSizes::from(2);
        let limit = sizes.limit();
        assert_eq!(
            check_record_head(&record_head(limit, 7), &sizes),
            Ok((limit, 7))
        );
        let found = limit + 1;
        let refused = check_record_head(&record_head(found, 7), &sizes);
        assert_eq!(refused, Err(WireError::TooLong { found, limit }));
        let refused = check_record_head(&record_head(30, 7), &sizes);
        assert_eq!(refused, Err(WireError::TooShort { found: 30 }));
    }
}
