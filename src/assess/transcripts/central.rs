//! Sums against the law of a trusted curator: what remains of each is N(0, σ²), independent over values and runs.

use rayon::prelude::*;

use super::arrays::{blocks, enough, finite, positive};
use super::error::TranscriptError;
use super::finding::Finding;
use super::power::{deviate, runs_against_reuse, runs_of, samples_for_variance};
use super::verdict::{Place, Tests};
use super::{FALSE_ALARM, MISS, OFF};
use crate::assess::verification::statistics::{
    chi_squared, correlation, kolmogorov_smirnov_normal, least_likely_place, normal_two_sided,
};

/// The tests of sums, at most.
pub(super) const TESTS: usize = 7;

/// Multiplications that looking for correlated pairs may take.
const MOST_PRODUCTS: usize = 1 << 27;

/// Values that are held against the normal distribution.
const MOST_SAMPLES: usize = 400_000;

/// Asserts that the noise in published sums is what a trusted curator would add: N(0, σ²) in every value, independent over values and runs.
///
/// `sums` holds R runs of as many values as `expected`, run after run; `expected` is the sum without noise, in the same units as `sigma`. All runs have the
/// same input.
///
/// Returns every test that was made. A right program fails with probability at most 10⁻³, whatever the number of runs and values.
///
/// # Tests
/// With z = (sum − expected)/σ, R runs and m values; under the claim all z are independent N(0, 1).
///
/// | test | statistic | law under the claim |
/// | --- | --- | --- |
/// | variance together, of one value | Σz² over all, over runs of the least likely value | χ² with R·m, R degrees |
/// | mean together, of one value | Σ_j (Σ_r z_rj)²/R, Σ_r z_rj/√R of the least likely value | χ² with m degrees, N(0, 1) |
/// | distribution | Kolmogorov–Smirnov distance of all z to N(0, 1) | Kolmogorov's, asymptotic in the number of values |
/// | pair of values, pair of runs | correlation of the most correlated pair | Student's t with R − 1, m − 1 degrees |
///
/// A test of the least likely of k places has k times its smallest p-value, and each of n tests has the level 10⁻³/n (Bonferroni): n·(10⁻³/n) = 10⁻³ bounds the
/// probability that any of them rejects, whatever their dependence (C. E. Bonferroni 1936). Where pairs are more than 2²⁷ multiplications, those that lie closest
/// together are compared.
///
/// # Errors
/// [`TranscriptError::Failed`] if the sums are not what is claimed. The other variants if nothing can be said: arrays that do not fit, numbers that
/// are none, σ ≤ 0, and fewer runs than [`runs_for_central_dp`].
pub fn assert_central_dp(
    sums: &[f64],
    expected: &[f64],
    sigma: f64,
) -> Result<Vec<Finding>, TranscriptError> {
    positive("sigma", sigma, "give the noise of the sum that is claimed")?;
    let values = expected.len();
    let runs = blocks(
        "sums",
        sums.len(),
        values,
        "one number for each of expected",
    )?;
    let counted = enough(runs, runs_for_central_dp(values))?;
    finite("expected", expected, &[])?;
    finite("sums", sums, &[values])?;
    let pairs = sums.iter().zip(expected.iter().cycle());
    let noise: Vec<f64> = pairs.map(|(sum, of)| (sum - of) / sigma).collect();
    finite("(sums - expected)/sigma", &noise, &[values])?;
    let mut tests = Tests::default();
    let noise = SumNoise::new("", noise, values);
    noise.add_pair_tests(&mut tests);
    noise.add_tests(&mut tests);
    tests.settle(counted)
}

/// Runs that [`assert_central_dp`] needs for sums of so many values.
///
/// With this many runs it fails, but for probability 10⁻³, a program
/// - whose σ is at most 0.8 or at least 1.2 times what is claimed, in all values,
/// - or whose sum is off by σ in one value, in all runs,
/// - or that adds the noise of its first run to all runs.
///
/// One wrong value among many takes about as many runs as sums of one value do.
#[must_use]
pub fn runs_for_central_dp(values: usize) -> u64 {
    let values = values.max(1);
    let level = FALSE_ALARM / TESTS as f64;
    let off = OFF.map(|factor| samples_for_variance(factor * factor, level));
    let mean = deviate(level / (2.0 * values as f64)) + deviate(MISS);
    runs_of(off[0].max(off[1]), values)
        .max(runs_of(mean * mean, 1))
        .max(runs_against_reuse(values as f64, level))
}

/// Standardised noise of sums, of every run and of every value.
pub(super) struct SumNoise {
    by_run: Vec<f64>,
    by_value: Vec<f64>,
    values: usize,
    /// What is summed, as findings begin.
    of: &'static str,
}

