//! A search for a threshold that compares secrets, and so is no noisy sum.

use serde::{Deserialize, Serialize};

/// AboveThreshold over public thresholds: the first at which few enough rows are above, when both sides of the comparison are under noise.
///
/// With T̂ = `most_above` + Lap(2/ε) drawn once, it is the first threshold θ in order with #{above θ} + Lap(4/ε) ≤ T̂; noise is drawn anew
/// for every θ. The result is (ε, 0)-differentially private where one record moves each count by at most 1, however many
/// thresholds there are (Dwork & Roth 2014, Theorem 3.23, for the counts' negatives). What is compared is never released, which is why peers
/// that only see noisy sums cannot run it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThresholdSearch {
    /// In the order in which they are tried.
    pub thresholds: Vec<f64>,
    /// How many rows may be above.
    pub most_above: f64,
    /// The share of μ² that all searches together spend.
    pub share: f64,
    /// ε of one search; 0 where there is no noise.
    pub epsilon: f64,
}
