//! Messages to bytes.

use std::ops::Range;

use pulp::bytemuck::cast_slice;

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

    /// Its values as they lie in memory, where that is how they travel: those of 64 bits, on machines that put the low byte first.
    #[must_use]
    pub fn in_memory(&self) -> Option<&'a [u8]> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let range = self.range.clone();
        match (&self.message.body, self.kind) {
            (Body::Average(values), Kind::F64) | (Body::Coordinates(values), _) => {
                Some(cast_slice(&values[range]))
            }
            (Body::Residues(values), Kind::Residues64) => Some(cast_slice(&values[range])),
            _ => None,
        }
    }

    /// Appends the bytes of some of its values, which are counted from its first one.
    ///
    /// # Panics
    /// If it has fewer values.
    pub fn append_values(&self, values: Range<usize>, bytes: &mut Vec<u8>) {
        assert!(values.end <= self.values(), "values of this frame");
        if let Some(memory) = self.in_memory() {
            let width = self.width();
            bytes.extend_from_slice(&memory[width * values.start..width * values.end]);
            return;
        }
        self.append_one_by_one(values, bytes);
    }

    /// As [`append_values`](Self::append_values), on any machine and for values of any width.
    fn append_one_by_one(&self, values: Range<usize>, bytes: &mut Vec<u8>) {
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::protocol::message::SessionId;
    use crate::vocabulary::{ReleaseId, Round};

    #[test]
    fn values_have_the_bytes_in_memory_that_they_have_one_by_one() {
        let floats = vec![1.0, -0.0, f64::MIN_POSITIVE, 1e300, f64::NEG_INFINITY, 0.1];
        let bits: Vec<u64> = floats.iter().map(|value| value.to_bits()).collect();
        for (values, body, is_in_memory) in [
            (Values::F64, Body::Average(Arc::new(floats.clone())), true),
            (
                Values::F64,
                Body::Coordinates(Arc::new(floats.clone())),
                true,
            ),
            (
                Values::Residues64,
                Body::Residues(Arc::new(bits.clone())),
                true,
            ),
            (Values::F32, Body::Average(Arc::new(floats)), false),
            (Values::Residues32, Body::Residues(Arc::new(bits)), false),
            (Values::F64, Body::Scale(0.25), false),
        ] {
            let message = Message {
                session: SessionId([7; 16]),
                release: ReleaseId(1),
                round: Round(0),
                body,
            };
            let frame = Frame::of(&message, values, 0);
            let little = cfg!(target_endian = "little");
            assert_eq!(frame.in_memory().is_some(), is_in_memory && little);
            let count = frame.values();
            for range in [0..count, 0..1, count / 2..count] {
                let (mut fast, mut slow) = (vec![1], vec![1]);
                frame.append_values(range.clone(), &mut fast);
                frame.append_one_by_one(range, &mut slow);
                assert_eq!(fast, slow, "{message:?}");
            }
        }
    }
}
