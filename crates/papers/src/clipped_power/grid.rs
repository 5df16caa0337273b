//! The public thresholds, the bin that a contribution falls into, and the threshold that a histogram leads to.

use std::f64::consts::FRAC_1_SQRT_2;

/// Thresholds θ_0 = 1 > θ_1 > … > θ_16 = 1/256.
pub(super) const THRESHOLDS: usize = 17;

/// Bins of a histogram, one for every threshold below 1. What is longer than 1 would be one more, and no row of norm at most 1 is.
pub(super) const BINS: usize = THRESHOLDS - 1;

/// θ_j = 2^(−j/2).
pub(super) fn threshold(j: usize) -> f64 {
    let whole = 0.5_f64.powi((j / 2) as i32);
    match j % 2 {
        0 => whole,
        _ => whole * FRAC_1_SQRT_2,
    }
}

/// Which bin a contribution of length c adds 1 to, from 0: the first j ≥ 1 with c > θ_j, less 1; none where c ≤ θ_16.
pub(super) fn bin(length: f64) -> Option<usize> {
    (1..THRESHOLDS)
        .find(|&j| length > threshold(j))
        .map(|j| j - 1)
}

/// The least threshold above which there are at most so many rows, by a histogram under noise; 1 where there is none.
///
/// H_j = Σ_{j' ≤ j} of the bins counts the rows with c > θ_j. Noise may let H_j fall again: the least threshold of all is taken.
pub(super) fn chosen(histogram: &[f64], most_above: f64) -> f64 {
    let mut above = 0.0;
    let mut least = 1.0;
    for (j, count) in (1..THRESHOLDS).zip(histogram) {
        above += count;
        if above <= most_above {
            least = threshold(j);
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_halve_every_two() {
        assert_eq!(threshold(0), 1.0);
        for j in 0..THRESHOLDS {
            let exact = (-0.5 * j as f64).exp2();
            assert!((threshold(j) / exact - 1.0).abs() < 1e-15, "{j}");
        }
        assert_eq!(threshold(THRESHOLDS - 1), 1.0 / 256.0);
    }

    /// H_j without noise is exactly #{c > θ_j}, at the thresholds too. With bins (θ_{j+1}, θ_j] it would be #{c > θ_{j+1}}.
    #[test]
    fn partial_sums_count_what_is_longer_than_each_threshold() {
        let lengths: Vec<f64> = (0..THRESHOLDS)
            .flat_map(|j| {
                let at = threshold(j);
                [at, at.next_up().min(1.0), at.next_down(), 0.9 * at]
            })
            .chain([0.0, 1e-300, f64::NAN])
            .collect();
        let mut histogram = [0.0; BINS];
        for &length in &lengths {
            if let Some(bin) = bin(length) {
                histogram[bin] += 1.0;
            }
        }
        for j in 1..THRESHOLDS {
            let sum: f64 = histogram[..j].iter().sum();
            let counted = lengths.iter().filter(|c| **c > threshold(j)).count();
            assert_eq!(sum, counted as f64, "{j}");
        }
    }

    #[test]
    fn the_threshold_is_the_least_that_leaves_few_enough_above() {
        // A hundred rows of length 0.4: longer than θ_3 = 0.354, not longer than θ_2 = 1/2.
        let mut histogram = [0.0; BINS];
        histogram[bin(0.4).expect("long")] = 100.0;
        assert_eq!(chosen(&histogram, 5.0), 0.5);
        assert_eq!(chosen(&histogram, 100.0), threshold(16));
        assert_eq!(
            chosen(&[7.0; BINS], 5.0),
            1.0,
            "nothing below 1 leaves few enough"
        );
        // Noise below zero is a count like any other.
        assert_eq!(chosen(&[9.0, -8.0], 5.0), 0.5);
        assert_eq!(chosen(&[f64::NAN; BINS], 5.0), 1.0);
    }
}
