//! What the filters leave to the peers, and what they keep from them.

use std::sync::Arc;

use super::data_summary::DataSummary;
use super::held_out::HeldOut;
use crate::data::Interactions;

/// What the filters make of what was read.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// The interactions that the peers hold.
    pub(super) interactions: Arc<Interactions>,
    /// What was read and dropped.
    pub(super) summary: DataSummary,
    /// What `[evaluation]` keeps from the peers.
    pub(super) held_out: Option<HeldOut>,
    /// The interactions with all items, where a matrix is released of some only.
    pub(super) catalogue: Option<Arc<Interactions>>,
}
