//! The wire format: the one place that turns messages into bytes and back.
//!
//! A frame is a fixed 31-byte header (bincode, fixed-width little-endian integers) followed by the values
//! as little-endian `f64`. On a stream every frame is preceded by its length as a little-endian `u32`.
//! Lengths are checked against the plan before anything is allocated; NaN and infinities are refused.
//!
//! bincode is pinned to 2.0.1 and unmaintained; nothing outside this file names it, so replacing it
//! changes this file alone.

use std::sync::Arc;

use bincode::config::{Configuration, Fixint, Limit, LittleEndian};
use serde::{Deserialize, Serialize};

use super::finite::first_not_finite;
use super::message::{Body, Message, SessionId};
use crate::vocabulary::{ReleaseId, Round};

/// Version of the frame layout; a frame of another version is refused. Version 1 counted iterations where this one counts
/// releases.
pub const VERSION: u8 = 2;

/// The largest block any plan may exchange: 2²⁷ values, 1 GiB.
pub const MAX_VALUES: usize = 1 << 27;

/// Bytes of the length prefix on a stream.
pub const PREFIX_LEN: usize = 4;

const MAGIC: [u8; 1] = [0x55];
/// Bytes of the header every frame begins with.
pub const HEADER_LEN: usize = 31;
const HEADER_CONFIG: Configuration<LittleEndian, Fixint, Limit<HEADER_LEN>> =
    bincode::config::standard()
        .with_little_endian()
        .with_fixed_int_encoding()
        .with_limit::<HEADER_LEN>();

#[derive(Debug, Serialize, Deserialize)]
struct Header {
    magic: [u8; 1],
    version: u8,
    session: [u8; 16],
    release: u32,
    round: u32,
    kind: u8,
    count: u32,
}

const KIND_SCALE: u8 = 1;
const KIND_AVERAGE: u8 = 2;
const KIND_COORDINATES: u8 = 3;

/// Bytes that are no acceptable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Fewer bytes than a header.
    #[error("a frame has at least {HEADER_LEN} bytes, found {found}")]
    TooShort {
        /// Bytes present.
        found: usize,
    },
    /// More bytes than any message of this plan.
    #[error("frames of this plan have at most {limit} bytes, announced {found}")]
    TooLong {
        /// Bytes announced.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// Not an Undertone frame.
    #[error("the frame does not begin with Undertone's mark")]
    NotAFrame,
    /// Another version of the layout.
    #[error("the frame has version {found}, this build speaks version {VERSION}")]
    Version {
        /// Version found.
        found: u8,
    },
    /// A kind of message this version does not know.
    #[error("unknown message kind {found}")]
    Kind {
        /// Kind found.
        found: u8,
    },
    /// The number of values announced is not the number present or expected.
    #[error("{found} values announced, expected {expected}")]
    Count {
        /// Values announced.
        found: usize,
        /// Values the plan, or the frame's length, allows.
        expected: usize,
    },
    /// NaN or an infinity among the values.
    #[error("the value at coordinate {coordinate} is not finite")]
    NotFinite {
        /// Position of the first such value.
        coordinate: usize,
    },
}

/// Length of a message on a stream, prefix included.
#[must_use]
pub fn framed_len(body: &Body) -> usize {
    match body {
        Body::Scale(_) => framed_block_len(1),
        Body::Average(values) | Body::Coordinates(values) => framed_block_len(values.len()),
    }
}

/// Length on a stream of a message with `values` values, prefix included.
#[must_use]
pub fn framed_block_len(values: usize) -> usize {
    PREFIX_LEN + HEADER_LEN + 8 * values
}

/// The longest frame, without prefix, of a plan whose blocks have `values` values.
#[must_use]
pub fn frame_limit(values: usize) -> usize {
    HEADER_LEN + 8 * values.max(1)
}

/// Encodes a message with its length prefix, ready for a stream.
#[must_use]
pub fn encode_framed(message: &Message) -> Vec<u8> {
    encode_framed_into(message, Vec::new())
}

