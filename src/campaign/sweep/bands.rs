//! Means over runs with bootstrap bands.

use rand::RngExt;

use super::curve::CurvePoint;
use crate::vocabulary::{Label, Seed};

/// Resamples of every band.
const RESAMPLES: usize = 1000;

/// Share of resampled means inside the band.
const COVERAGE: f64 = 0.99;

/// The mean of these runs and its 99 % percentile-bootstrap band: 1000 means of as many values drawn with
/// replacement. `None` without values.
///
/// `stream` numbers the grid point: the same resamples for every method, so that bands of methods differ by
/// the methods alone.
///
/// # Source
/// B. Efron & R. Tibshirani, An Introduction to the Bootstrap (1993), section 13.3; P1, section B.2 (1000
/// resamples, 99 %).
pub(super) fn point(x: f64, values: &[f64], seed: &Seed, stream: u32) -> Option<CurvePoint> {
    if values.is_empty() {
        return None;
    }
    let mut generator = seed.key(Label::Resampling, 0, stream).stream(0, 0);
    let runs = values.len();
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..runs).map(|_| values[generator.random_range(0..runs)]);
            drawn.sum::<f64>() / runs as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let tail = 0.5 * (1.0 - COVERAGE);
    Some(CurvePoint {
        x,
        runs,
        mean: values.iter().sum::<f64>() / runs as f64,
        low: quantile(&means, tail),
        high: quantile(&means, 1.0 - tail),
    })
}

/// The quantile of ascending values, linear between neighbours.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = share * (sorted.len() - 1) as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use rand::distr::Distribution;
    use rand_distr::StandardNormal;

    use super::*;

    #[test]
    fn quantiles_of_known_values() {
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.0), 0.0);
        assert!((quantile(&values, 0.005) - 0.5).abs() < 1e-12);
        assert_eq!(quantile(&values, 1.0), 100.0);
    }

    /// With 40 normal values the percentile band of the mean is nearly ±2.576·σ/√40; over 400 samples the share
    /// of bands that miss the mean 0 is about 1.5 %. The chance of 16 or more misses at 1.5 % is below 1e-3, of
    /// fewer than 16 at 10 % (a 90 % band) below 1e-5. The seeds are fixed.
    #[test]
    fn bands_cover_the_mean_as_often_as_they_say() {
        let root = Seed::from_u64(5);
        let missed = (0..400_u32)
            .filter(|&sample| {
                let mut generator = root.repetition(sample).generator(Label::Scenario);
                let values: Vec<f64> = (0..40)
                    .map(|_| StandardNormal.sample(&mut generator))
                    .collect();
                let band = point(1.0, &values, &root, sample).expect("values");
                assert!(band.low < band.mean && band.mean < band.high);
                assert!((band.high - band.low) < 2.0, "{band:?}");
                band.low > 0.0 || band.high < 0.0
            })
            .count();
        assert!((1..16).contains(&missed), "{missed}");
    }
}
