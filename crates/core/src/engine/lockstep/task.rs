//! What is the same for all chunks of one release.

use super::gossip::{Gossip, Rounds};
use crate::engine::Session;
use crate::engine::course::Current;
use crate::engine::noise::NetworkNoise;
use crate::protocol::averaging::CommonEnd;

/// What one chunk needs to know about its release.
pub(super) struct ChunkTask<'a> {
    pub(super) session: &'a Session,
    pub(super) noise: &'a NetworkNoise,
    pub(super) gossip: &'a Gossip,
    /// Per peer what makes its contribution cheap; nothing where it has no rows of the release's batch.
    pub(super) prepared: &'a [Option<Vec<f64>>],
    pub(super) current: Current<'a>,
    /// What is exchanged, and whether somebody wants to see how far the peers are apart after every round.
    pub(super) rounds: Rounds<'a>,
    /// What all peers end with, where that is the same.
    pub(super) common: Option<&'a CommonEnd>,
    /// Whether there is less under way than a whole chunk per thread, so that threads must share a chunk.
    pub(super) alone: bool,
}
