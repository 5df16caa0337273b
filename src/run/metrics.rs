//! How good a basis is: subspace error, and the relative error of what it filters.

use serde::Serialize;

/// The figures of `summary.json`'s `utility`, all measured on the raw data.
///
/// `None` where the reference is out of reach, or where it leaves nothing to compare with, as for data without a single
/// interaction: a ratio of zero to zero is no figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Utility {
    /// ‖(I − XXᵀ)U‖₂ against the exact leading eigenvectors U.
    pub subspace_error: Option<f64>,
    /// ‖R̃_p − R_p‖_F / ‖R_p‖_F of the low-pass filtered ratings against the exact U.
    pub relative_error: Option<f64>,
    /// The same against the non-private run from the same X⁰.
    pub relative_error_non_private: Option<f64>,
    /// Of numbers: tr(XᵀSX) over what the exact leading eigenvectors of S capture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captured_variance: Option<f64>,
    /// Of numbers: tr(XᵀSX)/tr(S).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explained_ratio: Option<f64>,
}

/// Sine of an angle from which on a direction counts as missed: at most 19 % of its squared length are in the basis.
#[cfg(feature = "report")]
const MISSED: f64 = 0.9;

/// The largest angle to the exact leading eigenvectors, in degrees, if this subspace error means that one of them was missed.
#[cfg(feature = "report")]
pub(crate) fn missed_angle(subspace_error: f64) -> Option<f64> {
    (subspace_error >= MISSED).then(|| libm::asin(subspace_error.min(1.0)).to_degrees())
}

#[cfg(all(test, feature = "report"))]
mod tests {
    use super::*;

    #[test]
    fn an_error_near_one_is_a_missed_direction() {
        assert_eq!(missed_angle(0.89), None);
        assert_eq!(missed_angle(f64::NAN), None);
        let angle = missed_angle(0.93).expect("missed");
        assert!((angle - 68.4).abs() < 0.1, "{angle}");
        // Rounding may leave a sine above 1.
        assert_eq!(missed_angle(1.0 + 1e-15), Some(90.0));
    }
}
