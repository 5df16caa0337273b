//! The public number of X that noise is scaled by.

use serde::{Deserialize, Serialize};

use crate::linalg::Block;

/// The public number of X that peers agree on by max-consensus before they can scale their noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// Nothing: Δ is known in advance.
    None,
    /// D̂ = max_i‖X_{i:}‖₂.
    MaxRowNorm,
    /// ‖X‖_max = max_{ij}|X_{ij}|.
    MaxEntry,
}

impl Statistic {
    /// The statistic of one basis: 0 for [`Statistic::None`].
    #[must_use]
    pub fn of(self, basis: &Block) -> f64 {
        match self {
            Self::None => 0.0,
            Self::MaxRowNorm => basis.max_row_norm(),
            Self::MaxEntry => basis.max_entry(),
        }
    }
}
