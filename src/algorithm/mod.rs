//! What is contributed, and how the public state advances.
//!
//! An algorithm is a local map with known sensitivity and a public update. It never sees who its peers
//! are or how values move; every engine calls the same functions.

mod power;

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

pub use power::PowerMethod;

use crate::linalg::{Block, NotFullRank, SparseRows};

/// One iterative computation over a private sum Σ_u f_u(X).
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// A summary of the rows against the public state that makes ranges of the contribution cheap.
    ///
    /// `state` is the row-major public block X.
    fn prepare(&self, rows: &SparseRows, state: &[f64]) -> Vec<f64>;

    /// Adds the coordinates `range` of this peer's contribution f_u(X) to `out`.
    ///
    /// Every coordinate must be summed in an order that does not depend on `range`: engines cut the
    /// contribution differently and must still agree to the bit.
    fn add_contribution(
        &self,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    );

    /// The next public state from the noisy sum.
    ///
    /// # Errors
    /// [`NotFullRank`] if the sum has no unique orthonormal basis.
    fn advance(&self, sum: &Block) -> Result<Block, NotFullRank>;
}

/// The algorithms an experiment file can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmKind {
    /// The randomised power method (subspace iteration), P1.
    Power,
}

impl AlgorithmKind {
    /// The algorithm for blocks of `rank` columns.
    #[must_use]
    pub fn build(self, rank: usize) -> Box<dyn Algorithm> {
        match self {
            Self::Power => Box::new(PowerMethod { rank }),
        }
    }
}