/// As [`encode_framed`], in the memory of `bytes`, whose content is discarded.
#[must_use]
pub fn encode_framed_into(message: &Message, mut bytes: Vec<u8>) -> Vec<u8> {
    let scale;
    let (kind, values): (u8, &[f64]) = match &message.body {
        Body::Scale(value) => {
            scale = [*value];
            (KIND_SCALE, &scale)
        }
        Body::Average(values) => (KIND_AVERAGE, values),
        Body::Coordinates(values) => (KIND_COORDINATES, values),
    };
    let header = Header {
        magic: MAGIC,
        version: VERSION,
        session: message.session.0,
        release: message.release.0,
        round: message.round.0,
        kind,
        count: values.len() as u32,
    };
    bytes.clear();
    bytes.reserve_exact(framed_block_len(values.len()));
    bytes.extend_from_slice(&((HEADER_LEN + 8 * values.len()) as u32).to_le_bytes());
    bytes.resize(PREFIX_LEN + HEADER_LEN, 0);
    bincode::serde::encode_into_slice(&header, &mut bytes[PREFIX_LEN..], HEADER_CONFIG)
        .expect("the header has a fixed length and the slice is that long");
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    bytes
}

/// Checks an announced frame length before anything is allocated for it.
///
/// # Errors
/// [`WireError::TooShort`] or [`WireError::TooLong`] for a plan whose blocks have `values` values.
pub fn check_announced_len(prefix: [u8; PREFIX_LEN], values: usize) -> Result<usize, WireError> {
    let found = u32::from_le_bytes(prefix) as usize;
    let limit = frame_limit(values);
    if found < HEADER_LEN {
        Err(WireError::TooShort { found })
    } else if found > limit {
        Err(WireError::TooLong { found, limit })
    } else {
        Ok(found)
    }
}

/// Decodes one frame (without prefix) of a plan whose messages have these sizes.
///
/// # Errors
/// [`WireError`]; nothing is allocated until the header agrees with the frame's length and the plan.
pub fn decode(frame: &[u8], sizes: &FrameSizes) -> Result<Message, WireError> {
    let Some((head, tail)) = frame.split_first_chunk() else {
        return Err(WireError::TooShort { found: frame.len() });
    };
    let mut arriving = Arriving::new(head, frame.len(), sizes, Vec::new())?;
    arriving.take(tail)?;
    arriving.finish()
}

/// A frame whose header has come and whose values are coming: they are decoded piece by piece into the
/// block that the peer keeps, so that a frame is never held beside its values.
#[derive(Debug)]
pub struct Arriving {
    header: Header,
    values: Vec<f64>,
}

impl Arriving {
    /// A frame of `length` bytes with this header, in a plan whose messages have these sizes. Decodes
    /// into `buffer`, whose content is discarded; where it is too small, this is where memory is taken.
    ///
    /// # Errors
    /// [`WireError`] if the header is none, or does not agree with the length and the plan; nothing has
    /// been allocated then.
    pub fn new(
        header: &[u8; HEADER_LEN],
        length: usize,
        sizes: &FrameSizes,
        mut buffer: Vec<f64>,
    ) -> Result<Self, WireError> {
        let (header, _): (Header, usize) = bincode::serde::decode_from_slice(header, HEADER_CONFIG)
            .map_err(|_| WireError::NotAFrame)?;
        if header.magic != MAGIC {
            return Err(WireError::NotAFrame);
        }
        if header.version != VERSION {
            return Err(WireError::Version {
                found: header.version,
            });
        }
        let release = ReleaseId(header.release);
        let expected = match header.kind {
            KIND_SCALE => 1,
            KIND_AVERAGE => sizes.of(release, false),
            KIND_COORDINATES => sizes.of(release, true),
            found => return Err(WireError::Kind { found }),
        };
        let found = header.count as usize;
        if found != expected {
            return Err(WireError::Count { found, expected });
        }
        if length != HEADER_LEN + 8 * found {
            return Err(WireError::Count {
                found,
                expected: length.saturating_sub(HEADER_LEN) / 8,
            });
        }
        buffer.clear();
        buffer.reserve_exact(found);
        Ok(Self {
            header,
            values: buffer,
        })
    }

