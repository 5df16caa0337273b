//! The isometric triangle of rows that an algorithm has shortened itself.

use std::ops::Range;

use crate::algorithm::{Algorithm, IsometricCovariance};
use crate::linalg::SparseRows;
use crate::vocabulary::ReleaseId;

fn whole(dimension: usize) -> IsometricCovariance {
    IsometricCovariance::new(dimension, 1).expect("an algorithm has items")
}

/// Adds the coordinates `range` of the isometric triangle of RᵀR to `out`; how the triangle is cut does not matter to the bits.
pub(super) fn add(rows: &SparseRows, range: Range<usize>, out: &mut [f64]) {
    whole(rows.dimension()).add_contribution(ReleaseId(1), rows, &[], range, out);
}

/// The packed triangle of the symmetric matrix that has these isometric coordinates.
pub(super) fn packed(dimension: usize, isometric: &[f64]) -> Vec<f64> {
    whole(dimension).packed(isometric)
}
