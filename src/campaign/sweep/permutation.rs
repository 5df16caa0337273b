//! Whether two methods have the same law: a two-sample permutation test of the mean error at every grid point.
//!
//! Under the hypothesis that the errors of both methods at a point have one law, every split of the pooled
//! values into two samples is equally likely, and the p-value is the share of splits whose means are at least
//! as far apart as those seen. All splits are tried where there are few, else random ones. P-values are
//! corrected by Holm's method over all pairs and points, so a sweep whose pairs do coincide fails with
//! probability at most [`SIGNIFICANCE`] where the samples are independent. Runs of one seed share X⁰; as far as that
//! correlates their errors positively, which it does where a start is good or bad for both, the means lie closer
//! together than independent ones and the test is more lenient.
//!
//! Flipping the signs of the differences per seed would use that pairing, but ten pairs have 1024 sign
//! patterns: its p-value is never below 2/1024, so it could not fail. Ten and ten values have 184,756 splits.
//!
//! # Source
//! E. Pitman, Significance tests which may be applied to samples from any populations (1937); S. Holm, A simple
//! sequentially rejective multiple test procedure (1979).

use rand::RngExt;

use super::error::SweepError;
use crate::config::SweepConfig;
use crate::vocabulary::{Label, Seed};

/// The probability at most with which a sweep whose pairs coincide fails.
pub(super) const SIGNIFICANCE: f64 = 1e-3;

/// The most splits that are all tried.
const EXHAUSTIVE: f64 = 200_000.0;

/// Random splits where there are more.
const SPLITS: u32 = 199_999;

/// Refuses tests that could never fail.
pub(super) fn check(table: &SweepConfig, points: usize, seeds: usize) -> Result<(), SweepError> {
    let tests = table.coincide.len() * points;
    let least = tests as f64 * least_p(seeds);
    if tests == 0 || least <= SIGNIFICANCE {
        return Ok(());
    }
    Err(SweepError::CannotFail {
        tests,
        seeds,
        least: least.min(1.0),
        significance: SIGNIFICANCE,
    })
}

/// The smallest p-value of two samples of this size.
fn least_p(runs: usize) -> f64 {
    let splits = splits(runs, runs);
    if splits <= EXHAUSTIVE {
        (2.0 / splits).min(1.0)
    } else {
        1.0 / f64::from(SPLITS + 1)
    }
}

/// The binomial coefficient (a + b over a).
fn splits(a: usize, b: usize) -> f64 {
    (1..=a).fold(1.0, |c, k| c * (b + k) as f64 / k as f64)
}

/// Multiplies the k-th smallest of m p-values by m − k, keeps them ascending and at most 1. A missing one
/// counts among the m.
pub(super) fn holm(all: &mut [&mut Option<f64>]) {
    let tests = all.len();
    let mut known: Vec<&mut f64> = all.iter_mut().filter_map(|p| p.as_mut()).collect();
    known.sort_by(|a, b| a.total_cmp(b));
    let mut last = 0.0_f64;
    for (rank, p) in known.into_iter().enumerate() {
        last = last.max(*p * (tests - rank) as f64).min(1.0);
        *p = last;
    }
}

/// The two-sided p-value of the difference of means.
pub(super) fn p_value(one: &[f64], other: &[f64], seed: &Seed, stream: u32) -> f64 {
    let (a, b) = (one.len(), other.len());
    let mut pooled: Vec<f64> = one.iter().chain(other).copied().collect();
    let mean = pooled.iter().sum::<f64>() / (a + b) as f64;
    pooled.iter_mut().for_each(|value| *value -= mean);
    // The pooled values sum to 0, so the first sample's sum says how far the means are apart.
    let seen = pooled[..a].iter().sum::<f64>().abs();
    // Splits that differ in rounding only are as extreme.
    let scale: f64 = pooled.iter().map(|value| value.abs()).sum();
    let threshold = seen - 1e-12 * scale;
    let extreme = |sum: f64| sum.abs() >= threshold;
    let count = splits(a, b);
    if count <= EXHAUSTIVE {
        let hits = subset_sums(&pooled, a).filter(|&sum| extreme(sum)).count();
        return hits as f64 / count.round();
    }
    let mut generator = seed.key(Label::Resampling, 1, stream).stream(0, 0);
    let mut hits = 0_u32;
    for _ in 0..SPLITS {
        for i in 0..a {
            let j = generator.random_range(i..a + b);
            pooled.swap(i, j);
        }
        hits += u32::from(extreme(pooled[..a].iter().sum()));
    }
    f64::from(hits + 1) / f64::from(SPLITS + 1)
}

