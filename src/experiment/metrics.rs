//! How good a basis is: subspace error, and the relative error of what it filters.

use nalgebra::DMatrix;
use serde::Serialize;

use crate::data::Interactions;
use crate::linalg::{Block, subspace_distance};

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

/// The low-pass filter R ↦ R I^{-1/2} U Uᵀ I^{1/2} applied to a rating matrix, in factored form.
///
/// I is the diagonal of item degrees; an item of degree 0 gets 0 in both I^{1/2} and I^{-1/2}.
#[derive(Debug)]
pub struct LowPassFilter<'a> {
    interactions: &'a Interactions,
    root_degrees: Vec<f64>,
}

impl<'a> LowPassFilter<'a> {
    /// The filter of these interactions.
    #[must_use]
    pub fn new(interactions: &'a Interactions) -> Self {
        let root_degrees = interactions
            .item_degrees()
            .iter()
            .map(|&d| f64::from(d).sqrt())
            .collect();
        Self {
            interactions,
            root_degrees,
        }
    }

    /// ‖R̃_p − R_p‖_F / ‖R_p‖_F, where R̃_p is filtered with span(X) and R_p with span(U).
    ///
    /// # Claim
    /// With Z = [X U], S = diag(1…1, −1…−1), B = R I^{-1/2} Z and E = I^{1/2} Z the difference is
    /// R I^{-1/2} Z S Zᵀ I^{1/2} = B S Eᵀ, so its squared norm is tr(S BᵀB S EᵀE): two small matrices,
    /// never one of users × items.
    ///
    /// Differences below about 1e-8 are rounding, since the squared norms cancel.
    ///
    /// # Source
    /// P1 section 6 for the measure; ref D.1 for the trace formula.
    #[must_use]
    pub fn relative_error(&self, x: &Block, u: &Block) -> f64 {
        if x == u {
            return 0.0;
        }
        let (p, q) = (x.columns(), u.columns());
        let width = p + q;
        let mut projected = DMatrix::<f64>::zeros(width, width);
        let mut row = vec![0.0; width];
        for user in 0..self.interactions.users() {
            row.fill(0.0);
            for &item in self.interactions.row(user) {
                let item = item as usize;
                let weight = 1.0 / self.root_degrees[item];
                for (sum, entry) in row.iter_mut().zip(x.row(item).iter().chain(u.row(item))) {
                    *sum += weight * entry;
                }
            }
            add_outer(&mut projected, &row);
        }
        let mut expanded = DMatrix::<f64>::zeros(width, width);
        for (item, root) in self.root_degrees.iter().enumerate() {
            for (value, entry) in row.iter_mut().zip(x.row(item).iter().chain(u.row(item))) {
                *value = root * entry;
            }
            add_outer(&mut expanded, &row);
        }
        let sign = |i: usize| if i < p { 1.0 } else { -1.0 };
        let mut difference = 0.0;
        let mut reference = 0.0;
        for i in 0..width {
            for j in 0..width {
                let term = projected[(i, j)] * expanded[(j, i)];
                difference += sign(i) * sign(j) * term;
                if i >= p && j >= p {
                    reference += term;
                }
            }
        }
        (difference.max(0.0) / reference).sqrt()
    }

    /// All figures of one basis.
    #[must_use]
    pub fn utility(
        &self,
        basis: &Block,
        exact: Option<&Block>,
        non_private: Option<&Block>,
    ) -> Utility {
        Utility {
            subspace_error: exact.map(|u| subspace_distance(basis, u)),
            relative_error: exact.map(|u| self.relative_error(basis, u)),
            relative_error_non_private: non_private.map(|u| self.relative_error(basis, u)),
        }
    }
}

fn add_outer(matrix: &mut DMatrix<f64>, row: &[f64]) {
    for (j, b) in row.iter().enumerate() {
        for (i, a) in row.iter().enumerate() {
            matrix[(i, j)] += a * b;
        }
    }
}
