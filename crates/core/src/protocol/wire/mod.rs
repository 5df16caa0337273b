//! The wire format: the one place that turns messages into bytes and back.
//!
//! A message is one frame, or several where its values take more than [`CHUNK_BYTES`]. A frame is a fixed 31-byte header
//! followed by values, little-endian: f64 or f32, or u32 or u64 for integers mod 2³² or 2⁶⁴. On a stream every frame is
//! preceded by its length as a little-endian `u32`.
//!
//! ```text
//! mark 0x55 | version | session (16) | release (4) | round (4) | kind | first (4) | values
//! ```
//!
//! `first` is the number of values of the same message in the frames before: parts come in order on one stream, all but
//! the last full, so that a message can be cut in one way only. How many values a message has is not said: the plan knows, and
//! every length is checked against it before anything is allocated. NaN and infinities are refused.

mod arriving;
mod encoding;
mod error;
mod header;
mod names;
pub mod signed;
mod sizes;
#[cfg(test)]
mod tests;

pub use arriving::{Arriving, Memory, check_announced_len, decode_framed};
pub use encoding::{
    Frame, encode_frame_into, encode_framed, encode_framed_into, framed_len, frames,
};
pub use error::WireError;
pub(super) use names::{digest, session_of};
pub use sizes::FrameSizes;

use super::values::Values;

/// Version of the frame layout; a frame of another version is refused. Version 1 counted iterations where later ones count
/// releases; version 2 had every message in one frame, with the number of its values where this one says which is the first.
pub const VERSION: u8 = 3;

/// The most values of a block that any plan may exchange: 2²⁷, 1 GiB of f64.
///
/// A limit on memory, not on frames, which would do up to 2³² values: a peer holds its own block and up to two of every
/// neighbour that it hears from. The covariance of 16,383 items is below it.
pub const MAX_VALUES: usize = 1 << 27;

/// Bytes of values in a full frame.
///
/// Large enough that headers are nothing, small enough that a sender needs no memory to speak of for a message under way, and
/// that a receiver takes memory for little more than what has come.
pub const CHUNK_BYTES: usize = 1 << 20;

/// Bytes of the length prefix on a stream.
pub const PREFIX_LEN: usize = 4;

/// Bytes of the header every frame begins with.
pub const HEADER_LEN: usize = 31;

/// Length on a stream of a message whose sum has `count` coordinates of these values, prefixes and headers included.
#[must_use]
pub fn framed_block_len(count: usize, values: Values) -> usize {
    framed_bytes(count * values.bytes())
}

/// Length on a stream of a message with so many bytes of values.
fn framed_bytes(bytes: usize) -> usize {
    bytes + bytes.div_ceil(CHUNK_BYTES).max(1) * (PREFIX_LEN + HEADER_LEN)
}
