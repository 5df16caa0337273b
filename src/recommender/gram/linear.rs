//! The linear filter of a denoised Gram matrix.

use super::model::GramModel;
use super::scorer::ScoreParts;

/// Scores rĜ with Ĝ = c·ddᵀ + Σ ξ_i v_iv_iᵀ: what the items of a user's row are chosen together with.
///
/// GF-CF (Shen et al. 2021) adds this to its low-pass part from everybody's raw data; here Ĝ is a private release.
pub(super) fn parts(model: &GramModel) -> ScoreParts {
    tempered(model, 1.0)
}

/// Scores with the powers ξ^p of all weights, and of the weight c|d|² that popularity has: p = 1 is the linear filter of rows, p → 0
/// the low-pass filter.
pub(super) fn tempered(model: &GramModel, power: f64) -> ScoreParts {
    let weight = model.scale * model.squared_degrees();
    ScoreParts {
        directions: model.block(),
        weights: model.weights.iter().map(|x| libm::pow(*x, power)).collect(),
        item_scales: vec![1.0; model.degrees.len()],
        popularity: libm::pow(weight, power) / model.squared_degrees(),
        of_row: true,
        padding: 0.0,
        power: Some(power),
    }
}
