//! The law of a sum of shares of Laplace noise, for the tests of `verify`.

use super::statistics::{kolmogorov_smirnov, normal_two_sided};

/// The law of a difference of two Gamma numbers of one shape κ ≥ 1, scaled to variance 1: what shares of shapes that add up to κ add up to.
/// κ = 1 is Laplace's law, and large κ come near N(0, 1).
///
/// Its density is proportional to y^ν·K_ν(y), ν = κ − ½, y = |x|·√(2κ), with K_ν(y) = ∫₀^∞ e^(−y cosh t) cosh(νt) dt: a smooth
/// integrand that falls doubly exponentially, so that the trapezoidal rule is as good as exact. Densities are added up by Simpson's
/// rule and made to have half their mass on either side.
#[derive(Debug)]
pub(super) struct SumLaw {
    shape: f64,
    /// P(0 < X < k·[`STEP`]) for k = 0, 1, …
    masses: Vec<f64>,
}

/// Between two tabulated points, which are interpolated: at most 5·10⁻⁵ off.
const STEP: f64 = 1.0 / 64.0;

/// Standard deviations up to which the law is tabulated: beyond lie 10⁻¹⁹ of Laplace's law, and less of the others.
const MOST: usize = 32;

impl SumLaw {
    /// For this sum of shapes.
    pub(super) fn new(shape: f64) -> Self {
        let count = MOST * 64;
        let logs: Vec<f64> = (0..=2 * count)
            .map(|k| ln_density(shape, 0.5 * STEP * k as f64))
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let density: Vec<f64> = logs.iter().map(|log| libm::exp(log - most)).collect();
        let mut masses = vec![0.0];
        let mut sum = 0.0;
        for part in density.windows(3).step_by(2) {
            sum += part[0] + 4.0 * part[1] + part[2];
            masses.push(sum);
        }
        masses.iter_mut().for_each(|mass| *mass *= 0.5 / sum);
        Self { shape, masses }
    }

    /// P(X ≤ x).
    pub(super) fn cdf(&self, x: f64) -> f64 {
        let at = x.abs() / STEP;
        let below = at.floor().min(self.masses.len() as f64) as usize;
        let mass = match self.masses.get(below..below + 2) {
            Some(two) => two[0] + (two[1] - two[0]) * (at - below as f64),
            None => 0.5,
        };
        if x < 0.0 { 0.5 - mass } else { 0.5 + mass }
    }

    /// Kolmogorov–Smirnov distance of the samples to this law, and its p-value.
    pub(super) fn distance(&self, samples: &[f64]) -> (f64, f64) {
        kolmogorov_smirnov(samples, |x| self.cdf(x))
    }

    /// The mean square of the samples, and the two-sided p-value of its being 1: squares have the variance 2 + 3/κ (fourth cumulant 3/κ), so
    /// that their mean over N is normal, asymptotically in N.
    pub(super) fn mean_square(&self, samples: &[f64]) -> (f64, f64) {
        let n = samples.len() as f64;
        let mean = samples.iter().map(|x| x * x).sum::<f64>() / n;
        let z = (mean - 1.0) * (n / (2.0 + 3.0 / self.shape)).sqrt();
        // What is no number does not pass.
        let p = normal_two_sided(z);
        (mean, if p.is_nan() { 0.0 } else { p })
    }
}

/// ln of y^ν·K_ν(y) for x in standard deviations.
fn ln_density(shape: f64, x: f64) -> f64 {
    let nu = shape - 0.5;
    let y = x * (2.0 * shape).sqrt();
    if y == 0.0 {
        return (nu - 1.0) * std::f64::consts::LN_2 + libm::lgamma(nu);
    }
    // −y cosh t + ln cosh(νt), with its peak near sinh t = ν/y.
    let exponent = |t: f64| {
        let turn = nu * t;
        -y * t.cosh() + turn + libm::log1p(libm::exp(-2.0 * turn)) - std::f64::consts::LN_2
    };
    let step = (0.25 / (nu + 1.0).sqrt()).min(1.0 / 32.0);
    let peak = (nu / y).asinh();
    let most = exponent(peak).max(exponent(0.0));
    let mut sum = 0.5 * libm::exp(exponent(0.0) - most);
    for k in 1.. {
        let t = step * f64::from(k);
        let term = libm::exp(exponent(t) - most);
        sum += term;
        if t > peak && term < 1e-20 {
            break;
        }
    }
    nu * libm::log(y) + most + libm::log(step * sum)
}

#[cfg(test)]
mod tests {
    use super::super::statistics::kolmogorov_smirnov_normal;
    use super::*;
    use crate::noise::Term;
    use crate::vocabulary::{Label, ReleaseId, Seed};

    fn sums(shares: u32, shape: f64, count: usize) -> Vec<f64> {
        let mut out = vec![0.0; count];
        let unit = (f64::from(shares)).sqrt().recip();
        for peer in 0..shares {
            let key = Seed::from_u64(3).key(Label::Scenario, peer, 0);
            Term::laplace(key, unit, shape).add_to(ReleaseId(1), 1.0, &mut out);
        }
        out
    }

    #[test]
    fn known_laws() {
        let laplace = SumLaw::new(1.0);
        for x in [0.0, 0.01, 0.5, 2.0, 7.3] {
            let expected = 1.0 - 0.5 * (-x * 2.0_f64.sqrt()).exp();
            assert!((laplace.cdf(x) - expected).abs() < 1e-4, "{x}");
            assert!((laplace.cdf(-x) + laplace.cdf(x) - 1.0).abs() < 1e-12);
        }
        // Two Laplace numbers: 1 − (2 + y)e^(−y)/4, y = 2x.
        let two = SumLaw::new(2.0);
        for x in [0.1, 1.0, 3.0_f64] {
            let expected = 1.0 - (2.0 + 2.0 * x) * (-2.0 * x).exp() / 4.0;
            assert!((two.cdf(x) - expected).abs() < 1e-4, "{x}");
        }
        // A thousand are nearly normal: Φ(1) = 0.8413.
        assert!((SumLaw::new(1000.0).cdf(1.0) - 0.8413).abs() < 5e-4);
        assert_eq!(laplace.cdf(1e9), 1.0);
    }

    /// Honest sums fail with probability 10⁻⁴ each; the seed is fixed.
    #[test]
    fn sums_pass_under_their_own_law_and_fail_under_others() {
        for (shares, shape) in [(1, 1.0), (20, 1.0 / 19.0), (3, 1.0)] {
            let law = SumLaw::new(f64::from(shares) * shape);
            let drawn = sums(shares, shape, 40_000);
            assert!(law.distance(&drawn).1 > 1e-4, "{shares} {shape}");
            assert!(law.mean_square(&drawn).1 > 1e-4, "{shares} {shape}");
            assert!(kolmogorov_smirnov_normal(&drawn).1 < 1e-6);
            let halved: Vec<f64> = drawn.iter().map(|x| 0.95 * x).collect();
            assert!(law.mean_square(&halved).1 < 1e-4);
            assert!(
                law.distance(&halved.iter().map(|x| x * 0.9).collect::<Vec<_>>())
                    .1
                    < 1e-6
            );
        }
        // A sum of shape ¾ is no Laplace number.
        let law = SumLaw::new(1.0);
        assert!(law.distance(&sums(3, 0.25, 40_000)).1 < 1e-4);
        assert_eq!(law.mean_square(&[f64::NAN]).1, 0.0);
    }
}
