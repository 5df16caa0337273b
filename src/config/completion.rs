//! The table `[completion]` of an experiment file.

use serde::{Deserialize, Serialize};

use crate::algorithm::SHARES;

/// `[completion]`: which ratings are kept aside to be predicted, and how methods of completion divide the budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompletionConfig {
    /// Every rating is kept from the peers, and predicted, with this probability: one coin per user and item, by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test_share: Option<f64>,
    /// Whether noisy item means are released before the covariance; they are where this is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item_means: Option<bool>,
    /// Of μ²: what sums of ratings, counts of ratings and the covariance spend; [0.10, 0.05, 0.85] where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<[f64; 3]>,
}

impl CompletionConfig {
    /// Whether nothing is said, so that the table says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether item means are released, with the default.
    #[must_use]
    pub fn item_means(&self) -> bool {
        self.item_means.unwrap_or(true)
    }

    /// What each block spends, with the default.
    #[must_use]
    pub fn shares(&self) -> [f64; 3] {
        self.shares.unwrap_or(SHARES)
    }
}
