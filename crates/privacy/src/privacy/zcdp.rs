//! Zero-concentrated differential privacy and its conversions.
//!
//! The Gaussian mechanism with total μ satisfies ρ-zCDP, ρ = μ²/2, and ρ adds up over iterations (Bun &
//! Steinke, TCC 2016, Proposition 1.6 and Lemma 1.7). Turning ρ into (ε, δ) forgets the exact curve, so both
//! conversions below charge more than [`super::gaussian`] does; they are kept for comparison with the
//! papers and for mechanisms that have no exact curve.

use super::bisection::crossing;
use super::{Delta, Epsilon};

/// ε = ρ + 2√(ρ ln(1/δ)) (Bun & Steinke 2016, Proposition 1.3).
#[must_use]
pub(crate) fn bun_steinke_epsilon(rho: f64, delta: Delta) -> f64 {
    rho + 2.0 * (-rho * delta.ln()).sqrt()
}

/// The smallest ε the optimal conversion allows (Canonne, Kamath & Steinke, NeurIPS 2020, Proposition 12):
/// ε = inf_{α>1} ρα + ln(1 − 1/α) − (ln δ + ln α)/(α − 1), not below 0.
///
/// The derivative in α is ρ + (ln δ + ln α)/(α − 1)²; ρ(α − 1)² rises and −ln(δα) falls, so it has one zero,
/// which bisection finds. Every α gives a valid ε: stopping early only overstates it.
#[must_use]
pub fn epsilon(rho: f64, delta: Delta) -> f64 {
    if rho == 0.0 {
        return 0.0;
    }
    if rho.is_nan() || rho < 0.0 || rho.is_infinite() {
        return f64::INFINITY;
    }
    let ln_delta = delta.ln();
    let excess = crossing(1.0, |x| rho * x * x < -(ln_delta + libm::log1p(x))).0;
    let value = rho * (1.0 + excess) + ln_one_minus_inverse(excess)
        - (ln_delta + libm::log1p(excess)) / excess;
    if value.is_nan() {
        f64::INFINITY
    } else {
        value.max(0.0)
    }
}

/// The largest ρ whose optimal conversion stays within ε.
///
/// Along the stationary points ρ(α) = −ln(δα)/(α − 1)² and ε(α) = ρ(α)(2α − 1) + ln(1 − 1/α); ε falls with α,
/// so one bisection inverts it.
#[must_use]
pub fn rho(epsilon: Epsilon, delta: Delta) -> f64 {
    let ln_delta = delta.ln();
    let rho_at = |x: f64| -(ln_delta + libm::log1p(x)) / (x * x);
    let spent_at = |x: f64| rho_at(x) * (1.0 + 2.0 * x) + ln_one_minus_inverse(x);
    let (_, excess) = crossing(1.0, |x| spent_at(x) > epsilon.get());
    rho_at(excess).max(0.0)
}

/// ln(1 − 1/α) at α = 1 + x.
fn ln_one_minus_inverse(x: f64) -> f64 {
    if x < 1.0 {
        libm::log(x) - libm::log1p(x)
    } else {
        libm::log1p(-1.0 / (1.0 + x))
    }
}

#[cfg(test)]
mod tests {
    use super::super::gaussian;
    use super::*;
    use crate::privacy::testing::bun_steinke_rho;

    #[test]
    fn conversions_are_ordered_and_inverse_to_each_other() {
        for epsilon_in in [1e-3, 0.1, 1.0, 5.0, 50.0, 1e3] {
            for delta_in in [1e-12, 1e-6, 1e-2] {
                let (e, d) = (
                    Epsilon::new(epsilon_in).expect("positive"),
                    Delta::new(delta_in).expect("a probability"),
                );
                let (loose, tight) = (bun_steinke_rho(e, d), rho(e, d));
                let exact = 0.5 * gaussian::mu(e, d).powi(2);
                assert!(loose < tight && tight < exact, "{loose} {tight} {exact}");
                assert!((bun_steinke_epsilon(loose, d) / epsilon_in - 1.0).abs() < 1e-12);
                assert!((epsilon(tight, d) / epsilon_in - 1.0).abs() < 1e-10);
            }
        }
    }

    #[test]
    fn the_optimum_is_not_beaten_by_a_grid_of_orders() {
        let d = Delta::new(1e-6).expect("a probability");
        for rho_in in [1e-4, 0.01, 0.5, 20.0] {
            let best = epsilon(rho_in, d);
            for step in 1..4000 {
                let x = 1e-3 * 1.005_f64.powi(step);
                let other = rho_in * (1.0 + x) + ln_one_minus_inverse(x) - (d.ln() + x.ln_1p()) / x;
                assert!(other >= best - 1e-12 * best.abs());
            }
        }
    }

    #[test]
    fn nonsense_counts_as_no_protection() {
        let d = Delta::new(1e-6).expect("a probability");
        for bad in [f64::NAN, -1.0, f64::INFINITY] {
            assert_eq!(epsilon(bad, d), f64::INFINITY);
        }
    }
}
