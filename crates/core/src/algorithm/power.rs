//! The randomised power method: contribute A_u X, take the Q of the noisy sum.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, program_of};
use super::{Algorithm, AlgorithmError, Program, Proved, PublicState, ReleaseSpec, RetainedState};
use super::{Output, Precondition, Start};
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

/// `[algorithm]` with `kind = "power"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PowerTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// `"basis"` (where absent), or `"low-rank"`: a run also writes an approximation of A of rank at most p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// `"none"` (where absent), or `"items"`: the eigenvectors of P A P, for a P of public item degrees.
    #[serde(default, skip_serializing_if = "Precondition::is_none")]
    pub precondition: Precondition,
    /// e of P = diag(degree^−e), from 0 to 0.5; 0.25 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_exponent: Option<f64>,
    /// The share of the mean in every degree that P is made of, from 0 to 1; 0 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_shrinkage: Option<f64>,
}

impl AlgorithmTable for PowerTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        made(PowerMethod::new(facts.items, self.rank, self.iterations))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(PowerMethod::new(2, 1, 1))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            output: self.output.unwrap_or_default(),
            ..DataRequirements::of_matrix(
                self.start,
                self.precondition,
                self.precondition_exponent,
                self.precondition_shrinkage,
            )
        }
    }

    fn finds_eigenvectors(&self) -> bool {
        false
    }
}
