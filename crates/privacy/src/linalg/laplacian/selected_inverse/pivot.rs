//! The pivot of an elimination step.

/// p = own + Σ weights, by compensated summation (Neumaier 1974).
///
/// All terms are positive. What each addition loses is known exactly and at most ε·p, so that the sum of m losses is rounded by at
/// most m²ε²·p ≤ ε·p for m ≤ 2²⁶, and the last addition rounds by ε·p: together at most 2ε·p.
pub(super) fn pivot(own: f64, weights: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (own, 0.0);
    for weight in weights {
        let next = sum + weight;
        lost += if sum >= weight {
            (sum - next) + weight
        } else {
            (weight - next) + sum
        };
        sum = next;
    }
    sum + lost
}
