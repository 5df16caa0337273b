//! Gaussian sums together with searches that are (ε_s, 0)-private: what they cost, exactly as far as the searches are known.
//!
//! A curator who clips by AboveThreshold makes, per iteration, one search that is (ε_s, 0)-differentially private and one Gaussian release.
//! A search has no Gaussian privacy loss. To call it ε_s-GDP would be false: (ε, 0) is Φ⁻¹(e^ε/(1 + e^ε))·2-GDP, about 1.2533·ε for
//! small ε. So the run is not charged as Gaussian.
//!
//! # Statement
//! L searches, each (ε_s, 0)-DP given everything before, and Gaussian releases of μ_G together are (ε, δ)-DP with
//!
//! δ(ε) = Σ_k Binomial(L, 1/(1 + e^{ε_s}))(k) · δ_G(ε − ε_s(L − 2k); μ_G),
//!
//! where δ_G is the Gaussian curve, of which δ_G(−x) = 1 − e^{−x} + e^{−x} δ_G(x).
//!
//! # Proof
//! Every pair of laws within e^{±ε_s} of each other is what some channel makes of the pair of randomised response: bits that are
//! kept with probability p = e^{ε_s}/(1 + e^{ε_s}) (Kairouz, Oh & Viswanath 2015, Theorem 2.2 and its proof). Adaptive mechanisms, each dominated
//! by a fixed pair given the past, are together dominated by the product of the pairs (Dong, Roth & Su 2022, Theorem 3.2). The loss of
//! randomised response is ε_s with probability p and −ε_s otherwise, so that of L of them is ε_s(L − 2k) with k the number of bits that
//! were not kept, and independent of the Gaussian loss. For a product of pairs
//! E[(1 − e^{ε − ℓ₁ − ℓ₂})₊] = E_{ℓ₁} E[(1 − e^{(ε − ℓ₁) − ℓ₂})₊] = E δ_G(ε − ℓ₁). The identity for −x follows from the symmetry of the
//! Gaussian pair: E_P[(1 − e^{−x−ℓ})₊] = 1 − e^{−x} + E_Q[(e^{−x} − e^{ℓ})₊] with ℓ the loss of P against Q under each. ∎
//!
//! That a search is worth no more than randomised response is not known, so the value is an upper bound for the mechanism; for
//! the pair it is exact.

use super::bisection::crossing;
use super::calibration::{Calibrated, Calibration};
use super::{Budget, Delta, Epsilon, PrivacyError, gaussian, zcdp};

/// What a run with searches costs: noise of its Gaussian releases, and ε_s of every search.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// The noise multiplier of the releases and what everything together spends.
    pub calibrated: Calibrated,
    /// ε_s of one search.
    pub search_epsilon: f64,
}

