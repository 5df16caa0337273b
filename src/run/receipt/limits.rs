//! Which receipts are read.

/// Version of the document's layout.
pub const SCHEMA: u32 = 1;

/// The largest receipt read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;
