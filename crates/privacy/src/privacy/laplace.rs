//! (ε, 0)-differential privacy: what Laplace noise costs, alone and in parts.
//!
//! Noise of density e^(−|x|/λ)/(2λ) on every coordinate of what one record moves by at most Δ₁ in the sum of absolute values has a
//! likelihood ratio of at most e^(Δ₁/λ), everywhere: it spends ε = Δ₁/λ and no δ. Releases compose by their sum, Σ Δ₁,l/λ_l ≤ ε,
//! adaptively, because the ratio of all of them is the product of the ratios (Dwork & Roth 2014, Theorem 3.14).
//!
//! # What is assumed
//! A sampler of real numbers. The numbers that are drawn have 64 bits, and which of them can occur depends on the data: an adversary
//! who looks at last bits has a δ above 0 that no ε here covers (Mironov 2012). What is promised is stated with that assumption.
//!
//! # Parts of the noise
//! Where t of s peers collude the honest ones must add up to a Laplace number: shares of shape 1/(s − t). A sum of total shape κ < 1 is no
//! Laplace number: its density is proportional to |x|^(κ−½)·K_(κ−½)(|x|/λ), with a cusp at 0 of infinite slope, and for κ ≤ ½ a pole. A
//! change of c then has a loss of up to ln p(0)/p(c), more than c/λ, and infinite for κ ≤ ½. Over m coordinates that share a change it
//! adds up to m times the loss of a part c/m, which grows with m. So nothing is promised against more colluders than were planned for.

use super::bisection::crossing;
use super::calibration::Calibrated;
use super::mills::erfcx;
use super::{Calibration, Epsilon, PrivacyError};

/// How many times too much noise Hardt & Price's Lemma 4.5 asks for: λ = 10·pL√d/ε, of which the 10 is not needed.
const HARDT_PRICE: f64 = 10.0;

/// Calibrates Laplace noise for `releases` equal releases to ε: λ = `releases`·Δ₁/ε on each, so that z, the standard deviation per unit
/// of Δ₁, is √2·`releases`/ε. [`Calibration::Paper`] is ten times as much, as Hardt & Price 2014, Lemma 4.5, print it.
///
/// # Errors
/// [`PrivacyError::Iterations`] for 0 releases, [`PrivacyError::Laplace`] for a calibration of Gaussian noise,
/// [`PrivacyError::BudgetOutOfRange`] if the multiplier under- or overflows.
pub fn calibrate_laplace(
    calibration: Calibration,
    epsilon: Epsilon,
    releases: u32,
) -> Result<Calibrated, PrivacyError> {
    if releases == 0 {
        return Err(PrivacyError::Iterations);
    }
    let more = match calibration {
        Calibration::Analytic => 1.0,
        Calibration::Paper => HARDT_PRICE,
        Calibration::Zcdp
        | Calibration::HardtRoth
        | Calibration::JainThakkarThakurta
        | Calibration::Basic => {
            let problem = "privacy.calibration is one of Gaussian noise; choose \"analytic\", the least noise that suffices, or \"paper\", \
                           Hardt & Price's, ten times as much";
            return Err(PrivacyError::Laplace { problem });
        }
    };
    let scale = more * f64::from(releases) / epsilon.get();
    let z = std::f64::consts::SQRT_2 * scale;
    if !z.is_normal() {
        return Err(PrivacyError::BudgetOutOfRange {
            epsilon: epsilon.get(),
            delta: 0.0,
            multiplier: z,
        });
    }
    let spent = epsilon.get() / more;
    Ok(Calibrated::of_laplace(
        z,
        spent,
        (mu(spent), mu(spent / f64::from(releases))),
    ))
}

/// The μ of the Gaussian mechanism that tells exactly as much at one point of its trade-off curve, and at least as much at every other, as
/// an (ε, 0) mechanism may: −2Φ⁻¹(1/(1 + e^ε)), rounded up.
///
/// # Proof
/// What (ε, 0) allows is the trade-off curve of randomised response, two straight lines from (0, 1) and (1, 0) to (a, a), a = 1/(1 + e^ε). The
/// Gaussian curve of that μ is convex and passes through all three points, so that it lies below the lines. ∎ (Dong, Roth & Su 2022,
/// Section 2, for the two curves.)
#[must_use]
pub fn mu(epsilon: f64) -> f64 {
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return if epsilon == 0.0 { 0.0 } else { f64::INFINITY };
    }
    // ln Φ(−μ/2) = ln(erfcx(x)/2) − x² with x = μ/√8, against ln a = −(ε + ln(1 + e^−ε)).
    let target = epsilon + libm::log1p(libm::exp(-epsilon));
    let (_, above) = crossing(1.0, |mu| {
        let x = mu / 8.0_f64.sqrt();
        x * x - libm::log(0.5 * erfcx(x)) <= target
    });
    above
}

#[cfg(test)]
pub(in crate::privacy) mod tests {
    use super::*;
    use crate::privacy::gaussian;
    use statrs::distribution::{ContinuousCDF, Normal};

