//! The rounded Gaussian's probabilities, for whoever accounts for it.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use super::rounded::RoundedGaussian;

impl RoundedGaussian {
    /// ln P(Z = k) of the ideal law Z = round(N(0, σ²)), to about 10⁻¹³ absolute, at any distance from 0.
    ///
    /// With a = (|k| − ½)/σ and b = (|k| + ½)/σ this is ln(Q(a) − Q(b)), Q the upper tail of N(0, 1). Where the density
    /// hardly changes from a to b it is integrated (Gauss–Legendre, 16 nodes), elsewhere the tails are subtracted, as
    /// multiples of the density at a.
    #[must_use]
    pub fn ln_probability(&self, k: i64) -> f64 {
        let sigma = self.sigma();
        let distance = k.unsigned_abs() as f64;
        let (a, b) = ((distance - 0.5) / sigma, (distance + 0.5) / sigma);
        if (b - a) * b <= 3.0 {
            let (centre, half) = (distance / sigma, 0.5 / sigma);
            let integral: f64 = NODES
                .iter()
                .flat_map(|&(t, weight)| [(t * half, weight), (-t * half, weight)])
                .map(|(t, weight)| weight * half * libm::exp(-t * (centre + 0.5 * t)))
                .sum();
            return ln_density(centre) + libm::log(integral);
        }
        let shrunk = libm::exp(-0.5 * (b - a) * (b + a));
        ln_density(a) + libm::log(mills(a) - shrunk * mills(b))
    }
}

/// ln of the standard normal density.
fn ln_density(x: f64) -> f64 {
    -0.5 * (x * x + libm::log(2.0 * PI))
}

/// Q(x)/φ(x) for x ≥ 0: from `erfc` below 3, by Laplace's continued fraction x + 1/(x + 2/(x + 3/…)) from there.
fn mills(x: f64) -> f64 {
    if x < 3.0 {
        return 0.5 * libm::erfc(x * FRAC_1_SQRT_2) / libm::exp(ln_density(x));
    }
    let fraction = (1..=100).rev().fold(x, |below, n| x + f64::from(n) / below);
    1.0 / fraction
}

/// The positive nodes of the Gauss–Legendre rule with 16 nodes on [−1, 1], and their weights.
const NODES: [(f64, f64); 8] = [
    (0.09501250983763744, 0.1894506104550685),
    (0.2816035507792589, 0.18260341504492358),
    (0.45801677765722737, 0.16915651939500254),
    (0.6178762444026438, 0.14959598881657674),
    (0.755404408355003, 0.12462897125553388),
    (0.8656312023878318, 0.09515851168249279),
    (0.9445750230732326, 0.062253523938647894),
    (0.9894009349916499, 0.027152459411754096),
];
