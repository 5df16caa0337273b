//! What an experiment keeps from its peers, to measure recommendations against.

use std::sync::Arc;

use crate::recommender::{SplitCounts, TestSet};

/// What the peers do not hold.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// The held-out items of every user.
    pub test: Arc<TestSet>,
    /// How many there are.
    pub counts: SplitCounts,
}
