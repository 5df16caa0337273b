//! The randomised power method: contribute A_u X, take the Q of the noisy sum.

use std::sync::Arc;

use super::{Algorithm, AlgorithmError, Program, Proved, PublicState, ReleaseSpec, RetainedState};
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
    pub(super) dimension: usize,
    /// Number of columns p.
    pub(super) rank: usize,
    /// Iterations L.
    pub(super) iterations: u32,
}

impl PowerMethod {
    /// So many columns and iterations on so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and for no iterations or too many.
    pub fn new(items: usize, rank: usize, iterations: u32) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        Ok(Self {
            dimension: items,
            rank,
            iterations,
        })
    }
}

impl Algorithm for PowerMethod {
    fn program(&self) -> Program {
        let releases = ReleaseSpec::products(self.iterations, self.dimension, self.rank);
        Program::of("power", self.dimension, self.rank, releases)
            .with_setting("rank", self.rank as f64)
            .proved(Proved {
                matrix_only: true,
                ..Proved::INDEFINITE
            })
            .state(RetainedState::Query)
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
