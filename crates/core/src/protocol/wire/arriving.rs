//! Bytes to messages: values are decoded piece by piece into the block that the peer keeps.

use std::sync::Arc;

use super::error::WireError;
use super::header::{Header, Kind};
use super::sizes::FrameSizes;
use super::{HEADER_LEN, PREFIX_LEN};
use crate::protocol::finite::first_not_finite;
use crate::protocol::message::{Body, Message};

/// A number, or −∞ for a coordinate that has not come yet.
fn is_coordinate(value: f64) -> bool {
    value.is_finite() || value == f64::NEG_INFINITY
}

/// Checks an announced frame length before anything is allocated for it.
///
/// # Errors
/// [`WireError::TooShort`] or [`WireError::TooLong`] for a plan whose messages have these sizes.
pub fn check_announced_len(
    prefix: [u8; PREFIX_LEN],
    sizes: &FrameSizes,
) -> Result<usize, WireError> {
    let found = u32::from_le_bytes(prefix) as usize;
    let limit = sizes.limit();
    if found < HEADER_LEN {
        Err(WireError::TooShort { found })
    } else if found > limit {
        Err(WireError::TooLong { found, limit })
    } else {
        Ok(found)
    }
}

/// Decodes one message of a plan whose messages have these sizes, all its frames with their prefixes, from the beginning of
/// `bytes`; gives back what follows it.
///
/// # Errors
/// [`WireError`]; nothing is allocated for a frame until its header agrees with its length and the plan.
pub fn decode_framed<'a>(
    mut bytes: &'a [u8],
    sizes: &FrameSizes,
) -> Result<(Message, &'a [u8]), WireError> {
    let mut arriving: Option<Arriving> = None;
    loop {
        let cut = |found| match &arriving {
            Some(arriving) => arriving.incomplete(),
            None => WireError::TooShort { found },
        };
        let (prefix, rest) = bytes.split_first_chunk().ok_or(cut(bytes.len()))?;
        let length = check_announced_len(*prefix, sizes)?;
        let (header, rest) = rest.split_first_chunk().ok_or(cut(rest.len()))?;
        let mut message = match arriving.take() {
            None => Arriving::new(header, length, sizes, Memory::default())?,
            Some(mut message) => {
                message.next_frame(header, length)?;
                message
            }
        };
        let present = message.missing().min(rest.len());
        message.take(&rest[..present - present % message.header.kind.bytes()])?;
        if message.missing() > 0 {
            return Err(message.incomplete());
        }
        bytes = &rest[present..];
        if message.is_complete() {
            return Ok((message.finish()?, bytes));
        }
        arriving = Some(message);
    }
}

/// Memory of blocks that nobody needs any more, to decode into.
#[derive(Debug, Default)]
pub struct Memory {
    reals: Vec<f64>,
    residues: Vec<u64>,
}

impl Memory {
    /// The memory of a body, unless somebody else holds it too.
    #[must_use]
    pub fn of(body: Body) -> Self {
        let mut memory = Self::default();
        match body {
            Body::Scale(_) => {}
            Body::Average(values) | Body::Coordinates(values) => {
                memory.reals = Arc::into_inner(values).unwrap_or_default();
            }
            Body::Residues(values) => {
                memory.residues = Arc::into_inner(values).unwrap_or_default();
            }
        }
        memory
    }

    /// Values that fit without taking more memory.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.reals.capacity().max(self.residues.capacity())
    }
}

/// A message whose first header has come and whose values are coming.
///
/// Values go straight into the block that the peer keeps, so that neither a frame nor a message is ever held beside its values.
/// Memory for them is taken as frames come: at most twice what has come, and never more than the plan's release has.
#[derive(Debug)]
pub struct Arriving {
    header: Header,
    block: Block,
    /// Values of the message, how many of them came before the present frame, and how many will have come at its end.
    total: usize,
    from: usize,
    until: usize,
}

#[derive(Debug)]
enum Block {
    Reals(Vec<f64>),
    Residues(Vec<u64>),
}

impl Block {
    fn len(&self) -> usize {
        match self {
            Self::Reals(values) => values.len(),
            Self::Residues(values) => values.len(),
        }
    }
}

/// Makes room for `until` of `total` values.
fn make_room<T>(values: &mut Vec<T>, until: usize, total: usize) {
    if values.capacity() < until {
        // Doubling, so that a message that comes in many frames is moved a few times only.
        let room = (2 * values.len()).clamp(until, total);
        values.reserve_exact(room - values.len());
    }
}

impl Arriving {
    /// A message whose first frame has this header and `length` bytes, in a plan whose messages have these sizes. Decodes into
    /// `memory`, whose content is discarded; where it is too small, this is where memory for the frame is taken.
    ///
    /// # Errors
    /// [`WireError`] if the header is none, or does not agree with the length and the plan; nothing has
    /// been allocated then.
    pub fn new(
        header: &[u8; HEADER_LEN],
        length: usize,
        sizes: &FrameSizes,
        memory: Memory,
    ) -> Result<Self, WireError> {
        let header = Header::from_bytes(header)?;
        let total = sizes.of(header.release, header.kind)?;
        let Memory {
            mut reals,
            mut residues,
        } = memory;
        reals.clear();
        residues.clear();
        let block = match header.kind {
            Kind::Residues32 | Kind::Residues64 => Block::Residues(residues),
            Kind::Number | Kind::F64 | Kind::F32 | Kind::Coordinates => Block::Reals(reals),
        };
        let mut arriving = Self {
            header,
            block,
            total,
            from: 0,
            until: 0,
        };
        arriving.begin_frame(header, length)?;
        Ok(arriving)
    }

