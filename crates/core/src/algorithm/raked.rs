//! A covariance whose diagonal and row sums know no degree floor, and whose other entries are scaled to fit them.

use std::f64::consts::SQRT_2;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Start;
use super::isometric::IsometricCovariance;
use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, one, program_of};
use super::{Algorithm, AlgorithmError, History, Program, PublicState, ReleaseSpec};
use crate::linalg::{Block, NotFullRank, PackedTriangle, SparseRows};
use crate::vocabulary::{Quantity, ReleaseId, margin_weights};

mod raking;
#[cfg(test)]
mod tests;

pub use raking::raked;

/// The triangle of A_D = Σ_u w_D(d_u) r_uᵀr_u off its diagonal, and of A_1 = Σ_u r_uᵀr_u/d_u the diagonal and the row sums, released once; what is
/// estimated is A_1.
///
/// # Why
/// A degree floor D keeps the sensitivity low, √(2/D), by giving users with fewer than D interactions less weight, so that the matrix is no longer A_1.
/// What that loses is uneven: users with one interaction are on the diagonal alone, and items that many such users have lose most. The diagonal and the row sums
/// of A_1 are 2n numbers beside n(n−1)/2, and little noise comes with them: they cost 5 % more noise on the others. The others are
/// then scaled by a factor of each item's so that rows sum to what they should (see `raking`).
///
/// # Shapes
/// The release is (n(n+1)/2 + n) × 1: the triangle, row after row, entries off the diagonal times √2 and those on it times λ, then the row sums without the
/// diagonal, times κ. λ and κ are `margin_weights` of D. The query takes no part. Rows are sets of items: of their values the squares
/// are the weights w_D, and that of the diagonal and of row sums is one over the number of entries.
///
/// # Privacy
/// Δ is that of the triangle with its margins, see `privacy/sensitivity/margins`: proved for one interaction, under plain and root floors. The estimate is
/// post-processing, and looks at nothing public but D.
///
/// # Source
/// The release is that of Dwork, Talwar, Thakurta & Zhang 2014 with margins beside it. Scaling a table to known margins is raking (Deming & Stephan 1940).
#[derive(Clone, Copy, Debug)]
pub struct RakedCovariance {
    /// Items n.
    pub(super) dimension: usize,
    /// Eigenvectors wanted.
    pub(super) rank: usize,
    /// D ≥ 1, under which the rows are.
    pub(super) floor: u32,
}

impl RakedCovariance {
    /// The coordinates of a release.
    #[must_use]
    pub fn coordinates(dimension: usize) -> usize {
        PackedTriangle::coordinates(dimension).saturating_add(dimension)
    }

    fn triangle(&self) -> IsometricCovariance {
        IsometricCovariance {
            dimension: self.dimension,
            rank: self.rank,
        }
    }

    /// The estimate of A_1, its upper triangle row after row.
    #[must_use]
    pub fn matrix(&self, state: &PublicState) -> Option<Vec<f64>> {
        let released = state.past.last()?;
        let (values, sigma) = (released.sum.values(), released.sigma());
        Some(raked(self.dimension, values, sigma, self.floor))
    }
}

impl RakedCovariance {
    /// So many eigenvectors of the matrix on so many items, of rows under this degree floor.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and for a floor of 0.
    pub fn new(items: usize, rank: usize, floor: u32) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, 1)?;
        let most = u32::MAX as usize;
        AlgorithmError::count("data.degree_floor", (1, most), floor as usize)?;
        Ok(Self {
            dimension: items,
            rank,
            floor,
        })
    }
}

impl Algorithm for RakedCovariance {
    fn program(&self) -> Program {
        let shape = (Self::coordinates(self.dimension), 1);
        let release = ReleaseSpec::sum(1, Quantity::TriangleAndMargins, shape, self.rank);
        Program {
            degree_floor: Some(self.floor),
            ..Program::of("raked-covariance", self.dimension, self.rank, vec![release])
        }
        .with_setting("rank", self.rank as f64)
        .with_setting("degree floor", f64::from(self.floor))
    }

    /// The diagonal, then the row sums.
    fn prepare(&self, rows: &SparseRows, _: History<'_>) -> Vec<f64> {
        let n = self.dimension;
        let (of_diagonal, of_sums) = margin_weights(self.floor);
        let mut margins = vec![0.0; 2 * n];
        for u in 0..rows.len() {
            let items = rows.row(u).0;
            let degree = items.len() as f64;
            for &item in items {
                margins[item as usize] += of_diagonal / degree;
                margins[n + item as usize] += of_sums * (degree - 1.0) / degree;
            }
        }
        margins
    }

    fn add_contribution(
        &self,
        _: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        let n = self.dimension;
        let (diagonal, sums) = prepared.split_at(n);
        let all = PackedTriangle::coordinates(n);
        let (first, last) = (range.start.min(all), range.end.min(all));
        let (pairs, margins) = out.split_at_mut(last - first);
        let mut triangle = vec![0.0; pairs.len()];
        rows.add_gram_triangle(first..last, &mut triangle);
        self.triangle().scale(first..last, SQRT_2, &mut triangle);
        for (item, value) in diagonal.iter().enumerate() {
            let at = PackedTriangle::row_start(n, item);
            if (first..last).contains(&at) {
                triangle[at - first] = *value;
            }
        }
        for (out, value) in pairs.iter_mut().zip(triangle) {
            *out += value;
        }
        let skipped = range.start.saturating_sub(all);
        for (out, value) in margins.iter_mut().zip(&sums[skipped..]) {
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
        match self.matrix(state) {
            Some(triangle) => Arc::new(
                PackedTriangle::new(self.dimension, &triangle).leading_eigenvectors(self.rank),
            ),
            None => Arc::clone(&state.query),
        }
    }
}

/// `[algorithm]` with `kind = "raked-covariance"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RakedCovarianceTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: exactly 1, which is the default.
    #[serde(default = "one")]
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
}

impl AlgorithmTable for RakedCovarianceTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        AlgorithmError::check_iterations("raked-covariance", 1, self.iterations)?;
        made(RakedCovariance::new(facts.items, self.rank, facts.floor))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(RakedCovariance::new(2, 1, 1))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
    }
}