/// The sums of all subsets of this size, at most 2¹⁸ or so of them.
fn subset_sums(values: &[f64], size: usize) -> impl Iterator<Item = f64> {
    // Indices of the subset, ascending; the last that can still move right moves.
    let n = values.len();
    let mut subset: Option<Vec<usize>> = Some((0..size).collect());
    std::iter::from_fn(move || {
        let current = subset.clone()?;
        let sum = current.iter().map(|&i| values[i]).sum();
        let movable = (0..size).rev().find(|&k| current[k] < n - size + k);
        subset = movable.map(|k| {
            let mut next = current;
            let start = next[k] + 1;
            for (offset, index) in next[k..].iter_mut().enumerate() {
                *index = start + offset;
            }
            next
        });
        Some(sum)
    })
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;

    use super::*;

    fn seed() -> Seed {
        Seed::from_u64(8)
    }

    fn sample(number: u32, runs: usize, factor: f64) -> Vec<f64> {
        let mut generator = seed().repetition(number).generator(Label::Scenario);
        (0..runs)
            .map(|_| {
                let normal: f64 = StandardNormal.sample(&mut generator);
                factor * (1.0 + 0.05 * normal)
            })
            .collect()
    }

    #[test]
    fn p_values_of_hand_counted_samples() {
        // All 20 splits of six values: only the one seen and its mirror are as extreme.
        assert_eq!(
            p_value(&[1.0, 2.0, 3.0], &[10.0, 11.0, 12.0], &seed(), 0),
            0.1
        );
        assert_eq!(p_value(&[1.0, 1.0], &[1.0, 1.0], &seed(), 0), 1.0);
        // {1, 4} against {2, 3}: every split is at least as extreme.
        assert_eq!(p_value(&[1.0, 4.0], &[2.0, 3.0], &seed(), 0), 1.0);
        assert_eq!(subset_sums(&[1.0; 20], 10).count(), 184_756);
        assert_eq!(splits(10, 10).round(), 184_756.0);
    }

    /// Under one law a p-value is below 0.05 with probability at most 0.05: of 200 at most 22 with probability
    /// above 0.999. The seeds are fixed.
    #[test]
    fn equal_laws_pass_and_a_tenth_more_noise_fails() {
        let mut small = 0;
        for number in 0..200 {
            let p = p_value(
                &sample(2 * number, 6, 1.0),
                &sample(2 * number + 1, 6, 1.0),
                &seed(),
                0,
            );
            small += u32::from(p < 0.05);
        }
        assert!((1..=22).contains(&small), "{small}");
        for runs in [10, 20] {
            let p = p_value(&sample(1, runs, 1.0), &sample(2, runs, 1.1), &seed(), 0);
            assert!(14.0 * p < SIGNIFICANCE, "{runs} runs: {p}");
        }
    }

    #[test]
    fn random_splits_agree_with_all_splits() {
        let (a, b) = (sample(5, 11, 1.0), sample(6, 11, 1.02));
        assert!(splits(11, 11) > EXHAUSTIVE);
        let random = p_value(&a, &b, &seed(), 0);
        let mut pooled: Vec<f64> = a.iter().chain(&b).copied().collect();
        let mean = pooled.iter().sum::<f64>() / 22.0;
        pooled.iter_mut().for_each(|value| *value -= mean);
        let seen = pooled[..11].iter().sum::<f64>().abs() - 1e-12;
        let hits = subset_sums(&pooled, 11)
            .filter(|sum| sum.abs() >= seen)
            .count();
        let exact = hits as f64 / splits(11, 11);
        // Five standard deviations of the share of 199,999 random splits.
        assert!((random - exact).abs() < 0.006, "{random} {exact}");
    }

    #[test]
    fn holm_counts_missing_tests_and_stays_ascending() {
        let mut values = [Some(0.02), None, Some(0.01), Some(0.9)];
        holm(&mut values.iter_mut().collect::<Vec<_>>());
        let expected = [Some(0.06), None, Some(0.04), Some(1.0)];
        for (found, expected) in values.iter().zip(expected) {
            assert_eq!(found.is_some(), expected.is_some());
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn tests_that_cannot_fail_are_known() {
        assert!(14.0 * least_p(10) < SIGNIFICANCE);
        assert!(14.0 * least_p(8) > SIGNIFICANCE);
        assert_eq!(least_p(1), 1.0);
        assert!(200.0 * least_p(40) <= SIGNIFICANCE);
    }
}
