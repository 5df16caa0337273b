//! Which receipts are read.

/// Version of the layout of receipts of sessions that tolerate losses.
pub const TOLERANT_SCHEMA: u32 = 2;

/// Version of the layout of all others: it is the same without what is said of losses.
pub const SCHEMA: u32 = 1;

/// The largest receipt read, in bytes.
pub const MAX_BYTES: u64 = 256 << 20;

/// The largest noise graph that is checked.
pub(super) const MOST_PEERS: usize = 100_000;
