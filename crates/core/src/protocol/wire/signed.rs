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
use super::encoding::Frame;
use super::error::WireError;
use super::sizes::FrameSizes;
use super::{HEADER_LEN, PREFIX_LEN, VERSION};
use crate::protocol::message::SessionId;

/// Version byte of signed frames. Unsigned ones have [`VERSION`], and neither is taken for the other.
pub const SIGNED_VERSION: u8 = 4;

/// Bytes of a record before its frame.
pub const RECORD_HEAD_LEN: usize = PREFIX_LEN + 8;

/// Bytes of a stamp.
pub const STAMP_LEN: usize = HEADER_LEN + 32;

/// Bytes of values that are digested at a time: enough for the hash to use the machine's vectors, and few enough to stay in a cache that is near.
pub const DIGESTED: usize = 32 * 1024;

/// What is signed of a frame: its header and the digest of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([u8; STAMP_LEN]);

/// The stamp of a frame whose values are coming.
#[derive(Clone, Debug)]
pub struct Stamping {
    header: [u8; HEADER_LEN],
    values: blake3::Hasher,
}

impl Stamping {
    /// Of the frame with this header.
    ///
    /// # Errors
    /// [`WireError::Version`] if it is not that of a signed frame.
    pub fn begin(header: &[u8; HEADER_LEN]) -> Result<Self, WireError> {
        check_version(header[1])?;
        Ok(Self {
            header: *header,
            values: blake3::Hasher::new(),
        })
    }

    /// Takes the next bytes of values: best [`DIGESTED`] at a time.
    pub fn take(&mut self, bytes: &[u8]) {
        self.values.update(bytes);
    }

    /// The stamp of the values that have come.
    #[must_use]
    pub fn finish(&self) -> Stamp {
        let mut stamp = [0; STAMP_LEN];
        stamp[..HEADER_LEN].copy_from_slice(&self.header);
        stamp[HEADER_LEN..].copy_from_slice(self.values.finalize().as_bytes());
        Stamp(stamp)
    }
}

