//! Messages to bytes.

use super::header::{Header, Kind};
use super::{HEADER_LEN, PREFIX_LEN, framed_bytes};
use crate::protocol::message::{Body, Message};
use crate::protocol::values::Values;

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
        append(message, values, frame, &mut bytes);
    }
    bytes
}

/// Encodes frame number `frame` of a message, from 0, with its length prefix, in the memory of `bytes`, whose content is
/// discarded.
pub fn encode_frame_into(message: &Message, values: Values, frame: usize, bytes: &mut Vec<u8>) {
    bytes.clear();
    append(message, values, frame, bytes);
}

fn append(message: &Message, values: Values, frame: usize, bytes: &mut Vec<u8>) {
    let kind = Kind::of(&message.body, values);
    let total = count(&message.body);
    let first = (frame * kind.chunk()).min(total);
    let range = first..(first + kind.chunk()).min(total);
    let length = HEADER_LEN + kind.bytes() * range.len();
    bytes.reserve(PREFIX_LEN + length);
    bytes.extend_from_slice(&(length as u32).to_le_bytes());
    bytes.extend_from_slice(&Header::of(message, kind, first).to_bytes());
    match (&message.body, kind) {
        (Body::Scale(value), _) => bytes.extend_from_slice(&value.to_le_bytes()),
        (Body::Average(values), Kind::F32) => {
            for value in &values[range] {
                bytes.extend_from_slice(&(*value as f32).to_le_bytes());
            }
        }
        (Body::Average(values) | Body::Coordinates(values), _) => {
            for value in &values[range] {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
        (Body::Residues(values), Kind::Residues32) => {
            for value in &values[range] {
                // An integer mod 2³², so that its low half is all of it.
                bytes.extend_from_slice(&(*value as u32).to_le_bytes());
            }
        }
        (Body::Residues(values), _) => {
            for value in &values[range] {
                bytes.extend_from_slice(&value.to_le_bytes());
            }
        }
    }
}