    /// Bytes of values that are still to come.
    #[must_use]
    pub fn missing(&self) -> usize {
        8 * (self.header.count as usize - self.values.len())
    }

    /// Decodes the next bytes: a whole number of values, at most [`Self::missing`] bytes.
    ///
    /// # Errors
    /// [`WireError::NotFinite`] for NaN and infinities; [`WireError::Count`] for bytes that are not a whole
    /// number of the missing values.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let before = self.values.len();
        if bytes.len() > self.missing() || !bytes.len().is_multiple_of(8) {
            return Err(WireError::Count {
                found: before + bytes.len().div_ceil(8),
                expected: self.header.count as usize,
            });
        }
        let (values, _) = bytes.as_chunks();
        self.values
            .extend(values.iter().map(|value| f64::from_le_bytes(*value)));
        let new = &self.values[before..];
        let bad = match self.header.kind {
            KIND_COORDINATES => new.iter().position(|v| !is_coordinate(*v)),
            _ => first_not_finite(new),
        };
        match bad {
            Some(position) => Err(WireError::NotFinite {
                coordinate: before + position,
            }),
            None => Ok(()),
        }
    }

    /// The message, once nothing is missing.
    ///
    /// # Errors
    /// [`WireError::Count`] if values are missing.
    pub fn finish(self) -> Result<Message, WireError> {
        let Self { header, values } = self;
        let (found, expected) = (values.len(), header.count as usize);
        if found != expected {
            return Err(WireError::Count { found, expected });
        }
        let body = match header.kind {
            KIND_SCALE => Body::Scale(values[0]),
            KIND_COORDINATES => Body::Coordinates(Arc::new(values)),
            _ => Body::Average(Arc::new(values)),
        };
        Ok(Message {
            session: SessionId(header.session),
            release: ReleaseId(header.release),
            round: Round(header.round),
            body,
        })
    }
}

/// A number, or −∞ for a coordinate that has not come yet.
pub(super) fn is_coordinate(value: f64) -> bool {
    value.is_finite() || value == f64::NEG_INFINITY
}

/// Digest of public parameters: BLAKE3 over their bincode encoding and a constant.
#[must_use]
pub(super) fn digest(parameters: &impl Serialize) -> [u8; 32] {
    let bytes = bincode::serde::encode_to_vec(
        parameters,
        bincode::config::standard().with_fixed_int_encoding(),
    )
    .expect("plans hold numbers, lists and enums only");
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session v1");
    // Not the version of the frames: noise is bound to this digest, and frames of a new layout carry the same noise.
    hasher.update(&[1]);
    hasher.update(&bytes);
    *hasher.finalize().as_bytes()
}

/// The name of a session whose plan has this digest. Builds that speak another version of the frames are in another.
#[must_use]
pub(super) fn session_of(digest: &[u8; 32]) -> SessionId {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session name v2");
    hasher.update(&[VERSION]);
    hasher.update(digest);
    let mut name = SessionId([0; 16]);
    name.0.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    name
}

/// How many values a message of each release holds: the bound on whatever is announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameSizes {
    /// Per release the number of values, and whether they are own coordinates. One entry stands for all releases.
    releases: Arc<[(usize, bool)]>,
    same: bool,
    most: usize,
}

impl FrameSizes {
    /// Sizes of the releases of a program, in order; whether they are own coordinates.
    #[must_use]
    pub fn new(releases: impl Iterator<Item = (usize, bool)>) -> Self {
        let mut releases: Vec<(usize, bool)> = releases.collect();
        let same = releases.iter().all(|one| *one == releases[0]);
        if same {
            releases.truncate(1);
        }
        Self {
            most: releases.iter().map(|one| one.0).max().unwrap_or(0),
            releases: releases.into(),
            same,
        }
    }

