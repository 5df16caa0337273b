//! Which frames a host has received: the last stamps, with their signers.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::node::equivocation::{SIGNED_STAMP_LEN, SignedStamp};
use crate::session::{MOST_PARTS, MOST_STAMPS, PublicId};

/// Stamps that a host keeps of all it has received: as many as it can show.
const MOST_KEPT: usize = MOST_PARTS as usize * MOST_STAMPS;

/// The last stamps that a host has received, with their signers, the newest last.
#[derive(Debug, Default)]
pub(super) struct KeptStamps(Mutex<VecDeque<(PublicId, SignedStamp)>>);

impl KeptStamps {
    /// Keeps one more, whose signature holds, and drops the oldest where there are too many.
    pub(super) fn keep(&self, signer: PublicId, stamp: SignedStamp) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.pop_front();
        }
        kept.push_back((signer, stamp));
    }

    pub(super) fn all(&self) -> Vec<(PublicId, [u8; SIGNED_STAMP_LEN])> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = |(signer, stamp): &(PublicId, SignedStamp)| (*signer, stamp.to_bytes());
        kept.iter().map(bytes).collect()
    }
}