impl Stamp {
    /// The stamp of a frame that is to be signed. `piece` is memory, whose content is discarded.
    #[must_use]
    pub fn of_frame(frame: &Frame<'_>, piece: &mut Vec<u8>) -> Self {
        let mut stamping = Stamping {
            header: signed_header(frame),
            values: blake3::Hasher::new(),
        };
        if let Some(bytes) = frame.in_memory() {
            stamping.take(bytes);
            return stamping.finish();
        }
        let (count, together) = (frame.values(), DIGESTED / frame.width());
        for first in (0..count).step_by(together) {
            piece.clear();
            frame.append_values(first..count.min(first + together), piece);
            stamping.take(piece);
        }
        stamping.finish()
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

    /// The session that the frame says it is of.
    #[must_use]
    pub fn session(&self) -> SessionId {
        let mut session = SessionId([0; 16]);
        session.0.copy_from_slice(&self.0[2..18]);
        session
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

/// The header of a frame that is signed.
#[must_use]
pub fn signed_header(frame: &Frame<'_>) -> [u8; HEADER_LEN] {
    let mut header = frame.header();
    header[1] = SIGNED_VERSION;
    header
}

/// The header of a signed frame as [`Arriving`](super::Arriving) takes it: that of the frame without the signature.
///
/// # Errors
/// [`WireError::Version`].
pub fn opened(header: &[u8; HEADER_LEN]) -> Result<[u8; HEADER_LEN], WireError> {
    check_version(header[1])?;
    let mut header = *header;
    header[1] = VERSION;
    Ok(header)
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
    use crate::protocol::message::{Body, Message};
    use crate::protocol::values::Values;
    use crate::protocol::wire::{Arriving, CHUNK_BYTES, Memory, encode_frame_into, frames};
    use crate::vocabulary::{ReleaseId, Round};

    fn message(round: u32, values: Vec<f64>) -> Message {
        Message {
            session: SessionId([3; 16]),
            release: ReleaseId(2),
            round: Round(round),
            body: Body::Average(Arc::new(values)),
        }
    }

    fn stamp(round: u32, values: &[f64]) -> Stamp {
        let message = message(round, values.to_vec());
        Stamp::of_frame(&Frame::of(&message, Values::F64, 0), &mut Vec::new())
    }

    /// Header and values of frame number `frame` as they travel when it is signed.
    fn travelling(message: &Message, frame: usize) -> ([u8; HEADER_LEN], Vec<u8>) {
        let mut bytes = Vec::new();
        encode_frame_into(message, Values::F64, frame, &mut bytes);
        let values = bytes.split_off(PREFIX_LEN + HEADER_LEN);
        (
            signed_header(&Frame::of(message, Values::F64, frame)),
            values,
        )
    }

    #[test]
    fn a_signed_frame_holds_what_the_unsigned_one_does_and_neither_is_taken_for_the_other() {
        let sent = message(1, vec![1.0, -2.0]);
        let (header, values) = travelling(&sent, 0);
        assert_eq!(header[1], 4);
        assert_eq!(stamp(1, &[1.0]).session(), sent.session);
        let length = HEADER_LEN + values.len();
        let sizes = FrameSizes::from(2);
        let begin = |header: &_| Arriving::new(header, length, &sizes, Memory::default());
        let mut arriving = begin(&opened(&header).expect("signed")).expect("of the plan");
        arriving.take(&values).expect("two values");
        assert_eq!(arriving.finish(), Ok(sent.clone()));

        let version = |found| WireError::Version { found };
        assert_eq!(begin(&header).err(), Some(version(4)));
        let unsigned = Frame::of(&sent, Values::F64, 0).header();
        assert_eq!(opened(&unsigned).err(), Some(version(VERSION)));
        let stamping = Stamping::begin(&unsigned);
        assert_eq!(stamping.err(), Some(version(VERSION)));
    }

    #[test]
    fn stamps_tell_places_by_headers_and_contents_by_digests() {
        let (one, same, other) = (stamp(1, &[1.0]), stamp(1, &[1.0]), stamp(1, &[2.0]));
        assert_eq!(one, same);
        assert!(one.is_of_one_place_with(&other) && one != other);
        assert!(!one.is_of_one_place_with(&stamp(2, &[1.0])));
        // The order of values counts, and so does every bit of header and values.
        assert_ne!(stamp(1, &[1.0, 2.0]), stamp(1, &[2.0, 1.0]));
        let (header, values) = travelling(&message(1, vec![1.0]), 0);
        let of = |bytes: &[u8]| {
            let (header, values) = bytes.split_first_chunk().expect("a header");
            let mut stamping = Stamping::begin(header)?;
            stamping.take(values);
            Ok::<_, WireError>(stamping.finish())
        };
        let bytes = [&header[..], &values].concat();
        assert_eq!(of(&bytes), Ok(one));
        for bit in (0..8 * bytes.len()).filter(|bit| bit / 8 != 1) {
            let mut changed = bytes.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(of(&changed), Ok(one), "bit {bit}");
        }
    }

    /// The definition: whoever has a frame hashes its values whole, however they came.
    #[test]
    fn stamps_are_header_and_digest_of_all_values_however_they_are_cut() {
        let values = (0..CHUNK_BYTES / 8 + 5000).map(|k| k as f64 + 0.5);
        let sent = message(1, values.collect());
        assert_eq!(frames(&sent, Values::F64), 2);
        for frame in 0..2 {
            let (header, values) = travelling(&sent, frame);
            let whole = [&header[..], blake3::hash(&values).as_bytes()].concat();
            let frame = Frame::of(&sent, Values::F64, frame);
            assert_eq!(frame.length(), HEADER_LEN + values.len());
            let stamp = Stamp::of_frame(&frame, &mut vec![9; 3]);
            assert_eq!(stamp.bytes()[..], whole);
            for cut in [1000, DIGESTED, values.len()] {
                let mut stamping = Stamping::begin(&header).expect("signed");
                values.chunks(cut).for_each(|piece| stamping.take(piece));
                assert_eq!(stamping.finish(), stamp, "{cut}");
            }
        }
    }

    /// Whoever signs both frames of a message contradicts nothing.
    #[test]
    fn frames_of_one_message_are_of_different_places() {
        let sent = message(1, vec![0.5; CHUNK_BYTES / 8 + 1]);
        let [first, second] = [0, 1]
            .map(|frame| Stamp::of_frame(&Frame::of(&sent, Values::F64, frame), &mut Vec::new()));
        assert!(first.is_of_one_place_with(&first) && !first.is_of_one_place_with(&second));
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