    /// ln of the density of a difference of two Gamma numbers of shape κ and scale 1, up to a constant:
    /// (κ − ½)·ln|x| + ln K_(κ−½)(|x|), K by its integral ∫₀^∞ e^(−x cosh t) cosh(νt) dt, which the trapezoidal rule
    /// integrates to rounding.
    fn ln_density(shape: f64, x: f64) -> f64 {
        let (nu, x) = (shape - 0.5, x.abs());
        if x == 0.0 {
            // |x|^ν K_ν(|x|) → 2^(ν−1) Γ(ν) for ν > 0.
            return (nu - 1.0) * std::f64::consts::LN_2 + libm::lgamma(nu);
        }
        const STEP: f64 = 1.0 / 64.0;
        let term = |k: i32| {
            let t = STEP * f64::from(k);
            (-x * t.cosh()).exp() * (nu * t).cosh()
        };
        // Beyond, e^(−x cosh t) is below 10^(−26).
        let last = ((60.0 / x).asinh() / STEP) as i32 + 1;
        let integral = STEP * (0.5 * term(0) + (1..=last).map(term).sum::<f64>());
        nu * x.ln() + integral.ln()
    }

    /// The largest ln p(x)/p(x − c) over x, on a grid that holds 0 and c.
    pub(in crate::privacy) fn worst_loss(shape: f64, change: f64) -> f64 {
        let points = (-400..=400).map(|k| change * f64::from(k) / 40.0);
        let losses = points.map(|x| (ln_density(shape, x) - ln_density(shape, x - change)).abs());
        losses.fold(0.0, f64::max)
    }

    #[test]
    fn a_sum_of_less_than_a_laplace_number_loses_more_than_promised() {
        for (shape, expected) in [
            (0.98, [0.1097, 0.5243, 1.0335]),
            (0.9, [0.1612, 0.6396, 1.1876]),
            (0.6, [0.956, 1.771, 2.490]),
            // A Laplace number keeps its promise exactly.
            (1.0, [0.1, 0.5, 1.0]),
        ] {
            for (epsilon, expected) in [0.1, 0.5, 1.0].into_iter().zip(expected) {
                let found = worst_loss(shape, epsilon);
                assert!(
                    (found - expected).abs() < 6e-4,
                    "{shape} {epsilon}: {found}, expected {expected}"
                );
                // It is where the change hits the cusp.
                let at_cusp = ln_density(shape, 0.0) - ln_density(shape, epsilon);
                assert!((found - at_cusp).abs() < 1e-9, "{shape} {epsilon}");
            }
        }
        // A change that is spread over more coordinates loses more.
        let spread = |m: f64| m * worst_loss(0.9, 1.0 / m);
        assert!((spread(64.0) - 2.25).abs() < 6e-3, "{}", spread(64.0));
        assert!((spread(512.0) - 3.37).abs() < 6e-3, "{}", spread(512.0));
        assert!((spread(64.0) / 1.1876) > 1.8);
        // At one half and below there is no bound: the density has a pole.
        assert!(ln_density(0.4, 1e-12) - ln_density(0.4, 1.0) > 2.0);
        assert!(ln_density(0.4, 1e-100) - ln_density(0.4, 1.0) > 20.0);
    }

    #[test]
    fn the_density_is_that_of_laplace_at_shape_one() {
        for x in [0.0, 0.01, 0.5, 3.0, 20.0] {
            let found = ln_density(1.0, x) - ln_density(1.0, 0.0);
            assert!((found + x).abs() < 1e-10, "{x}: {found}");
        }
    }

    #[test]
    fn calibrations_spend_what_they_say() {
        let epsilon = Epsilon::new(0.5).expect("valid");
        let found = calibrate_laplace(Calibration::Analytic, epsilon, 3).expect("in range");
        // λ = 6: three releases of 1/6.
        assert!((found.z() / (6.0 * 2.0_f64.sqrt()) - 1.0).abs() < 2e-12);
        assert_eq!(found.spent(), 0.5);
        let paper = calibrate_laplace(Calibration::Paper, epsilon, 3).expect("in range");
        assert!((paper.z() / found.z() - 10.0).abs() < 1e-10);
        assert!((paper.spent() - 0.05).abs() < 1e-15);
        for other in [
            Calibration::Zcdp,
            Calibration::HardtRoth,
            Calibration::Basic,
        ] {
            let error = calibrate_laplace(other, epsilon, 3).expect_err("Gaussian");
            assert!(error.to_string().contains("privacy.calibration"), "{error}");
        }
        assert!(calibrate_laplace(Calibration::Analytic, epsilon, 0).is_err());
        let tiny = Epsilon::new(1e-320).expect("above 0");
        assert!(calibrate_laplace(Calibration::Analytic, tiny, 1).is_err());
    }

    #[test]
    fn the_gaussian_curve_lies_below_that_of_the_pure_mechanism_and_touches_it() {
        let normal = Normal::new(0.0, 1.0).expect("valid");
        for epsilon in [0.01, 0.5, 1.0, 5.0, 20.0] {
            let mu = mu(epsilon);
            let touches = (1.0 + epsilon.exp()).recip();
            assert!(
                (normal.cdf(-0.5 * mu) / touches - 1.0).abs() < 1e-8,
                "{epsilon}"
            );
            // δ of randomised response at any smaller e is 1 − 2/(1 + e^ε)·… below that of the Gaussian.
            for step in 0..20 {
                let smaller = epsilon * f64::from(step) / 20.0;
                let pure = (epsilon.exp() - smaller.exp()) / (1.0 + epsilon.exp());
                assert!(
                    gaussian::delta(smaller, mu) >= pure * (1.0 - 1e-9),
                    "{epsilon} {smaller}"
                );
            }
        }
        assert_eq!(mu(0.0), 0.0);
        assert_eq!(mu(f64::NAN), f64::INFINITY);
        assert!(mu(700.0).is_finite());
    }
}
