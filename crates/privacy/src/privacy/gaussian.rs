//! The exact privacy curve of the Gaussian mechanism.
//!
//! A mechanism that adds N(0, σ²I) to a value of L2 sensitivity Δ has privacy loss exactly N(±μ²/2, μ²),
//! μ = Δ/σ, and spends δ(ε; μ) = Φ(μ/2 − ε/μ) − e^ε·Φ(−μ/2 − ε/μ) (Balle & Wang, ICML 2018, Theorem 8;
//! Dong, Roth & Su, JRSS-B 2022, Corollary 2.13), increasing in μ and decreasing in ε. Independent
//! mechanisms compose to μ² = Σ μ_l² (Dong, Roth & Su, Corollary 3.3).
//!
//! # How it is evaluated
//! With a = ε/μ − μ/2, b = ε/μ + μ/2 and the Mills ratio R, e^ε·φ(b) = φ(a) gives
//! δ = φ(a)·(R(a) − R(b)). The difference cancels when μ = b − a is small, so up to μ = ½ it is
//! integrated instead: R(a) − R(b) = ∫ₐᵇ −R′, whose integrand is smooth on the scale of 1, by eight-point
//! Gauss–Legendre (error far below rounding). For a < 0 and larger μ, δ is near 1 and
//! ln δ = log1p(−(Φ(a) + φ(a)·R(b))).

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::bisection::crossing;
use super::mills::{mills_decline, mills_ratio};
use super::{Delta, Epsilon};

/// Nodes and weights of eight-point Gauss–Legendre quadrature on [−1, 1], positive half.
const LEGENDRE: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_3),
];

/// Up to this μ the difference of Mills ratios is integrated.
const INTEGRATE_UP_TO: f64 = 0.5;

/// ln δ(ε; μ) for ε ≥ 0, μ > 0; −∞ where δ underflows even as a logarithm.
///
/// Absolute error of ln δ about 1e-15·(1 + a²), with a = ε/μ − μ/2. Arguments outside the domain (NaN,
/// negative ε, μ < 0) give 0, that is δ = 1: no protection.
#[must_use]
pub(crate) fn ln_delta(epsilon: f64, mu: f64) -> f64 {
    if !(epsilon >= 0.0 && mu >= 0.0) || mu.is_infinite() {
        return 0.0;
    }
    if mu == 0.0 {
        return f64::NEG_INFINITY;
    }
    let centre = epsilon / mu;
    let a = centre - 0.5 * mu;
    let b = centre + 0.5 * mu;
    let ln_density = -0.5 * a * a - 0.5 * libm::log(2.0 * PI);
    let value = if mu <= INTEGRATE_UP_TO {
        let half = 0.5 * mu;
        let integral: f64 = LEGENDRE
            .iter()
            .map(|&(node, weight)| {
                let offset = half * node;
                weight * (mills_decline(centre - offset) + mills_decline(centre + offset))
            })
            .sum();
        ln_density + libm::log(half * integral)
    } else if a >= 0.0 {
        ln_density + libm::log(mills_ratio(a) - mills_ratio(b))
    } else {
        let complement =
            0.5 * libm::erfc(-a * FRAC_1_SQRT_2) + libm::exp(ln_density) * mills_ratio(b);
        libm::log1p(-complement)
    };
    if value.is_nan() { 0.0 } else { value.min(0.0) }
}

/// δ(ε; μ): what a mechanism with total μ spends at this ε ≥ 0. Arguments outside the domain give 1.
#[must_use]
pub fn delta(epsilon: f64, mu: f64) -> f64 {
    libm::exp(ln_delta(epsilon, mu))
}

/// The smallest ε ≥ 0 with δ(ε; μ) ≤ δ, rounded up; 0 if δ covers everything, +∞ for a μ that is
/// infinite or not a number.
///
/// δ(ε; μ) ≤ P(loss > ε) = Φ(−a) ≤ exp(−a²/2), so ε ≤ μ²/2 + μ√(2 ln(1/δ)) always and the search ends.
#[must_use]
pub fn epsilon(mu: f64, delta: Delta) -> f64 {
    if mu == 0.0 {
        return 0.0;
    }
    if mu.is_nan() || mu < 0.0 || mu.is_infinite() {
        return f64::INFINITY;
    }
    let target = delta.ln();
    if ln_delta(0.0, mu) <= target {
        return 0.0;
    }
    let start = mu * (0.5 * mu + (-2.0 * target).sqrt());
    crossing(start.clamp(f64::MIN_POSITIVE, 1e300), |epsilon| {
        ln_delta(epsilon, mu) > target
    })
    .1
}

