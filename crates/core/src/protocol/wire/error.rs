//! Bytes that are no acceptable message.

use super::{HEADER_LEN, VERSION};

/// Bytes that are no acceptable message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// Fewer bytes than a header.
    #[error("a frame has at least {HEADER_LEN} bytes, found {found}")]
    TooShort {
        /// Bytes present.
        found: usize,
    },
    /// More bytes than any frame of this plan.
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
    /// A sum whose coordinates are not what the plan exchanges.
    #[error("coordinates travel as {expected} in this plan, found {found}")]
    Values {
        /// What the frame holds.
        found: &'static str,
        /// What the plan exchanges.
        expected: &'static str,
    },
    /// The number of values in a frame is not the one expected.
    #[error("{found} values in a frame, expected {expected}")]
    Count {
        /// Values in the frame.
        found: usize,
        /// Values that the plan has there.
        expected: usize,
    },
    /// A part of a message out of order, repeated, or after one that is missing.
    #[error(
        "the frame begins at value {found} of its message, expected value {expected}: parts of a message come in order, \
         each once"
    )]
    Part {
        /// Where the frame begins.
        found: usize,
        /// How many values have come.
        expected: usize,
    },
    /// A frame of another message before this one is complete.
    #[error("a frame of another message, {arrived} of {expected} values into this one")]
    OtherMessage {
        /// Values that have come.
        arrived: usize,
        /// Values of the message.
        expected: usize,
    },
    /// The end of the bytes before the end of the message.
    #[error("the message ends after {arrived} of {expected} values")]
    Incomplete {
        /// Values that have come.
        arrived: usize,
        /// Values of the message.
        expected: usize,
    },
    /// NaN or an infinity among the values.
    #[error("the value at coordinate {coordinate} is not finite")]
    NotFinite {
        /// Position of the first such value.
        coordinate: usize,
    },
}
