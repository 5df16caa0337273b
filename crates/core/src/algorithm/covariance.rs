//! One noisy release of the matrix itself: Analyze Gauss.

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, one, program_of};
use super::{Algorithm, AlgorithmError, History, Program, Proved, PublicState, ReleaseSpec};
use super::{Precondition, Start};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId};

/// A = Σ_u r̂_uᵀr̂_u, released once as its packed upper triangle with independent noise of equal σ on every one of the
/// n(n+1)/2 coordinates.
///
/// An entry off the diagonal is released once and copied to both triangles, so the noise matrix is symmetric with
/// standard deviation σ everywhere, on the diagonal too, and has norm about 2σ√n. The estimate is the span of the `rank`
/// eigenvectors with the algebraically largest eigenvalues: the noisy matrix need not be positive semidefinite, and
/// a large negative eigenvalue can only be noise.
///
/// # Shapes
/// The release is n(n+1)/2 × 1. The query takes no part; the starting block (n × rank) is only where the others begin.
///
/// # Privacy
/// Δ is that of the packed triangle, see `privacy/sensitivity/packed`: 1/√D for one interaction. The estimate is
/// post-processing.
///
/// # Source
/// Dwork, Talwar, Thakurta & Zhang 2014, "Analyze Gauss", Algorithm 1: the same release for rows of norm at most 1,
/// charged at Δ = 1.
#[derive(Clone, Copy, Debug)]
pub struct Covariance {
    /// Items n.
    pub(super) dimension: usize,
    /// Eigenvectors wanted.
    pub(super) rank: usize,
}

impl Covariance {
    /// So many eigenvectors of the matrix on so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items.
    pub fn new(items: usize, rank: usize) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, 1)?;
        Ok(Self {
            dimension: items,
            rank,
        })
    }
}

impl Algorithm for Covariance {
    fn program(&self) -> Program {
        let shape = (PackedTriangle::coordinates(self.dimension), 1);
        let release = ReleaseSpec::sum(1, Quantity::PackedTriangle, shape, self.rank);
        Program::of("covariance", self.dimension, self.rank, vec![release])
            .with_setting("rank", self.rank as f64)
            .proved(Proved::MATRIX_ONLY)
    }

    fn prepare(&self, _: &SparseRows, _: History<'_>) -> Vec<f64> {
        Vec::new()
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        _: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        rows.add_gram_triangle(range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.followed_by(sum, sigmas))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let Some(released) = state.past.last() else {
            return Arc::clone(&state.query);
        };
        let matrix = PackedTriangle::new(self.dimension, released.sum.values());
        Arc::new(matrix.leading_eigenvectors(self.rank))
    }
}

/// `[algorithm]` with `kind = "covariance"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CovarianceTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: exactly 1, which is the default.
    #[serde(default = "one")]
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
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

impl AlgorithmTable for CovarianceTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        AlgorithmError::check_iterations("covariance", 1, self.iterations)?;
        made(Covariance::new(facts.items, self.rank))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(Covariance::new(2, 1))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements::of_matrix(
            self.start,
            self.precondition,
            self.precondition_exponent,
            self.precondition_shrinkage,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::{start_block, subspace_distance, top_eigenvectors};
    use crate::vocabulary::Seed;

    fn rows() -> SparseRows {
        let mut rows = SparseRows::new(25);
        for u in 0..200_u32 {
            let entries = (0..25).filter(|c| (u * 7 + c * c * 3 + u * c) % 11 < 2 + c % 3);
            rows.push_row(entries.map(|c| (c, 0.25)))
                .expect("ascending");
        }
        rows
    }

    #[test]
    fn without_noise_one_release_gives_the_exact_eigenvectors() {
        let rows = rows();
        let algorithm = Covariance {
            dimension: 25,
            rank: 3,
        };
        let start = Arc::new(start_block(&Seed::from_u64(1), 25, 3).expect("full rank"));
        let state = PublicState::new(start);
        let sum = Arc::new(super::super::contribution(
            &algorithm,
            &rows,
            state.history(),
            (25 * 26 / 2, 1),
        ));
        let state = algorithm.advance(&state, &sum, &[0.0]).expect("always");
        let top = top_eigenvectors(&rows, 3).expect("converges");
        assert!(subspace_distance(&algorithm.estimate(&state), &top.vectors) < 1e-8);
    }

    #[test]
    fn a_large_negative_eigenvalue_is_not_taken_for_a_direction_of_the_data() {
        // diag(-100, 2, 1) and the same in packed form.
        let sum = Arc::new(Block::from_values(
            6,
            1,
            vec![-100.0, 0.0, 0.0, 2.0, 0.0, 1.0],
        ));
        let algorithm = Covariance {
            dimension: 3,
            rank: 1,
        };
        let state = PublicState::new(Arc::new(Block::zeros(3, 1)));
        let state = algorithm.advance(&state, &sum, &[1.0]).expect("always");
        let estimate = algorithm.estimate(&state);
        assert!(
            (estimate.values()[1] - 1.0).abs() < 1e-12,
            "second item, positive sign"
        );
        // Entries near the largest float do not overflow.
        let huge = Arc::new(Block::from_values(
            6,
            1,
            sum.values().iter().map(|v| v * 1e306).collect(),
        ));
        let state = algorithm
            .advance(
                &PublicState::new(Arc::new(Block::zeros(3, 1))),
                &huge,
                &[1.0],
            )
            .expect("always");
        assert!(subspace_distance(&algorithm.estimate(&state), &estimate) < 1e-12);
    }
}
