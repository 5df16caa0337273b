//! How much light users differ from the others in what they like, as all that a pilot measured of items tells it together.

/// The most that slopes vary: beyond, probabilities of light users are 0 or 1.
const MOST: f64 = 9.0;
/// Halvings of the interval of variances.
const HALVINGS: usize = 40;

/// What was measured of the slope of one item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    /// What is measured beyond what slope 0 explains, y.
    pub(super) off: f64,
    /// What a slope of 1 explains, K, above 0.
    pub(super) derivative: f64,
    /// The variance of the noise in `off`.
    pub(super) variance: f64,
}

impl Measured {
    /// The most likely slope where slopes are normal beforehand with this variance: τ²·K·y/(τ²·K² + v).
    pub(super) fn most_likely(&self, variance: f64) -> f64 {
        let of_slope = variance * self.derivative;
        let all = of_slope * self.derivative + self.variance;
        if all > 0.0 {
            of_slope * self.off / all
        } else {
            // Neither noise nor slopes.
            0.0
        }
    }
}

/// The variance τ² of slopes under which what was measured of all items is most likely, from 0 to 9.
///
/// y/K is a slope with noise of variance s² = v/K². Slopes are taken as normal about a common mean with variance τ², so that y/K has variance
/// τ² + s². The mean takes no part in slopes, since a number that all items have in common is one of the users; it keeps an error in the sum of all shares
/// from being read as slopes. The likelihood has its largest value where Σ [w²·(y/K − mean)² − w] = 0, w = 1/(τ² + s²), or at 0 where that sum is
/// not positive there: then noise alone explains what was measured, and all slopes are 0.
///
/// # Source
/// Efron & Morris 1973 (estimated prior variances); Harville 1977 (their likelihood).
pub(super) fn variance_of_slopes(measured: &[Measured]) -> f64 {
    let excess = |variance: f64| {
        let weight = |one: &Measured| {
            let noise = one.variance / (one.derivative * one.derivative);
            (variance + noise).max(1e-12).recip()
        };
        let weighted = measured
            .iter()
            .map(|one| (weight(one), one.off / one.derivative));
        let (sum, first) = weighted
            .clone()
            .fold((0.0, 0.0), |(sum, first), (weight, slope)| {
                (sum + weight, first + weight * slope)
            });
        let mean = first / sum;
        weighted
            .map(|(weight, slope)| weight * weight * (slope - mean).powi(2) - weight)
            .sum::<f64>()
    };
    // NaN, of no items, is no excess.
    let least = excess(0.0);
    if least.is_nan() || least <= 0.0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, MOST);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        match excess(middle) > 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::vocabulary::{Label, Seed};

    /// Slopes of this standard deviation about a mean, each known up to noise.
    fn drawn(deviation: f64, mean: f64, noise: f64, items: usize) -> (Vec<f64>, Vec<Measured>) {
        let mut generator = Seed::from_u64(6).generator(Label::Scenario);
        let mut normal = || -> f64 { StandardNormal.sample(&mut generator) };
        let one = |item: usize| {
            let (slope, derivative) = (mean + deviation * normal(), 1.0 + (item % 7) as f64);
            let measured = Measured {
                off: derivative * slope + noise * normal(),
                derivative,
                variance: noise * noise,
            };
            (slope, measured)
        };
        (0..items).map(one).unzip()
    }

    /// Of 400 items: an estimate that is off by a fifth in 400 slopes known as well as these has a probability below 1e-6; seeds are fixed.
    #[test]
    fn what_noise_explains_is_no_slope_and_what_it_does_not_is() {
        for (deviation, mean, noise) in [(0.5, 0.0, 0.5), (1.0, 3.0, 1.0), (0.3, -1.0, 0.0)] {
            let found = variance_of_slopes(&drawn(deviation, mean, noise, 400).1).sqrt();
            assert!(
                (found / deviation - 1.0).abs() < 0.2,
                "{deviation}: {found}"
            );
        }
        // Noise that hides slopes, and none of them: an estimate of a standard deviation of 1.6 by less noise than there is.
        let hidden = variance_of_slopes(&drawn(0.0, 0.0, 20.0, 400).1).sqrt();
        assert!(hidden < 1.5, "{hidden}");
        let (_, mut quiet) = drawn(0.0, 0.0, 20.0, 400);
        quiet.iter_mut().for_each(|one| one.variance /= 4.0);
        assert!(variance_of_slopes(&quiet).sqrt() > hidden.max(1.5));
        assert_eq!(variance_of_slopes(&[]), 0.0);
    }

    /// The variance found makes the slopes nearer to the true ones than a fixed one does that is too large or too small.
    #[test]
    fn slopes_are_nearer_than_under_a_fixed_variance() {
        for (deviation, noise) in [(0.2, 4.0), (2.0, 1.0)] {
            let (slopes, measured) = drawn(deviation, 0.0, noise, 400);
            let missed = |variance: f64| -> f64 {
                let pairs = slopes.iter().zip(&measured);
                pairs
                    .map(|(slope, one)| (slope - one.most_likely(variance)).powi(2))
                    .sum()
            };
            let own = missed(variance_of_slopes(&measured));
            let fixed = if deviation < 1.0 { 1.0 } else { 0.01 };
            assert!(own < 0.5 * missed(fixed), "{own} {}", missed(fixed));
        }
    }
}
