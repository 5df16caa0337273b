//! Frames and records of tolerant peers as bytes: what travels between hosts, and what lies on a disk.
//!
//! ```text
//! frame     kind | what it says                       lengths are bounded by the plan, the peers and the links of the session
//! record    kind | what is kept                       shares are among it: nobody else's to read
//! ```
//!
//! Blocks are written as [`wire`](crate::protocol::wire) has them. Nothing is allocated for a number that bytes announce before the bytes themselves are there.

mod frames;
mod records;

use crate::protocol::escrow::{HIDDEN_SHARE_LEN, seal_len};
use crate::protocol::regroup::{
    Extent, MOST_HOLDERS, Publication, Reader, RegroupSetup, Thresholds,
};
use crate::protocol::wire::{FrameSizes, framed_block_len};
use crate::protocol::{SessionPlan, Values};
use crate::vocabulary::PeerIndex;

/// What is left for everything but blocks: statements of the largest sessions have half of it.
const WORDS: usize = 128 * 1024;

/// How the frames and records of one peer of a session are read and written.
#[derive(Clone, Debug)]
pub struct Format {
    me: PeerIndex,
    extent: Extent,
    values: Values,
    sizes: FrameSizes,
    longest: usize,
    thresholds: Option<Thresholds>,
}

/// Bytes that are no frame or no record of this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("bytes that no peer of this session writes, at place {at}")]
pub struct FormatError {
    /// How much of them could be read.
    pub at: usize,
}

impl Format {
    /// That of this peer in the session of this plan, in which nothing has gone wrong.
    #[must_use]
    pub fn new(setup: &RegroupSetup, plan: &SessionPlan) -> Self {
        let values = plan.values();
        let sealed = seal_len(MOST_HOLDERS, plan.most_values() * values.bytes()) + HIDDEN_SHARE_LEN;
        let block = framed_block_len(plan.most_values(), values);
        Self {
            me: setup.me,
            extent: Extent {
                peers: setup.links.peers(),
                links: setup.links.len(),
            },
            values,
            sizes: plan.frame_sizes(0),
            longest: sealed.max(block) + WORDS,
            thresholds: match &setup.tolerance.publication {
                Publication::Open => None,
                Publication::Sealed(thresholds) => Some(thresholds.clone()),
            },
        }
    }

    /// Bytes of the longest frame.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

/// What `read` makes of all of these bytes.
fn whole<T>(
    bytes: &[u8],
    read: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> Result<T, FormatError> {
    let mut from = Reader::new(bytes);
    let read = read(&mut from).and_then(|read| from.end().map(|()| read));
    read.ok_or(FormatError { at: from.at() })
}
