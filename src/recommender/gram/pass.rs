//! The low-pass filter of a released Gram matrix.

use super::linear::tempered;
use super::model::GramModel;
use super::scorer::ScoreParts;

/// Every direction beyond the edge counts the same, popularity among them, and all others nothing.
pub(super) fn parts(model: &GramModel) -> ScoreParts {
    let mut parts = tempered(model, 0.0);
    for weight in parts.weights.iter_mut().skip(model.beyond()) {
        *weight = 0.0;
    }
    parts.power = None;
    parts
}
