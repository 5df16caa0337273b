//! What the tasks around the driver of a tolerant peer tell it.

use crate::node::deployed::tolerance::Life;
use crate::node::error::HostError;
use crate::protocol::tolerant::Frame;

/// What the tasks around a driver tell it, of neighbours by their place in the list.
#[derive(Debug)]
pub(in super::super) enum Inbound {
    /// A frame.
    Frame { place: usize, frame: Frame },
    /// A neighbour's driver lives, and waits for somebody so many hops away.
    Waiting { place: usize, hops: u8 },
    /// A neighbour lives another life than was known, or is heard of for the first time.
    Back { place: usize, life: Life },
    /// A neighbour is not there any more, or deviates.
    Gone(usize),
    /// This peer cannot go on.
    Failed(HostError),
}
