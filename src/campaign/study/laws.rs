//! The largest entry and the largest row norm of a random orthonormal block, as P1 predicts them and as they are.
//!
//! Q is the Q of a Gaussian n × k matrix: uniform on the Stiefel manifold. P1 (Appendix C) approximates nQ_ij² by
//! F(1, n), and row norms² by a sum of k independent such variables.
//!
//! # Claim
//! Q_ij² ~ Beta(½, (n−1)/2) and ‖Q_i:‖² ~ Beta(k/2, (n−k)/2). Hence E‖Q_i:‖² = k/n and
//! Var‖Q_i:‖² = 2k(n−k)/(n²(n+2)).
//!
//! # Proof
//! Extend Q to an orthogonal n × n matrix, uniform on the orthogonal group. Its row i is uniform on the unit sphere:
//! g/‖g‖ for a standard normal g. The norm² of the first k coordinates is a/(a + b) with independent a ~ χ²_k and
//! b ~ χ²_{n−k}, which is Beta(k/2, (n−k)/2); k = 1 is one entry. Mean and variance are those of that law. ∎
//!
//! P1's variance kσ²/n² lacks the factor 1 − k/n: coordinates of a unit vector are not independent. It exceeds the
//! right one by 1/(1 − k/n), a third at k/n = ¼ for large n (39 % at n = 200; ref F.1.9).

use statrs::distribution::{Beta, ContinuousCDF};

/// E√(largest entry² · k) and E√(largest row norm²).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prediction {
    /// √k·E max|Q_ij|: the earlier sensitivity.
    pub(super) prior: f64,
    /// E max‖Q_i:‖: P1's sensitivity.
    pub(super) row_norm: f64,
}

impl Prediction {
    /// r(k, n).
    pub(super) fn ratio(self) -> f64 {
        self.prior / self.row_norm
    }
}

/// P1's variance of ‖Q_i:‖²: kσ²/n², σ² = 2n²(n−1)/((n−2)²(n−4)).
pub(super) fn papers_row_variance(n: f64, k: f64) -> f64 {
    k * papers_entry_variance(n)
}

/// P1's variance of Q_ij².
fn papers_entry_variance(n: f64) -> f64 {
    2.0 * (n - 1.0) / ((n - 2.0).powi(2) * (n - 4.0))
}

/// The variance of ‖Q_i:‖²: that of Beta(k/2, (n−k)/2).
pub(super) fn row_variance(n: f64, k: f64) -> f64 {
    2.0 * k * (n - k) / (n * n * (n + 2.0))
}

/// P1's Approximation C.1 (eq. 76): normal variables with mean kμ/n, μ = n/(n−2), and P1's variances, whose
/// largest of d lies √(2 ln d) standard deviations above the mean.
pub(super) fn papers(n: f64, k: f64) -> Prediction {
    let mean = k / (n - 2.0);
    normal(
        n,
        k,
        mean,
        papers_entry_variance(n),
        papers_row_variance(n, k),
    )
}

/// The same approximation with the right means and variances.
pub(super) fn papers_corrected(n: f64, k: f64) -> Prediction {
    normal(n, k, k / n, row_variance(n, 1.0), row_variance(n, k))
}

fn normal(n: f64, k: f64, mean: f64, entry_variance: f64, row_variance: f64) -> Prediction {
    let largest = |count: f64, variance: f64| (2.0 * variance * count.ln()).sqrt() + mean;
    Prediction {
        prior: largest(k * n, k * k * entry_variance).sqrt(),
        row_norm: largest(n, row_variance).sqrt(),
    }
}

/// The right laws, entries and rows taken as independent: their dependence is weak (they share one constraint per
/// row and column), and for the largest of many only the tail counts.
pub(super) fn corrected(n: f64, k: f64) -> Prediction {
    Prediction {
        prior: k.sqrt() * expected_root_of_largest(1.0, n, k * n),
        row_norm: expected_root_of_largest(k, n, n),
    }
}

/// E√max of `count` independent Beta(k/2, (n−k)/2) variables, 0 < k ≤ n.
///
/// ∫₀¹ P(√max > t) dt, by Simpson's rule between the points where that probability leaves 1 and reaches 0.
fn expected_root_of_largest(k: f64, n: f64, count: f64) -> f64 {
    if k >= n {
        return 1.0;
    }
    let Ok(law) = Beta::new(k / 2.0, (n - k) / 2.0) else {
        return f64::NAN;
    };
    let exceeded = |t: f64| -(count * (-law.sf((t * t).min(1.0))).ln_1p()).exp_m1();
    // P(√max > t) falls with t.
    let point = |probability: f64| {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if exceeded(middle) > probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    };
    let (low, high) = (point(1.0 - 1e-12), point(1e-12));
    const INTERVALS: usize = 200;
    let width = (high - low) / INTERVALS as f64;
    let sum: f64 = (0..=INTERVALS)
        .map(|i| {
            let weight = match i {
                0 | INTERVALS => 1.0,
                i if i % 2 == 1 => 4.0,
                _ => 2.0,
            };
            weight * exceeded(low + width * i as f64)
        })
        .sum();
    low + sum * width / 3.0
}

#[cfg(test)]
mod tests {
    use statrs::function::gamma::ln_gamma;

    use super::*;

    #[test]
    fn one_variable_has_the_mean_of_its_root() {
        for (k, n) in [(1.0, 50.0), (8.0, 100.0), (500.0, 2000.0)] {
            let (a, total): (f64, f64) = (k / 2.0, n / 2.0);
            let known =
                (ln_gamma(a + 0.5) + ln_gamma(total) - ln_gamma(a) - ln_gamma(total + 0.5)).exp();
            let found = expected_root_of_largest(k, n, 1.0);
            assert!(
                (found / known - 1.0).abs() < 1e-4,
                "{k}, {n}: {found}, {known}"
            );
        }
    }

    #[test]
    fn a_uniform_variable_s_largest_root_is_known() {
        // Beta(1, 1): E√max of d = ∫ √x d x^{d−1} dx = d/(d + ½).
        for count in [1.0_f64, 5.0, 100.0, 1e6] {
            let found = expected_root_of_largest(2.0, 4.0, count);
            assert!(
                (found - count / (count + 0.5)).abs() < 1e-5,
                "{count}: {found}"
            );
        }
    }

    #[test]
    fn the_paper_s_variance_is_39_per_cent_too_big_at_a_quarter() {
        let excess = |n: f64| papers_row_variance(n, n / 4.0) / row_variance(n, n / 4.0) - 1.0;
        assert!((excess(200.0) - 0.39).abs() < 0.01, "{}", excess(200.0));
        assert!((excess(1e7) - 1.0 / 3.0).abs() < 1e-5);
    }
}