/// δ at this ε of so many searches and Gaussian releases of μ_G together: see the statement above.
#[must_use]
pub fn delta(epsilon: f64, gaussian_mu: f64, search_epsilon: f64, searches: u32) -> f64 {
    let valid = epsilon >= 0.0 && gaussian_mu >= 0.0 && search_epsilon >= 0.0;
    if !(valid && search_epsilon.is_finite() && gaussian_mu.is_finite()) {
        return 1.0;
    }
    let count = f64::from(searches);
    // ln of the probability that a bit is kept, and that it is not.
    let ln_kept = -libm::log1p(libm::exp(-search_epsilon));
    let ln_other = ln_kept - search_epsilon;
    let sum: f64 = (0..=searches)
        .map(|k| {
            let k = f64::from(k);
            let choices =
                libm::lgamma(count + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(count - k + 1.0);
            let weight = libm::exp(choices + (count - k) * ln_kept + k * ln_other);
            weight * gaussian_delta(epsilon - search_epsilon * (count - 2.0 * k), gaussian_mu)
        })
        .sum();
    if sum.is_nan() { 1.0 } else { sum.min(1.0) }
}

/// δ_G(ε; μ), also for ε < 0.
fn gaussian_delta(epsilon: f64, mu: f64) -> f64 {
    if epsilon >= 0.0 {
        return gaussian::delta(epsilon, mu);
    }
    let shrunk = libm::exp(epsilon);
    -libm::expm1(epsilon) + shrunk * gaussian::delta(-epsilon, mu)
}

/// The smallest ε at this δ, rounded up.
#[must_use]
pub fn epsilon(target: Delta, gaussian_mu: f64, search_epsilon: f64, searches: u32) -> f64 {
    let at = |epsilon| delta(epsilon, gaussian_mu, search_epsilon, searches);
    if at(0.0) <= target.get() {
        return 0.0;
    }
    crossing(1.0, |epsilon| at(epsilon) > target.get()).1
}

/// Plans so many iterations of one search and one release: searches spend the share f of ρ, ε_s = μ√(f/L), releases the rest,
/// z = √L/(μ√(1 − f)), with the largest μ that the budget allows.
///
/// With [`Calibration::Analytic`] it is the loss distribution that decides, with [`Calibration::Zcdp`] the ρ = μ²/2 of everything, as an
/// (ε_s, 0)-private search costs at most ε_s²/2 (Bun & Steinke 2016, Proposition 1.4). `spent` is by the loss distribution in both cases.
///
/// # Errors
/// [`PrivacyError::SearchCalibration`] for the other calibrations, which are about Gaussian releases alone; [`PrivacyError::Iterations`] for none;
/// [`PrivacyError::Parameter`] for a share outside (0, 1); [`PrivacyError::BudgetOutOfRange`].
pub fn calibrate(
    calibration: Calibration,
    budget: Budget,
    iterations: u32,
    share: f64,
) -> Result<Searched, PrivacyError> {
    if iterations == 0 {
        return Err(PrivacyError::Iterations);
    }
    if !(share > 0.0 && share < 1.0) {
        return Err(PrivacyError::Parameter {
            name: "algorithm.clip_share",
            found: share,
            expected: "a number strictly between 0 and 1",
        });
    }
    let Budget {
        epsilon: asked,
        delta: most,
    } = budget;
    let count = f64::from(iterations);
    let parts = |mu: f64| (mu * (1.0 - share).sqrt(), mu * (share / count).sqrt());
    let mu = match calibration {
        Calibration::Analytic => {
            let within = |mu: f64| {
                let (releases, search) = parts(mu);
                delta(asked.get(), releases, search, iterations) <= most.get()
            };
            crossing(1.0, within).0
        }
        Calibration::Zcdp => (2.0 * zcdp::rho(asked, most)).sqrt(),
        calibration => {
            let calibration = calibration.to_string();
            return Err(PrivacyError::SearchCalibration { calibration });
        }
    };
    let (releases, search_epsilon) = parts(mu);
    let multiplier = count.sqrt() / releases;
    if !multiplier.is_normal() {
        return Err(PrivacyError::BudgetOutOfRange {
            epsilon: asked.get(),
            delta: most.get(),
            multiplier,
        });
    }
    let spent = epsilon(most, releases, search_epsilon, iterations);
    // The bisections of δ and ε end a rounding apart.
    let spent = if spent <= asked.get() * (1.0 + 1e-9) {
        spent.min(asked.get())
    } else {
        spent
    };
    let equivalent = Epsilon::new(spent).map_or(0.0, |spent| gaussian::mu(spent, most));
    Ok(Searched {
        calibrated: Calibrated::with_searches(multiplier, equivalent, spent, search_epsilon),
        search_epsilon,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn budget(epsilon: f64) -> Budget {
        Budget::new(epsilon, 1e-6).expect("valid")
    }

    #[test]
    fn without_searches_it_is_the_gaussian_curve_and_without_releases_randomised_response() {
        for (epsilon, mu) in [(0.0, 0.3), (0.5, 0.2), (1.0, 1.0), (4.0, 2.0)] {
            let exact = gaussian::delta(epsilon, mu);
            for (search, count) in [(0.0, 5), (0.3, 0)] {
                let found = delta(epsilon, mu, search, count);
                assert!((found / exact - 1.0).abs() < 1e-10, "{found} {exact}");
            }
        }
        // One bit: (1 − e^{ε − ε_s})·p, and nothing beyond ε_s.
        let (search, epsilon) = (0.7_f64, 0.2_f64);
        let kept = search.exp() / (1.0 + search.exp());
        let exact = kept * (1.0 - (epsilon - search).exp());
        assert!((delta(epsilon, 0.0, search, 1) / exact - 1.0).abs() < 1e-12);
        assert_eq!(delta(0.71, 0.0, search, 1), 0.0);
    }

    /// The hockey stick of the two product laws, integrated over a grid of the Gaussian coordinate and all 2³ bits.
    #[test]
    fn the_formula_is_the_divergence_of_the_product_laws() {
        let (mu, search, count) = (0.8_f64, 0.4_f64, 3_u32);
        let kept = search.exp() / (1.0 + search.exp());
        for epsilon in [0.1_f64, 0.9, 2.0] {
            let mut sum = 0.0;
            let (low, high, steps) = (-9.0, 10.0, 200_000);
            let width = (high - low) / f64::from(steps);
            let density = |x: f64| (-0.5 * x * x).exp() / (2.0 * std::f64::consts::PI).sqrt();
            for i in 0..steps {
                let x = low + width * (f64::from(i) + 0.5);
                let (p, q) = (density(x - mu), density(x));
                for bits in 0..1_u32 << count {
                    let ones = bits.count_ones() as i32;
                    let others = count as i32 - ones;
                    let first = p * kept.powi(ones) * (1.0 - kept).powi(others);
                    let second = q * kept.powi(others) * (1.0 - kept).powi(ones);
                    sum += (first - epsilon.exp() * second).max(0.0) * width;
                }
            }
            let found = delta(epsilon, mu, search, count);
            assert!((found / sum - 1.0).abs() < 1e-6, "{epsilon}: {found} {sum}");
        }
    }

    /// It spends what was asked for, less noise than by ρ and no less than Gaussian releases of the same ρ would need. A search charged as
    /// ε_s-GDP would promise more than it keeps.
    #[test]
    fn plans_spend_the_budget_and_lie_between_rho_and_the_gaussian_curve() {
        for (asked, iterations, share) in
            [(1.0, 4, 0.1), (0.3, 8, 0.1), (3.0, 1, 0.5), (10.0, 50, 0.9)]
        {
            let of = |calibration| calibrate(calibration, budget(asked), iterations, share);
            let exact = of(Calibration::Analytic).expect("in range");
            let by_rho = of(Calibration::Zcdp).expect("in range");
            let spent = exact.calibrated.spent();
            assert!(spent <= asked && spent > asked * (1.0 - 1e-6), "{spent}");
            assert!(exact.calibrated.z() < by_rho.calibrated.z());
            assert!(by_rho.calibrated.spent() < asked);
            // ρ = L(1/(2z²) + ε_s²/2), of which searches have their share.
            let count = f64::from(iterations);
            let searches = 0.5 * count * by_rho.search_epsilon.powi(2);
            let rho = 0.5 * count / by_rho.calibrated.z().powi(2) + searches;
            let most = zcdp::rho(budget(asked).epsilon, budget(asked).delta);
            assert!((rho / most - 1.0).abs() < 1e-11);
            assert!((searches / rho - share).abs() < 1e-11);
        }
        // As one Gaussian of μ² = μ_G² + Lε_s² a single large search would pass for less than it is.
        let (mu, search) = (0.1_f64, 0.5_f64);
        let wrong = gaussian::delta(0.3, mu.hypot(search));
        assert!(delta(0.3, mu, search, 1) > wrong);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        let of = |calibration, iterations, share| {
            calibrate(calibration, budget(1.0), iterations, share).is_err()
        };
        assert!(of(Calibration::Paper, 4, 0.1));
        assert!(of(Calibration::Analytic, 0, 0.1));
        for share in [0.0, 1.0, f64::NAN, -0.1] {
            assert!(of(Calibration::Analytic, 4, share));
        }
        for bad in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(delta(1.0, bad, 0.1, 3), 1.0);
            assert_eq!(delta(1.0, 0.1, bad, 3), 1.0);
        }
        assert_eq!(delta(f64::NAN, 0.1, 0.1, 3), 1.0);
    }
}