    /// Goes on with the next frame of the message, which has this header and `length` bytes.
    ///
    /// # Errors
    /// [`WireError`] if the header is none, or of another message or part than the one that is due, or does not agree with the
    /// length; [`WireError::Incomplete`] if values of the frame before are missing.
    pub fn next_frame(
        &mut self,
        header: &[u8; HEADER_LEN],
        length: usize,
    ) -> Result<(), WireError> {
        let header = Header::from_bytes(header)?;
        if !header.is_of_one_message_with(&self.header) {
            return Err(WireError::OtherMessage {
                arrived: self.block.len(),
                expected: self.total,
            });
        }
        if self.missing() > 0 {
            return Err(self.incomplete());
        }
        self.begin_frame(header, length)
    }

    fn begin_frame(&mut self, header: Header, length: usize) -> Result<(), WireError> {
        let (found, expected) = (header.first as usize, self.block.len());
        if found != expected {
            return Err(WireError::Part { found, expected });
        }
        // Every frame but the last is full, so that there is one way to cut a message.
        let values = (self.total - expected).min(self.header.kind.chunk());
        let bytes = length.saturating_sub(HEADER_LEN);
        let width = self.header.kind.bytes();
        if values == 0 || bytes != values * width {
            return Err(WireError::Count {
                found: bytes.div_ceil(width),
                expected: values,
            });
        }
        (self.from, self.until) = (expected, expected + values);
        match &mut self.block {
            Block::Reals(block) => make_room(block, self.until, self.total),
            Block::Residues(block) => make_room(block, self.until, self.total),
        }
        Ok(())
    }

    /// Forgets what has come of the present frame, which is going to come again. Whether there was one before it.
    pub fn forget_frame(&mut self) -> bool {
        match &mut self.block {
            Block::Reals(values) => values.truncate(self.from),
            Block::Residues(values) => values.truncate(self.from),
        }
        self.until = self.from;
        self.from > 0
    }

    /// Bytes of the present frame that are still to come.
    #[must_use]
    pub fn missing(&self) -> usize {
        self.header.kind.bytes() * (self.until - self.block.len())
    }

    /// Whether all values have come.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.block.len() == self.total
    }

    /// Values that have come, and values that there is memory for.
    #[cfg(test)]
    pub(super) fn memory(&self) -> (usize, usize) {
        let capacity = match &self.block {
            Block::Reals(values) => values.capacity(),
            Block::Residues(values) => values.capacity(),
        };
        (self.block.len(), capacity)
    }

    fn incomplete(&self) -> WireError {
        WireError::Incomplete {
            arrived: self.block.len(),
            expected: self.total,
        }
    }

    /// Decodes the next bytes: a whole number of values, at most [`Self::missing`] bytes.
    ///
    /// # Errors
    /// [`WireError::NotFinite`] for NaN and infinities; [`WireError::Count`] for bytes that are not a whole
    /// number of the missing values.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), WireError> {
        let before = self.block.len();
        let width = self.header.kind.bytes();
        if bytes.len() > self.missing() || !bytes.len().is_multiple_of(width) {
            return Err(WireError::Count {
                found: before + bytes.len().div_ceil(width),
                expected: self.until,
            });
        }
        let block = match &mut self.block {
            Block::Reals(block) => block,
            Block::Residues(block) => {
                if self.header.kind == Kind::Residues32 {
                    let (values, _) = bytes.as_chunks();
                    block.extend(values.iter().map(|v| u64::from(u32::from_le_bytes(*v))));
                } else {
                    let (values, _) = bytes.as_chunks();
                    block.extend(values.iter().map(|v| u64::from_le_bytes(*v)));
                }
                return Ok(());
            }
        };
        if self.header.kind == Kind::F32 {
            let (values, _) = bytes.as_chunks();
            block.extend(values.iter().map(|v| f64::from(f32::from_le_bytes(*v))));
        } else {
            let (values, _) = bytes.as_chunks();
            block.extend(values.iter().map(|v| f64::from_le_bytes(*v)));
        }
        let new = &block[before..];
        let bad = match self.header.kind {
            Kind::Coordinates => new.iter().position(|v| !is_coordinate(*v)),
            _ => first_not_finite(new),
        };
        match bad {
            Some(position) => Err(WireError::NotFinite {
                coordinate: before + position,
            }),
            None => Ok(()),
        }
    }

    /// The message, once it is complete.
    ///
    /// # Errors
    /// [`WireError::Incomplete`] if values are missing.
    pub fn finish(self) -> Result<Message, WireError> {
        if !self.is_complete() {
            return Err(self.incomplete());
        }
        let Self { header, block, .. } = self;
        let body = match (header.kind, block) {
            (_, Block::Residues(values)) => Body::Residues(Arc::new(values)),
            (Kind::Number, Block::Reals(values)) => Body::Scale(values[0]),
            (Kind::Coordinates, Block::Reals(values)) => Body::Coordinates(Arc::new(values)),
            (_, Block::Reals(values)) => Body::Average(Arc::new(values)),
        };
        Ok(Message {
            session: header.session,
            release: header.release,
            round: header.round,
            body,
        })
    }
}
