//! The tests of `verify`: p-values, each with its source.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal, StudentsT};
use statrs::function::gamma::gamma_ur;

/// Two-sided p-value of a standard normal statistic.
#[must_use]
pub(in crate::assess) fn normal_two_sided(z: f64) -> f64 {
    2.0 * standard_normal().sf(z.abs())
}

fn standard_normal() -> Normal {
    Normal::new(0.0, 1.0).expect("0 and 1 are valid parameters")
}

/// One-sample Kolmogorov–Smirnov test of `samples` against N(0, 1).
///
/// Returns (D, p). The p-value is the asymptotic Kolmogorov tail at D·(√N + 0.12 + 0.11/√N) (M. A.
/// Stephens 1970), accurate to a few percent for N ≥ 20.
///
/// # Panics
/// If `samples` is empty.
#[must_use]
pub(in crate::assess) fn kolmogorov_smirnov_normal(samples: &[f64]) -> (f64, f64) {
    let normal = standard_normal();
    kolmogorov_smirnov(samples, |x| normal.cdf(x))
}

/// The same against any continuous law, by its distribution function.
///
/// # Panics
/// If `samples` is empty.
#[must_use]
pub(super) fn kolmogorov_smirnov(samples: &[f64], cdf: impl Fn(f64) -> f64) -> (f64, f64) {
    assert!(!samples.is_empty(), "a test needs samples");
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len() as f64;
    let distance = sorted.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
        let cdf = cdf(x);
        worst.max(cdf - i as f64 / n).max((i + 1) as f64 / n - cdf)
    });
    (
        distance,
        kolmogorov_tail(distance * (n.sqrt() + 0.12 + 0.11 / n.sqrt())),
    )
}

/// P(K > x) of the Kolmogorov distribution, 2 Σ (−1)^{k−1} e^{−2k²x²}.
fn kolmogorov_tail(x: f64) -> f64 {
    if x < 0.2 {
        // The alternating series converges too slowly here, and the tail is 1 to twelve digits.
        return 1.0;
    }
    let mut sum = 0.0;
    for k in 1..=100 {
        let k = f64::from(k);
        let term = (-2.0 * k * k * x * x).exp();
        sum += if k as u32 % 2 == 1 { term } else { -term };
        if term < 1e-18 {
            break;
        }
    }
    (2.0 * sum).clamp(0.0, 1.0)
}

/// Two-sided χ² test that `samples` have mean 0 and variance 1.
///
/// Returns (mean square, p): N times the mean square is χ² with N degrees of freedom.
///
/// # Panics
/// If `samples` is empty.
#[must_use]
pub(super) fn chi_squared_variance(samples: &[f64]) -> (f64, f64) {
    assert!(!samples.is_empty(), "a test needs samples");
    let total: f64 = samples.iter().map(|x| x * x).sum();
    chi_squared(total, samples.len() as f64)
}

/// Degrees of freedom beyond which the cube root of a χ² variable is taken for normal: its tails are then right to
/// better than one part in a hundred at the p-values that matter, and series for them would need thousands of terms.
const MANY: f64 = 1e6;

/// Two-sided test that `total` is χ² with `n` > 0 degrees of freedom. Returns (total/n, p).
///
/// Exact up to 10⁶ degrees of freedom; Wilson & Hilferty 1931 beyond.
#[must_use]
pub(in crate::assess) fn chi_squared(total: f64, n: f64) -> (f64, f64) {
    let ratio = total / n;
    // A continuous law has no mass there, and what is no number does not pass.
    if !(total > 0.0 && total.is_finite()) {
        return (ratio, 0.0);
    }
    if n > MANY {
        let variance = 2.0 / (9.0 * n);
        let z = (ratio.cbrt() - (1.0 - variance)) / variance.sqrt();
        return (ratio, normal_two_sided(z));
    }
    let law = ChiSquared::new(n).expect("at least one degree of freedom");
    let lower = law.cdf(total);
    let upper = gamma_ur(n / 2.0, total / 2.0);
    (ratio, (2.0 * lower.min(upper)).min(1.0))
}

/// Two-sided p-value of a Student t statistic with `n` ≥ 1 degrees of freedom; the normal law beyond 10⁶.
#[must_use]
pub(super) fn student_two_sided(t: f64, n: f64) -> f64 {
    if n > MANY {
        return normal_two_sided(t);
    }
    if !t.is_finite() {
        // Samples that are multiples of one another; or none that could be compared, which does not pass either.
        return 0.0;
    }
    let law = StudentsT::new(0.0, 1.0, n).expect("at least one degree of freedom");
    2.0 * law.sf(t.abs())
}

