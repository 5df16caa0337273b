//! Which receipts are read.

/// Version of the layout of receipts.
pub(crate) const SCHEMA: u32 = 3;

/// The largest receipt read, in bytes.
pub(crate) const MAX_BYTES: u64 = 256 << 20;

/// The largest noise graph that is checked.
pub(super) const MOST_PEERS: usize = 100_000;

/// The most releases that are checked.
pub(super) const MOST_RELEASES: usize = 100_000;
