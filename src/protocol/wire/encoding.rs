//! Messages to bytes.

use std::ops::Range;

use super::header::{Header, Kind};
use super::{HEADER_LEN, PREFIX_LEN, framed_bytes};
use crate::protocol::message::{Body, Message};
use crate::protocol::values::Values;

/// Values that are turned into bytes together, in the first cache.
const TOGETHER: usize = 512;

/// Frames of a message where sums exchange `values`: one, or as many as its values take chunks.
#[must_use]
pub fn frames(message: &Message, values: Values) -> usize {
    let kind = Kind::of(&message.body, values);
    count(&message.body).div_ceil(kind.chunk()).max(1)
}

fn count(body: &Body) -> usize {
    match body {
        Body::Scale(_) => 1,
        Body::Average(values) | Body::Coordinates(values) => values.len(),
        Body::Residues(values) => values.len(),
    }
}

/// Length of a message on a stream where sums exchange `values`, prefixes included.
#[must_use]
pub fn framed_len(body: &Body, values: Values) -> usize {
    framed_bytes(count(body) * Kind::of(body, values).bytes())
}

/// Encodes a message, each frame with its length prefix, ready for a stream where sums exchange `values`.
#[must_use]
pub fn encode_framed(message: &Message, values: Values) -> Vec<u8> {
    encode_framed_into(message, values, Vec::new())
}

/// As [`encode_framed`], in the memory of `bytes`, whose content is discarded.
#[must_use]
pub fn encode_framed_into(message: &Message, values: Values, mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.clear();
    bytes.reserve_exact(framed_len(&message.body, values));
    for frame in 0..frames(message, values) {
        Frame::of(message, values, frame).append(&mut bytes);
    }
    bytes
}

/// Encodes frame number `frame` of a message, from 0, with its length prefix, in the memory of `bytes`, whose content is
/// discarded.
pub fn encode_frame_into(message: &Message, values: Values, frame: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    Frame::of(message, values, frame).append(bytes);
}

/// One frame of a message, whose bytes are made piece by piece when they are needed.
#[derive(Clone, Debug)]
pub struct Frame<'a> {
    message: &'a Message,
    kind: Kind,
    /// Which of the message's values it has.
    range: Range<usize>,
}

impl<'a> Frame<'a> {
    /// Frame number `frame` of a message, from 0, where sums exchange `values`.
    #[must_use]
    pub fn of(message: &'a Message, values: Values, frame: usize) -> Self {
        let kind = Kind::of(&message.body, values);
        let total = count(&message.body);
        let first = (frame * kind.chunk()).min(total);
        Self {
            message,
            kind,
            range: first..(first + kind.chunk()).min(total),
        }
    }

    /// Bytes of the frame, prefix excluded.
    #[must_use]
    pub fn length(&self) -> usize {
        HEADER_LEN + self.width() * self.values()
    }

    /// How many values it has.
    #[must_use]
    pub fn values(&self) -> usize {
        self.range.len()
    }

    /// Bytes of each of its values.
    #[must_use]
    pub fn width(&self) -> usize {
        self.kind.bytes()
    }

    /// What it begins with.
    #[must_use]
    pub fn header(&self) -> [u8; HEADER_LEN] {
        Header::of(self.message, self.kind, self.range.start).to_bytes()
    }

    /// Appends the bytes of some of its values, which are counted from its first one.
    ///
    /// # Panics
    /// If it has fewer values.
    pub fn append_values(&self, values: Range<usize>, bytes: &mut Vec<u8>) {
        assert!(values.end <= self.values(), "values of this frame");
        let first = self.range.start;
        let range = first + values.start..first + values.end;
        bytes.reserve(self.width() * range.len());
        match (&self.message.body, self.kind) {
            (Body::Scale(value), _) => extend(&[*value][range], f64::to_le_bytes, bytes),
            (Body::Average(values), Kind::F32) => {
                extend(&values[range], |value| (value as f32).to_le_bytes(), bytes);
            }
            (Body::Average(values) | Body::Coordinates(values), _) => {
                extend(&values[range], f64::to_le_bytes, bytes);
            }
            (Body::Residues(values), Kind::Residues32) => {
                // An integer mod 2³², so that its low half is all of it.
                extend(&values[range], |value| (value as u32).to_le_bytes(), bytes);
            }
            (Body::Residues(values), _) => extend(&values[range], u64::to_le_bytes, bytes),
        }
    }

    /// Appends the whole frame with its length prefix.
    fn append(&self, bytes: &mut Vec<u8>) {
        bytes.reserve(PREFIX_LEN + self.length());
        bytes.extend_from_slice(&(self.length() as u32).to_le_bytes());
        bytes.extend_from_slice(&self.header());
        self.append_values(0..self.values(), bytes);
    }
}

/// Appends values as bytes, many at a time: one by one takes four times as long.
fn extend<T: Copy, const N: usize>(
    values: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
    bytes: &mut Vec<u8>,
) {
    let mut piece = [[0; N]; TOGETHER];
    for values in values.chunks(TOGETHER) {
        let piece = &mut piece[..values.len()];
        for (bytes, value) in piece.iter_mut().zip(values) {
            *bytes = bytes_of(*value);
        }
        bytes.extend_from_slice(piece.as_flattened());
    }
}