    /// The most values of any message.
    #[must_use]
    pub fn most(&self) -> usize {
        self.most
    }

    /// Values of a message of this release; 0 where the release has none of that kind.
    fn of(&self, release: ReleaseId, own: bool) -> usize {
        let index = if self.same { 0 } else { release.index() };
        match self.releases.get(index) {
            Some(&(values, is_own)) if is_own == own => values,
            _ => 0,
        }
    }
}

/// Sums of so many values in every release.
impl From<usize> for FrameSizes {
    fn from(values: usize) -> Self {
        Self::new(std::iter::once((values, false)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(body: Body) -> Message {
        Message {
            session: SessionId([7; 16]),
            release: ReleaseId(2),
            round: Round(5),
            body,
        }
    }

    fn roundtrip(message: &Message, values: usize) -> Result<Message, WireError> {
        let bytes = encode_framed(message);
        assert_eq!(bytes.len(), framed_len(&message.body));
        let prefix = bytes[..PREFIX_LEN].try_into().expect("four bytes");
        assert_eq!(
            check_announced_len(prefix, values)?,
            bytes.len() - PREFIX_LEN
        );
        decode(&bytes[PREFIX_LEN..], &FrameSizes::from(values))
    }

    #[test]
    fn messages_survive_the_wire() {
        for body in [
            Body::Scale(0.75),
            Body::Average(Arc::new(vec![1.0, -2.5, 1e-300])),
        ] {
            let sent = message(body);
            assert_eq!(roundtrip(&sent, 3).expect("valid"), sent);
        }
    }

    #[test]
    fn the_layout_is_frozen() {
        let bytes = encode_framed(&message(Body::Scale(1.0)));
        let mut expected = vec![39, 0, 0, 0, 0x55, 2];
        expected.extend([7; 16]);
        expected.extend([2, 0, 0, 0, 5, 0, 0, 0, 1, 1, 0, 0, 0]);
        expected.extend(1.0_f64.to_le_bytes());
        assert_eq!(bytes, expected);
        // What an older build says is refused by its version.
        let mut old = bytes[PREFIX_LEN..].to_vec();
        old[1] = 1;
        let refused = decode(&old, &FrameSizes::from(1)).expect_err("another version");
        assert_eq!(refused, WireError::Version { found: 1 });
        assert!(refused.to_string().contains("version 1"));
    }

    #[test]
    fn coordinates_may_be_missing_and_are_as_many_as_the_release_has() {
        let sizes = FrameSizes::new([(2, false), (3, true)].into_iter());
        let frame = |body| encode_framed(&message(body))[PREFIX_LEN..].to_vec();
        let missing = f64::NEG_INFINITY;
        let sent = Body::Coordinates(Arc::new(vec![1.0, missing, 2.0]));
        let decoded = decode(&frame(sent.clone()), &sizes).expect("release 2 has three");
        assert_eq!(decoded.body, sent);
        for bad in [f64::NAN, f64::INFINITY] {
            let body = Body::Coordinates(Arc::new(vec![1.0, bad, 2.0]));
            let refused = decode(&frame(body), &sizes);
            assert_eq!(refused, Err(WireError::NotFinite { coordinate: 1 }));
        }
        // Blocks of a sum may not be missing, and release 2 has none.
        let sum = Body::Average(Arc::new(vec![1.0, missing]));
        assert!(decode(&frame(sum), &FrameSizes::from(2)).is_err());
        let sum = Body::Average(Arc::new(vec![1.0, 2.0]));
        assert!(matches!(
            decode(&frame(sum), &sizes),
            Err(WireError::Count {
                found: 2,
                expected: 0
            })
        ));
    }

    #[test]
    fn lies_about_lengths_and_bad_values_are_refused() {
        let good = encode_framed(&message(Body::Average(Arc::new(vec![1.0, 2.0]))));
        let frame = &good[PREFIX_LEN..];
        assert!(matches!(
            decode(&frame[..10], &FrameSizes::from(2)),
            Err(WireError::TooShort { found: 10 })
        ));
        assert!(matches!(
            decode(frame, &FrameSizes::from(3)),
            Err(WireError::Count {
                found: 2,
                expected: 3
            })
        ));
        assert!(matches!(
            decode(&frame[..frame.len() - 1], &FrameSizes::from(2)),
            Err(WireError::Count { .. })
        ));
        let mut other = frame.to_vec();
        other[1] = 9;
        assert!(matches!(
            decode(&other, &FrameSizes::from(2)),
            Err(WireError::Version { found: 9 })
        ));
        other[1] = VERSION;
        other[26] = 77;
        assert!(matches!(
            decode(&other, &FrameSizes::from(2)),
            Err(WireError::Kind { found: 77 })
        ));
        let mut nan = frame.to_vec();
        nan[HEADER_LEN + 8..].copy_from_slice(&f64::NAN.to_le_bytes());
        assert!(matches!(
            decode(&nan, &FrameSizes::from(2)),
            Err(WireError::NotFinite { coordinate: 1 })
        ));
        assert!(matches!(
            check_announced_len(u32::MAX.to_le_bytes(), 2),
            Err(WireError::TooLong { .. })
        ));
        assert!(matches!(
            check_announced_len(3_u32.to_le_bytes(), 2),
            Err(WireError::TooShort { .. })
        ));
    }

    #[test]
    fn values_arrive_piece_by_piece_into_the_memory_that_is_there() {
        let sent = message(Body::Average(Arc::new((0..10).map(f64::from).collect())));
        let bytes = encode_framed(&sent);
        let (head, tail) = bytes[PREFIX_LEN..].split_first_chunk().expect("a header");
        let length = bytes.len() - PREFIX_LEN;
        let buffer = vec![7.0; 10];
        let place = buffer.as_ptr();
        let mut arriving =
            Arriving::new(head, length, &FrameSizes::from(10), buffer).expect("agrees");
        assert_eq!(arriving.missing(), 80);
        for piece in tail.chunks(24) {
            arriving.take(piece).expect("whole values");
        }
        let mut more =
            Arriving::new(head, length, &FrameSizes::from(10), Vec::new()).expect("agrees");
        assert!(more.take(&tail[..7]).is_err(), "half a value");
        assert!(more.take(&[0; 88]).is_err(), "more than announced");
        assert!(more.finish().is_err(), "nothing has come");
        let message = arriving.finish().expect("complete");
        assert_eq!(message, sent);
        let Body::Average(values) = message.body else {
            panic!("a block was sent");
        };
        assert_eq!(values.as_ptr(), place, "the values moved");
    }

    #[test]
    fn encoding_uses_the_memory_that_is_there() {
        let sent = message(Body::Average(Arc::new(vec![1.0, 2.0])));
        let old = vec![9; 400];
        let place = old.as_ptr();
        let bytes = encode_framed_into(&sent, old);
        assert_eq!(bytes, encode_framed(&sent));
        assert_eq!(bytes.as_ptr(), place);
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), values in 0_usize..20) {
            if let Ok(message) = decode(&bytes, &FrameSizes::from(values)) {
                prop_assert_eq!(&encode_framed(&message)[PREFIX_LEN..], &bytes[..]);
            }
        }

        #[test]
        fn corrupted_frames_never_panic(
            position in 0_usize..55, value in any::<u8>(), cut in 0_usize..60,
        ) {
            let mut bytes = encode_framed(&message(Body::Average(Arc::new(vec![1.0, 2.0, 3.0]))));
            let at = PREFIX_LEN + position % (bytes.len() - PREFIX_LEN);
            bytes[at] = value;
            let end = PREFIX_LEN + cut.min(bytes.len() - PREFIX_LEN);
            let _ = decode(&bytes[PREFIX_LEN..end], &FrameSizes::from(3));
        }
    }
}
