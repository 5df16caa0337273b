//! The method that is taken where none is named.

use super::linear::tempered;
use super::model::GramModel;
use super::scorer::ScoreParts;

/// The linear filter with the power p = ½ + ½/(1 + K) of all weights, where K is the signal of the release.
///
/// Without a signal the weights are those that are best for the matrix (p = 1). The more directions stand out, the more the strongest
/// of them drown the others, and the closer p comes to ½: then scores weigh a direction by its singular value in the users' rows.
pub(super) fn parts(model: &GramModel) -> ScoreParts {
    tempered(model, 0.5 + 0.5 / (1.0 + model.signal()))
}