/// Test that, over `n` samples of two normal variables with mean 0, y − `slope`·x is uncorrelated with x.
///
/// `(xx, yy, xy)` are the sums of squares and products. Returns (r, p) with r the correlation of x and y − slope·x.
///
/// If slope = Cov(x, y)/Var(x), then r√(n−1)/√(1−r²) is exactly Student's t with n − 1 degrees of freedom: y − slope·x is
/// then independent of x, and given x its component along x and the n − 1 across it are independent normals of one variance.
#[must_use]
pub(super) fn partial_correlation((xx, yy, xy): (f64, f64, f64), slope: f64, n: f64) -> (f64, f64) {
    let cross = xy - slope * xx;
    let across = yy - slope * (2.0 * xy - slope * xx);
    let r = (cross / (xx * across).sqrt()).clamp(-1.0, 1.0);
    let t = r * (n - 1.0).sqrt() / (1.0 - r * r).sqrt();
    (r, student_two_sided(t, n - 1.0))
}

/// The result (statistic, p) of smallest p among several tests, its p times their number (Bonferroni). A p-value that is no
/// number counts as 0: what could not be computed does not pass. `None` for no tests.
pub(super) fn least_likely(tests: impl Iterator<Item = (f64, f64)>) -> Option<(f64, f64)> {
    least_likely_place(tests.map(|test| ((), test))).map(|((), test)| test)
}

/// The place of the test of smallest p among tests at several places, and its result as [`least_likely`] gives it. The first of equals.
pub(in crate::assess) fn least_likely_place<P>(
    tests: impl Iterator<Item = (P, (f64, f64))>,
) -> Option<(P, (f64, f64))> {
    let (mut count, mut least): (u64, Option<(P, f64, f64)>) = (0, None);
    for (place, (statistic, p)) in tests {
        count += 1;
        let p = if p.is_nan() { 0.0 } else { p };
        if least.as_ref().is_none_or(|(.., smallest)| p < *smallest) {
            least = Some((place, statistic, p));
        }
    }
    least.map(|(place, statistic, p)| (place, (statistic, (p * count as f64).min(1.0))))
}

/// Test that two equally long samples of N(0, 1) variables are uncorrelated.
///
/// Returns (correlation, p), both about the mean 0 that is known. For independent samples Student's t with N − 1
/// degrees of freedom is exact ([`partial_correlation`] with slope 0); for overlapping ones (a sequence against itself
/// shifted) it holds asymptotically.
///
/// # Panics
/// If the samples differ in length or are empty.
#[must_use]
pub(in crate::assess) fn correlation(a: &[f64], b: &[f64]) -> (f64, f64) {
    assert_eq!(a.len(), b.len(), "paired samples");
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let sums = (product(a, a), product(b, b), product(a, b));
    partial_correlation(sums, 0.0, a.len() as f64)
}

/// Wilcoxon–Mann–Whitney test that two samples come from one law.
///
/// Returns (P(a < b) + ½P(a = b) as estimated, p). Samples of up to 60 without ties get the exact null
/// distribution, others the normal approximation with tie correction.
///
/// # Panics
/// If a sample is empty.
///
/// # Source
/// H. B. Mann & D. R. Whitney 1947.
#[must_use]
pub(super) fn mann_whitney(a: &[f64], b: &[f64]) -> (f64, f64) {
    assert!(!a.is_empty() && !b.is_empty(), "a test needs samples");
    let mut pooled: Vec<(f64, bool)> = a
        .iter()
        .map(|&x| (x, true))
        .chain(b.iter().map(|&x| (x, false)))
        .collect();
    pooled.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (m, n) = (a.len() as f64, b.len() as f64);
    let total = m + n;
    let (mut rank_sum, mut ties, mut start) = (0.0, 0.0, 0);
    while start < pooled.len() {
        let end = start
            + pooled[start..]
                .iter()
                .take_while(|x| x.0 == pooled[start].0)
                .count();
        let count = (end - start) as f64;
        let rank = (start + 1 + end) as f64 / 2.0;
        rank_sum += rank * pooled[start..end].iter().filter(|x| x.1).count() as f64;
        ties += count * count * count - count;
        start = end;
    }
    let u = rank_sum - m * (m + 1.0) / 2.0;
    let probability = 1.0 - u / (m * n);
    if ties == 0.0 && total <= 60.0 {
        return (
            probability,
            exact_two_sided(a.len(), b.len(), u.round() as usize),
        );
    }
    let variance = m * n / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    let z = if variance > 0.0 {
        (u - m * n / 2.0) / variance.sqrt()
    } else {
        0.0
    };
    (probability, normal_two_sided(z))
}

/// The smallest p-value that [`mann_whitney`] can give two samples of `size`: if it is not below the
/// significance, the test cannot fail and says nothing.
#[must_use]
pub(super) fn mann_whitney_least_p(size: usize) -> f64 {
    exact_two_sided(size, size, 0)
}

