//! How many samples a test needs.

use statrs::distribution::{ContinuousCDF, Normal};

use super::MISS;
use crate::assess::verification::statistics::chi_squared;

/// The standard normal deviate that is exceeded with probability `tail`.
pub(super) fn deviate(tail: f64) -> f64 {
    -Normal::new(0.0, 1.0)
        .expect("0 and 1 are valid parameters")
        .inverse_cdf(tail)
}

/// Samples with which the two-sided χ² test at this level rejects, but for [`MISS`], a variance that is `ratio` times the published one.
/// Infinite where the ratio is 1.
///
/// # Derivation
/// The cube root of χ²_n/n is normal with mean 1 − x² and standard deviation x = √(2/(9n)) (E. B. Wilson & M. M. Hilferty 1931). With
/// c = ratio^{1/3}, a = |c − 1|, the deviates z of level/2 and y of the miss, the test rejects as asked if
/// a·(1 − x²) ≥ x·(z + c·y), that is x ≤ (√(b² + 4a²) − b)/(2a) with b = z + c·y. Two percent of samples pay for the approximation.
pub(super) fn samples_for_variance(ratio: f64, level: f64) -> f64 {
    let c = ratio.cbrt();
    let (a, b) = ((c - 1.0).abs(), deviate(level / 2.0) + c * deviate(MISS));
    // Of (√(b² + 4a²) − b)/(2a) without cancellation.
    let x = 2.0 * a / (b.hypot(2.0 * a) + b);
    1.02 * 2.0 / (9.0 * x * x)
}

/// The fewest runs with which noise that is the same in all runs cannot pass both the test of the variance of all `entries` values of all runs and that
/// of their means over runs, each at this level.
///
/// # Derivation
/// Let S be the sum of squares of the `entries` values of one run, the same in all. Both statistics are R·S: that of the variance has R·entries degrees of
/// freedom, that of the means has `entries`. If R·S is too small for the one or too large for the other wherever it lies, one of them rejects.
pub(super) fn runs_against_reuse(entries: f64, level: f64) -> u64 {
    let mut high = 2.0 * entries;
    while chi_squared(high, entries).1 >= level {
        high *= 1.05;
    }
    let disjoint = |runs: u64| {
        let degrees = entries * runs as f64;
        high < degrees && chi_squared(high, degrees).1 < level
    };
    (2..).find(|&runs| disjoint(runs)).unwrap_or(u64::MAX)
}

/// Runs of `width` samples each that hold this many samples; at least 2.
pub(super) fn runs_of(samples: f64, width: usize) -> u64 {
    // Casts saturate.
    ((samples / width.max(1) as f64).ceil() as u64).max(2)
}