impl SumNoise {
    /// `values` of every run, run after run.
    pub(super) fn new(of: &'static str, by_run: Vec<f64>, values: usize) -> Self {
        let by_value = (0..values)
            .flat_map(|value| by_run.iter().skip(value).step_by(values))
            .copied()
            .collect();
        Self {
            by_run,
            by_value,
            values,
            of,
        }
    }

    fn runs(&self) -> usize {
        self.by_run.len() / self.values
    }

    /// Adds the tests of two runs and of two values.
    pub(super) fn add_pair_tests(&self, tests: &mut Tests) {
        let of = self.of;
        if let Some((pair, test)) = most_correlated(&self.by_run, self.values) {
            let what = format!(
                "{of}runs {} and {}: correlation of their noise",
                pair[0], pair[1]
            );
            let place = Place {
                runs: pair.to_vec(),
                ..Place::default()
            };
            tests.add(what, place, 0.0, test);
        }
        if let Some((pair, test)) = most_correlated(&self.by_value, self.runs()) {
            let what = format!(
                "{of}values {} and {}: correlation of their noise",
                pair[0], pair[1]
            );
            let place = Place {
                values: pair.to_vec(),
                ..Place::default()
            };
            tests.add(what, place, 0.0, test);
        }
    }

    /// Adds the tests of means, variances and the distribution.
    pub(super) fn add_tests(&self, tests: &mut Tests) {
        let (of, noise, values, runs) = (self.of, &self.by_run, self.values, self.runs());
        let (runs_f, values_f) = (runs as f64, values as f64);
        let at = |value: usize| &self.by_value[value * runs..][..runs];
        let one = |value: usize| Place {
            values: vec![value],
            ..Place::default()
        };
        let squares = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let mean = |value: usize| at(value).iter().sum::<f64>() / runs_f;
        let variances = (0..values).map(|value| (value, chi_squared(squares(at(value)), runs_f)));
        if let Some((value, test)) = least_likely_place(variances) {
            let what = format!("{of}value {value}: variance of its noise over that claimed");
            tests.add(what, one(value), 1.0, test);
        }
        let tested = |value| (mean(value), normal_two_sided(mean(value) * runs_f.sqrt()));
        if let Some((value, test)) = least_likely_place((0..values).map(|j| (j, tested(j)))) {
            let what = format!("{of}value {value}: mean of its noise in standard deviations");
            tests.add(what, one(value), 0.0, test);
        }
        let all = Place::default;
        let variance = chi_squared(squares(noise), runs_f * values_f);
        tests.add(
            format!("{of}all values: variance of the noise over that claimed"),
            all(),
            1.0,
            variance,
        );
        let means: f64 = (0..values).map(|value| mean(value).powi(2) * runs_f).sum();
        let means = chi_squared(means, values_f);
        tests.add(
            format!(
                "{of}all values: mean square of the means over runs, over that of independent runs"
            ),
            all(),
            1.0,
            means,
        );
        let stride = noise.len().div_ceil(MOST_SAMPLES);
        let some: Vec<f64> = noise.iter().step_by(stride.max(1)).copied().collect();
        let distance = kolmogorov_smirnov_normal(&some);
        tests.add(
            format!("{of}all values: Kolmogorov-Smirnov distance to the normal distribution"),
            all(),
            0.0,
            distance,
        );
    }
}

/// The most correlated two among samples of `length` numbers each, with the correlation and its p-value times the number of pairs; `None` where no pair
/// could be told from chance. Pairs that lie far apart are left out where they are too many.
fn most_correlated(samples: &[f64], length: usize) -> Option<([usize; 2], (f64, f64))> {
    let count = samples.len() / length;
    if length < 2 || count < 2 {
        return None;
    }
    let reach = (MOST_PRODUCTS / samples.len()).clamp(1, count - 1);
    let of = |k: usize| &samples[k * length..][..length];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let norms: Vec<f64> = (0..count).map(|k| dot(of(k), of(k)).sqrt()).collect();
    let with = |i: usize| (i + 1)..count.min(i + 1 + reach);
    // All pairs have the same law, so that the largest correlation is the least likely one; what is no number is larger than all.
    let size = |[i, j]: [usize; 2]| (dot(of(i), of(j)) / (norms[i] * norms[j])).abs();
    let (pair, _) = (0..count)
        .into_par_iter()
        .filter_map(|i| {
            let pairs = with(i).map(|j| ([i, j], size([i, j])));
            pairs.max_by(|a, b| a.1.total_cmp(&b.1))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))?;
    let pairs: usize = (0..count).map(|i| with(i).len()).sum();
    let (r, p) = correlation(of(pair[0]), of(pair[1]));
    // Equal samples have no probability under a continuous law; Student's t of their rounded correlation has some.
    let p = if of(pair[0]) == of(pair[1]) { 0.0 } else { p };
    Some((pair, (r, (p * pairs as f64).min(1.0))))
}
