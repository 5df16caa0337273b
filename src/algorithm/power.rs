//! The randomised power method: contribute A_u X, take the Q of the noisy sum.

use std::sync::Arc;

use super::{Algorithm, Proved, PublicState, ReleaseSpec};
use crate::linalg::{Block, NotFullRank, orthonormalise};

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
    /// Items n.
    pub dimension: usize,
    /// Number of columns p.
    pub rank: usize,
    /// Iterations L.
    pub iterations: u32,
}

impl Algorithm for PowerMethod {
    fn name(&self) -> &'static str {
        "power"
    }

    fn settings(&self) -> Vec<(&'static str, f64)> {
        vec![("rank", self.rank as f64)]
    }

    fn proved(&self) -> Proved {
        Proved::INDEFINITE
    }

    fn releases(&self) -> Vec<ReleaseSpec> {
        ReleaseSpec::products(self.iterations, self.dimension, self.rank)
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn query_columns(&self) -> usize {
        self.rank
    }

    fn is_memoryless(&self) -> bool {
        true
    }

    fn advance(
        &self,
        _: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        orthonormalise(sum).map(|basis| PublicState::new(Arc::new(basis)))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}