/// The largest μ with δ(ε; μ) ≤ δ, rounded down: the analytic Gaussian calibration of Balle & Wang.
#[must_use]
pub fn mu(epsilon: Epsilon, delta: Delta) -> f64 {
    let target = delta.ln();
    crossing(1.0, |mu| ln_delta(epsilon.get(), mu) <= target).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget_delta(value: f64) -> Delta {
        Delta::new(value).expect("a probability")
    }

    #[test]
    fn the_three_ways_to_evaluate_the_curve_meet() {
        // Just below and above the switch at μ = 1/2 the curve moves by d ln δ/dμ · 2e-9 at most.
        for epsilon in [0.0, 0.01, 0.12, 0.13, 1.0, 3.0, 10.0] {
            let below = ln_delta(epsilon, 0.5);
            let above = ln_delta(epsilon, 0.5 * (1.0 + f64::EPSILON));
            assert!(
                (below - above).abs() < 1e-13 * (1.0 + below.abs()),
                "{epsilon}: {below} {above}"
            );
        }
        // Across a = 0 (ε = μ²/2).
        for mu in [0.7, 3.0, 30.0] {
            let at = 0.5 * mu * mu;
            let below = ln_delta(at * (1.0 - 1e-14), mu);
            let above = ln_delta(at * (1.0 + 1e-14), mu);
            assert!((below - above).abs() < 1e-11, "{mu}: {below} {above}");
        }
    }

    #[test]
    fn at_zero_epsilon_it_is_the_total_variation() {
        for mu in [1e-6, 1e-3, 0.3, 0.5, 0.6, 2.0, 5.0] {
            let expected = libm::erf(mu / 8.0_f64.sqrt());
            assert!((delta(0.0, mu) / expected - 1.0).abs() < 1e-14, "{mu}");
        }
    }

    #[test]
    fn the_inverses_are_inverses_over_the_full_range() {
        for mu_in in [1e-6, 1e-4, 1e-2, 0.3, 0.5, 1.0, 7.0, 50.0, 1e3] {
            for delta_in in [1e-300, 1e-12, 1e-6, 1e-3, 0.3] {
                let spent = epsilon(mu_in, budget_delta(delta_in));
                if spent == 0.0 {
                    assert!(delta(0.0, mu_in) <= delta_in);
                    continue;
                }
                assert!(ln_delta(spent, mu_in) <= delta_in.ln());
                assert!(ln_delta(spent * (1.0 - 1e-9), mu_in) > delta_in.ln());
                let back = mu(
                    Epsilon::new(spent).expect("positive"),
                    budget_delta(delta_in),
                );
                assert!(
                    (back / mu_in - 1.0).abs() < 1e-10,
                    "{mu_in} {delta_in} {back}"
                );
            }
        }
    }

    #[test]
    fn the_curve_is_monotone() {
        let mut last = f64::INFINITY;
        for step in 1..400 {
            let value = ln_delta(0.05 * f64::from(step), 0.49 + 0.001 * 20.0);
            assert!(value < last);
            last = value;
        }
        let mut last = f64::NEG_INFINITY;
        for step in 1..400 {
            let value = ln_delta(1.0, 0.01 * f64::from(step));
            assert!(value > last, "{step}");
            last = value;
        }
    }

    #[test]
    fn nonsense_counts_as_no_protection() {
        let delta_in = budget_delta(1e-6);
        assert_eq!(delta(f64::NAN, 1.0), 1.0);
        assert_eq!(delta(1.0, f64::NAN), 1.0);
        assert_eq!(delta(-1.0, 1.0), 1.0);
        assert_eq!(delta(1.0, f64::INFINITY), 1.0);
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(epsilon(bad, delta_in), f64::INFINITY);
        }
        assert_eq!(epsilon(0.0, delta_in), 0.0);
        assert_eq!(epsilon(1e200, delta_in), f64::INFINITY);
        assert!(epsilon(1e150, delta_in) >= 0.5e300);
        assert_eq!(ln_delta(1e300, 1e-12), f64::NEG_INFINITY);
    }
}
