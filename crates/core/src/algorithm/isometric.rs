//! Analyze Gauss in coordinates in which lengths are those of the matrix.

use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, one, program_of};
use super::{Algorithm, AlgorithmError, History, Program, Proved, PublicState, ReleaseSpec};
use super::{Precondition, Start};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId};

/// A = Σ_u r̂_uᵀr̂_u, released once as A_ii and √2·A_ij for i < j, with independent noise of equal σ on each.
///
/// # Why
/// In these coordinates the length of a change C of A is ‖C‖_F, without a distinction between what lies on the diagonal and
/// what does not: 1 for a row of norm 1 that is there or not. The packed triangle charged at the same 1, as Analyze Gauss is
/// printed ([`Covariance`](super::Covariance) with `sensitivity = "unit-row"`), has noise of σ on every entry and norm about
/// 2σ√n; here an entry off the diagonal is divided by √2 again, so that the noise matrix has norm about √2·σ√n. Where the
/// sensitivity of the packed triangle is known to be smaller (`sensitivity = "exact"` for interactions) the two differ little.
///
/// # Shapes
/// The release is n(n+1)/2 × 1. The query takes no part.
///
/// # Privacy
/// Δ is that of the isometric triangle, see `privacy/sensitivity`. The estimate is post-processing.
///
/// # Source
/// Dwork, Talwar, Thakurta & Zhang 2014, Algorithm 1, for the release; the coordinates are those in which symmetric matrices
/// are usually written as vectors (svec).
#[derive(Clone, Copy, Debug)]
pub struct IsometricCovariance {
    /// Items n.
    pub(super) dimension: usize,
    /// Eigenvectors wanted.
    pub(super) rank: usize,
}

impl IsometricCovariance {
    /// Multiplies what lies off the diagonal among the coordinates `range` of the triangle.
    pub(super) fn scale(&self, range: Range<usize>, factor: f64, values: &mut [f64]) {
        let starts = (0..self.dimension).map(|i| PackedTriangle::row_start(self.dimension, i));
        let first = range.start;
        let mut diagonal = starts.skip_while(|&at| at < first).peekable();
        for (coordinate, value) in range.zip(values) {
            if diagonal.next_if_eq(&coordinate).is_none() {
                *value *= factor;
            }
        }
    }
}

impl IsometricCovariance {
    /// The packed triangle of the symmetric matrix with these isometric coordinates, n(n+1)/2 numbers.
    #[must_use]
    pub fn packed(&self, coordinates: &[f64]) -> Vec<f64> {
        let mut triangle = coordinates.to_vec();
        self.scale(0..triangle.len(), SQRT_2.recip(), &mut triangle);
        triangle
    }

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

impl Algorithm for IsometricCovariance {
    fn program(&self) -> Program {
        let shape = (PackedTriangle::coordinates(self.dimension), 1);
        let release = ReleaseSpec::sum(1, Quantity::IsometricTriangle, shape, self.rank);
        Program::of(
            "isometric-covariance",
            self.dimension,
            self.rank,
            vec![release],
        )
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
        let mut triangle = vec![0.0; out.len()];
        rows.add_gram_triangle(range.clone(), &mut triangle);
        self.scale(range, SQRT_2, &mut triangle);
        for (out, value) in out.iter_mut().zip(triangle) {
            *out += value;
        }
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
        let triangle = self.packed(released.sum.values());
        Arc::new(PackedTriangle::new(self.dimension, &triangle).leading_eigenvectors(self.rank))
    }
}

/// `[algorithm]` with `kind = "isometric-covariance"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IsometricCovarianceTable {
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

impl AlgorithmTable for IsometricCovarianceTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        AlgorithmError::check_iterations("isometric-covariance", 1, self.iterations)?;
        made(IsometricCovariance::new(facts.items, self.rank))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(IsometricCovariance::new(2, 1))
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
    use crate::algorithm::contribution;
    use crate::linalg::{start_block, subspace_distance, top_eigenvectors};
    use crate::vocabulary::Seed;

    #[test]
    fn lengths_are_those_of_the_matrix_and_the_eigenvectors_are_exact_without_noise() {
        let mut rows = SparseRows::new(25);
        for u in 0..200_u32 {
            let entries = (0..25).filter(|c| (u * 7 + c * c * 3 + u * c) % 11 < 2 + c % 3);
            rows.push_row(entries.map(|c| (c, 0.25)))
                .expect("ascending");
        }
        let algorithm = IsometricCovariance {
            dimension: 25,
            rank: 3,
        };
        let start = Arc::new(start_block(&Seed::from_u64(1), 25, 3).expect("full rank"));
        let state = PublicState::new(start);
        let shape = (25 * 26 / 2, 1);
        let sum = Arc::new(contribution(&algorithm, &rows, state.history(), shape));
        let identity = Block::from_matrix(&nalgebra::DMatrix::identity(25, 25));
        let frobenius = rows.gram_product(&identity).norm();
        assert!((sum.norm() / frobenius - 1.0).abs() < 1e-12);
        for width in [1, 7, 30] {
            let mut cut = vec![0.0; shape.0];
            for (k, out) in cut.chunks_mut(width).enumerate() {
                let range = k * width..k * width + out.len();
                algorithm.add_contribution(ReleaseId(1), &rows, &[], range, out);
            }
            assert_eq!(cut, sum.values(), "{width}");
        }
        let state = algorithm.advance(&state, &sum, &[0.0]).expect("always");
        let top = top_eigenvectors(&rows, 3).expect("converges");
        assert!(subspace_distance(&algorithm.estimate(&state), &top.vectors) < 1e-8);
    }
}
