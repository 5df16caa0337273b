//! The randomised power method: contribute A_u X, take the Q of the noisy sum.

use std::ops::Range;

use super::Algorithm;
use crate::linalg::{Block, NotFullRank, SparseRows, orthonormalise};

/// Block power method (subspace iteration) on A = Σ_u R_uᵀR_u.
///
/// One iteration: peer u contributes A_u X = R_uᵀ(R_u X); the sum Y ≈ A X + noise is orthonormalised,
/// X ← QR(Y) with positive diagonal.
///
/// # Source
/// P1 Algorithms 1–2; Hardt & Price 2014, Fig. 3. Noise of step l is scaled by X^{l−1}, the block the
/// contribution was computed with, not X^l as P1 prints (that would not be causal).
#[derive(Clone, Copy, Debug)]
pub struct PowerMethod {
    /// Number of columns p.
    pub rank: usize,
}

impl Algorithm for PowerMethod {
    fn prepare(&self, rows: &SparseRows, state: &[f64]) -> Vec<f64> {
        rows.project(state, self.rank)
    }

    fn add_contribution(
        &self,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        rows.add_back_projection(prepared, self.rank, range, out);
    }

    fn advance(&self, sum: &Block) -> Result<Block, NotFullRank> {
        orthonormalise(sum)
    }
}
