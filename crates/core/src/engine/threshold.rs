//! AboveThreshold, as somebody who sees all rows can run it.

use rand::{Rng, RngExt};

use crate::algorithm::ThresholdSearch;

/// A Laplace variable of this scale.
///
/// That a search is private presumes real numbers; in f64 it is so up to the rounding of this.
fn laplace(scale: f64, rng: &mut impl Rng) -> f64 {
    // The uniform number is below 1, so that the exponential one is finite.
    let exponential = -libm::log1p(-rng.random::<f64>());
    match rng.random::<bool>() {
        true => scale * exponential,
        false => -scale * exponential,
    }
}

/// The first threshold at which the noisy count is no more than the noisy limit; 1 where there is none. Without noise where ε is 0.
///
/// `above` are the numbers of rows above each threshold. Every call draws the same number of variables, so that how many
/// thresholds were looked at does not show in what follows.
pub(super) fn search(search: &ThresholdSearch, above: &[f64], rng: &mut impl Rng) -> f64 {
    let mut noise = |scale: f64| match search.epsilon > 0.0 {
        true => laplace(scale / search.epsilon, rng),
        false => 0.0,
    };
    let limit = search.most_above + noise(2.0);
    let noisy: Vec<f64> = above.iter().map(|count| count + noise(4.0)).collect();
    let found = search.thresholds.iter().zip(noisy);
    let mut found = found.filter(|(_, count)| *count <= limit);
    found.next().map_or(1.0, |(threshold, _)| *threshold)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    fn of(epsilon: f64) -> ThresholdSearch {
        ThresholdSearch {
            thresholds: vec![0.1, 0.2, 0.5, 1.0],
            share: 0.1,
            most_above: 10.0,
            epsilon,
        }
    }

    #[test]
    fn without_noise_the_first_threshold_with_few_enough_above_is_taken() {
        let mut rng = Seed::from_u64(1).generator(Label::Scenario);
        let mut at = |above: [f64; 4]| search(&of(0.0), &above, &mut rng);
        assert_eq!(at([40.0, 11.0, 10.0, 0.0]), 0.5);
        assert_eq!(at([0.0; 4]), 0.1);
        assert_eq!(at([40.0; 4]), 1.0);
    }

    /// |x|/b is exponential and its sign is fair: means of 20,000 within five standard deviations.
    #[test]
    fn laplace_variables_have_their_scale() {
        let mut rng = Seed::from_u64(2).generator(Label::Scenario);
        let all: Vec<f64> = (0..20_000).map(|_| laplace(3.0, &mut rng)).collect();
        let count = all.len() as f64;
        let mean = all.iter().map(|x| x.abs()).sum::<f64>() / count / 3.0;
        let squares = all.iter().map(|x| x * x).sum::<f64>() / count / 9.0;
        let sign = all.iter().map(|x| x.signum()).sum::<f64>() / count;
        let sd = count.sqrt().recip();
        assert!((mean - 1.0).abs() < 5.0 * sd, "{mean}");
        // Of x²/b²: mean 2, variance 20.
        assert!(
            (squares - 2.0).abs() < 5.0 * 20.0_f64.sqrt() * sd,
            "{squares}"
        );
        assert!(sign.abs() < 5.0 * sd, "{sign}");
    }

    /// Two worlds that differ in one row: at no threshold do the frequencies of the outcomes differ by more than e^ε allows, and at some
    /// they differ by a good part of it, so that less noise would be seen. Five standard deviations of 40,000 runs are allowed.
    #[test]
    fn outcomes_of_neighbours_differ_by_no_more_than_the_search_spends() {
        let epsilon = 1.0;
        let runs = 40_000;
        let frequencies = |above: [f64; 4], seed| {
            let mut rng = Seed::from_u64(seed).generator(Label::Scenario);
            let mut counts = [0.0; 4];
            for _ in 0..runs {
                let found = search(&of(epsilon), &above, &mut rng);
                let place = [0.1, 0.2, 0.5, 1.0].iter().position(|t| *t == found);
                counts[place.expect("one of them")] += 1.0 / f64::from(runs);
            }
            counts
        };
        let a = frequencies([13.0, 11.0, 9.0, 0.0], 3);
        let b = frequencies([12.0, 10.0, 8.0, 0.0], 4);
        let mut largest = 0.0_f64;
        for (p, q) in a.iter().zip(&b) {
            let sd = ((p + q) / f64::from(runs)).sqrt();
            for (x, y) in [(p, q), (q, p)] {
                assert!(
                    x - 5.0 * sd <= f64::exp(epsilon) * (y + 5.0 * sd),
                    "{a:?} {b:?}"
                );
                largest = largest.max((x / y).ln());
            }
        }
        assert!(largest > 0.1, "{largest}");
    }
}