/// 2·min(P(U ≤ u), P(U ≥ u)) from the exact null distribution of U, whose counts satisfy
/// c(m, n, u) = c(m − 1, n, u − n) + c(m, n − 1, u).
fn exact_two_sided(m: usize, n: usize, u: usize) -> f64 {
    let most = m * n;
    // counts[j][u] for the current m and each j ≤ n; as f64, exact enough far beyond 60 samples.
    let mut counts = vec![vec![0.0; most + 1]; n + 1];
    for row in &mut counts {
        row[0] = 1.0;
    }
    for _ in 0..m {
        for j in 1..=n {
            let (before, current) = counts.split_at_mut(j);
            let shorter = &before[j - 1];
            let longer = &mut current[0];
            for u in (0..=most).rev() {
                let taken = if u >= j { longer[u - j] } else { 0.0 };
                longer[u] = taken;
            }
            for (x, y) in longer.iter_mut().zip(shorter) {
                *x += y;
            }
        }
    }
    let total: f64 = counts[n].iter().sum();
    let below: f64 = counts[n][..=u.min(most)].iter().sum();
    let above: f64 = counts[n][u.min(most)..].iter().sum();
    (2.0 * below.min(above) / total).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    fn normals(seed: u64, count: usize) -> Vec<f64> {
        let mut out = vec![0.0; count];
        Seed::from_u64(seed)
            .key(Label::Scenario, 0, 0)
            .add_all_normals(1, 1.0, &mut out);
        out
    }

    /// Under the null every p-value is uniform. 200 seeds each: P(a given decile count outside 5..=40)
    /// is below 1e-4 for Binomial(200, 0.1); the seeds are fixed.
    #[test]
    fn p_values_are_uniform_under_the_null() {
        type PValue = fn(&[f64], &[f64]) -> f64;
        let tests: [(&str, PValue); 4] = [
            ("kolmogorov-smirnov", |a, _| kolmogorov_smirnov_normal(a).1),
            ("chi-squared", |a, _| chi_squared_variance(a).1),
            ("correlation", |a, b| correlation(a, b).1),
            ("mann-whitney", |a, b| mann_whitney(a, b).1),
        ];
        for (name, test) in tests {
            let mut deciles = [0; 10];
            for seed in 0..200 {
                let p = test(&normals(seed, 400), &normals(1000 + seed, 400));
                assert!((0.0..=1.0).contains(&p));
                deciles[((p * 10.0) as usize).min(9)] += 1;
            }
            assert!(
                deciles.iter().all(|&count| (5..=40).contains(&count)),
                "{name}: {deciles:?}"
            );
        }
    }

    #[test]
    fn every_test_rejects_what_it_is_for() {
        let a = normals(1, 2000);
        let scaled: Vec<f64> = a.iter().map(|x| 1.15 * x).collect();
        assert!(chi_squared_variance(&scaled).1 < 1e-6);
        let shifted: Vec<f64> = a.iter().map(|x| x + 0.2).collect();
        assert!(kolmogorov_smirnov_normal(&shifted).1 < 1e-6);
        assert!(mann_whitney(&a, &shifted.iter().map(|x| x + 0.1).collect::<Vec<_>>()).1 < 1e-6);
        let mixed: Vec<f64> = a
            .iter()
            .zip(normals(2, 2000))
            .map(|(x, y)| 0.3 * x + y)
            .collect();
        assert!(correlation(&a, &mixed).1 < 1e-6);
    }

    #[test]
    fn known_values() {
        // Kolmogorov's distribution: P(K > 1.3581) = 0.05 and P(K > 1.6276) = 0.01.
        assert!((kolmogorov_tail(1.358_098_6) - 0.05).abs() < 1e-6);
        assert!((kolmogorov_tail(1.627_623_6) - 0.01).abs() < 1e-6);
        assert!((normal_two_sided(1.959_963_985) - 0.05).abs() < 1e-9);
        // Separated samples of 3 and 3: one of C(6, 3) = 20 orders at each end.
        assert_eq!(mann_whitney(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), (1.0, 0.1));
        // Tables of U: P(U ≤ 23) for 10 and 10 is 0.0217, for 5 and 8 P(U ≤ 6) is 0.0225.
        assert!((exact_two_sided(10, 10, 23) / 2.0 - 0.0217).abs() < 5e-4);
        assert!((exact_two_sided(5, 8, 6) / 2.0 - 0.0225).abs() < 5e-4);
        // 2 / C(20, 10).
        assert!((mann_whitney_least_p(10) - 2.0 / 184_756.0).abs() < 1e-12);
    }
}
