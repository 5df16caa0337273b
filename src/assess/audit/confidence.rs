//! Lower bounds with stated confidence from counts of right and wrong guesses.

use statrs::distribution::{Beta, ContinuousCDF, Normal};

/// Clopper–Pearson interval for a proportion of `hits` in `trials`: each end is wrong with probability at
/// most `tail`.
///
/// # Source
/// C. J. Clopper & E. S. Pearson 1934; the ends are quantiles of Beta laws.
///
/// # Panics
/// If `hits > trials`, or `tail` does not lie in (0, 1). Tails below 1e-12 are beyond the quantile's accuracy.
#[must_use]
pub(super) fn proportion_bounds(hits: u64, trials: u64, tail: f64) -> (f64, f64) {
    assert!(
        hits <= trials && tail > 0.0 && tail < 1.0,
        "hits of trials, and a probability"
    );
    let (k, n) = (hits as f64, trials as f64);
    let quantile =
        |a: f64, b: f64, p: f64| Beta::new(a, b).expect("positive parameters").inverse_cdf(p);
    let low = if hits == 0 {
        0.0
    } else {
        quantile(k, n - k + 1.0, tail)
    };
    let high = if hits == trials {
        1.0
    } else {
        quantile(k + 1.0, n - k, 1.0 - tail)
    };
    (low, high)
}

/// A lower bound on μ from guesses at one threshold: μ-GDP means that a test with false-positive rate α
/// has power at most Φ(Φ⁻¹(α) + μ), so μ ≥ Φ⁻¹(power) − Φ⁻¹(α).
///
/// `right` of `trials` runs in world 1 and `wrong` of `trials` runs in world 0 were called world 1. The
/// bound is above the true μ with probability at most `significance`. It can be negative: then nothing
/// was learned.
///
/// # Source
/// J. Dong, A. Roth & W. J. Su 2022, Definition 3; M. Nasr et al. 2023 for auditing with it.
#[must_use]
pub(super) fn gdp_lower_bound(right: u64, wrong: u64, trials: u64, significance: f64) -> f64 {
    let (power, _) = proportion_bounds(right, trials, significance / 2.0);
    let (_, alarm) = proportion_bounds(wrong, trials, significance / 2.0);
    if power <= 0.0 || alarm >= 1.0 {
        return f64::NEG_INFINITY;
    }
    let normal = Normal::new(0.0, 1.0).expect("0 and 1 are valid parameters");
    normal.inverse_cdf(power) - normal.inverse_cdf(alarm)
}

/// A lower bound on ε at δ from guesses at one threshold, whatever the law of the noise: (ε, δ)-DP means
/// power ≤ e^ε·alarm + δ, so ε ≥ ln((power − δ)/alarm). Above the true ε with probability at most
/// `significance`; 0 where nothing was learned.
///
/// # Source
/// P. Kairouz, S. Oh & P. Viswanath 2015, Theorem 2.1; M. Jagielski et al. 2020 for auditing with it.
#[must_use]
pub(in crate::assess) fn epsilon_lower_bound(
    right: u64,
    wrong: u64,
    trials: u64,
    delta: f64,
    significance: f64,
) -> f64 {
    let (power, _) = proportion_bounds(right, trials, significance / 2.0);
    let (_, alarm) = proportion_bounds(wrong, trials, significance / 2.0);
    if power <= delta || alarm <= 0.0 {
        return 0.0;
    }
    ((power - delta) / alarm).ln().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clopper_pearson_equals_known_values() {
        // 0 of n: the upper end solves (1 − p)^n = tail.
        let (low, high) = proportion_bounds(0, 50, 0.025);
        assert_eq!(low, 0.0);
        assert!((high - (1.0 - 0.025_f64.powf(1.0 / 50.0))).abs() < 1e-9);
        // 8 of 10 at 95 %: 0.4439 to 0.9748 in every table.
        let (low, high) = proportion_bounds(8, 10, 0.025);
        assert!(
            (low - 0.443_904).abs() < 1e-5 && (high - 0.974_789).abs() < 1e-5,
            "{low} {high}"
        );
    }

    #[test]
    fn ends_are_quantiles_for_every_number_of_hits() {
        for trials in [16_u64, 100, 5000, 131_072] {
            let few = (0..17)
                .map(|k| (1 << k) - 1)
                .filter(|&hits| hits <= trials / 2);
            for hits in few.flat_map(|hits| [hits, trials - hits]) {
                let (low, high) = proportion_bounds(hits, trials, 5e-4);
                let (k, n) = (hits as f64, trials as f64);
                assert!(
                    low <= k / n && k / n <= high,
                    "{hits} of {trials}: {low} {high}"
                );
                // P(at least k hits at the low end) and P(at most k at the high end) are the tail.
                let tail = |a: f64, b: f64, x: f64| Beta::new(a, b).expect("positive").cdf(x);
                let ends = [
                    (hits > 0).then(|| tail(k, n - k + 1.0, low)),
                    (hits < trials).then(|| 1.0 - tail(k + 1.0, n - k, high)),
                ];
                for end in ends.into_iter().flatten() {
                    assert!((end / 5e-4 - 1.0).abs() < 1e-4, "{hits} of {trials}: {end}");
                }
            }
        }
    }

    #[test]
    fn randomised_response_is_bounded_by_what_it_spends() {
        // Power 0.9 and alarm 0.1 is ε = ln 9 = 2.197 exactly, at any number of trials.
        for trials in [100, 10_000, 1_000_000] {
            let bound = epsilon_lower_bound(9 * trials / 10, trials / 10, trials, 1e-5, 1e-3);
            assert!(bound < 9.0_f64.ln(), "{bound}");
            assert!(trials < 1_000_000 || bound > 2.18, "{bound}");
        }
        assert_eq!(epsilon_lower_bound(50, 50, 100, 1e-5, 1e-3), 0.0);
    }

    #[test]
    fn a_fair_coin_teaches_nothing() {
        assert!(gdp_lower_bound(500, 500, 1000, 0.01) < 0.0);
        assert!(gdp_lower_bound(0, 0, 1000, 0.01) < 0.0);
        assert!(gdp_lower_bound(1000, 0, 1000, 0.01) > 4.0);
    }
}
