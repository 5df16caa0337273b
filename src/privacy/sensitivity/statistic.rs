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

    /// The least and the most that an n × p block with orthonormal columns can have: the squared row norms average p/n, the
    /// squared entries 1/n, and neither exceeds 1. 0 for [`Statistic::None`].
    #[must_use]
    pub fn range(self, dimension: usize, columns: usize) -> (f64, f64) {
        match self {
            Self::None => (0.0, 0.0),
            Self::MaxRowNorm => ((columns as f64 / dimension as f64).sqrt(), 1.0),
            Self::MaxEntry => ((1.0 / dimension as f64).sqrt(), 1.0),
        }
    }
}
