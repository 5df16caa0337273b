//! How good a basis is: subspace error, and the relative error of what it filters.

use serde::Serialize;

use crate::linalg::{Block, subspace_distance};
use crate::recommender::LowPassFilter;

/// The three figures of `summary.json`'s `utility`. `None` where the exact eigenvectors are out of reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Utility {
    /// ‖(I − XXᵀ)U‖₂ against the exact leading eigenvectors U.
    pub subspace_error: Option<f64>,
    /// ‖R̃_p − R_p‖_F / ‖R_p‖_F of the low-pass filtered ratings against the exact U.
    pub relative_error: Option<f64>,
    /// The same against the non-private run from the same X⁰.
    pub relative_error_non_private: Option<f64>,
}

impl Utility {
    /// All figures of one basis.
    #[must_use]
    pub fn of(
        filter: &LowPassFilter<'_>,
        basis: &Block,
        exact: Option<&Block>,
        non_private: Option<&Block>,
    ) -> Self {
        Self {
            subspace_error: exact.map(|u| subspace_distance(basis, u)),
            relative_error: exact.map(|u| filter.relative_error(basis, u)),
            relative_error_non_private: non_private.map(|u| filter.relative_error(basis, u)),
        }
    }
}
