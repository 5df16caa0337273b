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
    /// max_i‖X_{i:}‖₁/√p: the largest absolute sum of a row, over the most that p columns allow.
    MaxRowSum,
}

impl Statistic {
    /// The statistic of one basis: 0 for [`Statistic::None`].
    #[must_use]
    pub fn of(self, basis: &Block) -> f64 {
        match self {
            Self::None => 0.0,
            Self::MaxRowNorm => basis.max_row_norm(),
            Self::MaxEntry => basis.max_entry(),
            Self::MaxRowSum => max_row_sum(basis),
        }
    }

    /// The least and the most that an n × p block with orthonormal columns can have: the squared row norms average p/n, the
    /// squared entries 1/n, absolute sums of rows are at least their norms, and none exceeds 1. 0 for [`Statistic::None`].
    #[must_use]
    pub fn range(self, dimension: usize, columns: usize) -> (f64, f64) {
        match self {
            Self::None => (0.0, 0.0),
            Self::MaxRowNorm => ((columns as f64 / dimension as f64).sqrt(), 1.0),
            Self::MaxEntry | Self::MaxRowSum => ((1.0 / dimension as f64).sqrt(), 1.0),
        }
    }
}

fn max_row_sum(basis: &Block) -> f64 {
    let sums = (0..basis.rows()).map(|i| basis.row(i).iter().map(|x| x.abs()).sum::<f64>());
    sums.fold(0.0, f64::max) / (basis.columns() as f64).sqrt()
}
