//! Which receipts are read.

/// Version of the document's layout.
pub const SCHEMA: u32 = 1;

/// The largest receipt read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

/// The largest noise graph that is checked.
pub(super) const MOST_PEERS: usize = 100_000;
