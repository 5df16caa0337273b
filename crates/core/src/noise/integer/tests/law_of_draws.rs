//! Whether draws follow the law, and whether those of a wrong sampler are told apart.
//!
//! False alarms: every check below fails a right sampler with a probability below 10⁻⁸. Streams are fixed, so in truth
//! never.

use statrs::distribution::{ChiSquared, ContinuousCDF, Normal};

use super::super::law;
use super::super::levels::{Levels, levels};
use super::super::table::Table;
use super::super::{DiscreteGaussian, RoundedGaussian};
use crate::vocabulary::{CHUNK, Label, Seed, StreamKey};

fn key(subject: u32) -> StreamKey {
    Seed::from_u64(20_261_122).key(Label::Scenario, subject, 0)
}

/// Counts of draws between two limits, in cells of equal width, and beyond them.
struct Counts {
    sigma: f64,
    /// The first cell begins here, the last one ends before minus this plus 1.
    lowest: i64,
    width: i64,
    counts: Vec<u64>,
    total: u64,
    squares: f64,
}

impl Counts {
    /// Cells of σ/8, or of one number, up to `reach` standard deviations.
    fn new(sigma: f64, reach: f64) -> Self {
        let width = (sigma / 8.0).max(1.0) as i64;
        let cells = ((reach * sigma / width as f64) as i64).max(1);
        Self {
            sigma,
            lowest: -cells * width,
            width,
            counts: vec![0; 2 * cells as usize + 2],
            total: 0,
            squares: 0.0,
        }
    }

    fn add(&mut self, draws: &[i64]) {
        let last = self.counts.len() as i64 - 1;
        for draw in draws {
            let cell = (draw - self.lowest).div_euclid(self.width) + 1;
            self.counts[cell.clamp(0, last) as usize] += 1;
            self.squares += (*draw as f64).powi(2);
        }
        self.total += draws.len() as u64;
    }

    /// The probability that a right sampler's counts are at least as far from what `cumulative` expects (Pearson's χ²).
    fn p_value(&self, cumulative: impl Fn(i64) -> f64) -> f64 {
        let mut before = 0.0;
        let mut statistic = 0.0;
        for (cell, &count) in self.counts.iter().enumerate() {
            let end = self.lowest + cell as i64 * self.width;
            let last = cell + 1 == self.counts.len();
            let up_to = if last { 1.0 } else { cumulative(end - 1) };
            let expected = (up_to - before) * self.total as f64;
            before = up_to;
            assert!(expected > 5.0, "a cell without expectation");
            statistic += (count as f64 - expected).powi(2) / expected;
        }
        let freedom = (self.counts.len() - 1) as f64;
        ChiSquared::new(freedom).unwrap().sf(statistic)
    }

    /// As [`Self::p_value`], for the rounded Gaussian.
    fn p_value_of_rounded(&self) -> f64 {
        let normal = Normal::new(0.0, self.sigma).unwrap();
        self.p_value(|x| normal.cdf(x as f64 + 0.5))
    }

    /// Squares' mean over σ² + 1/12, in standard errors from 1.
    fn variance_error(&self) -> f64 {
        let ratio = self.squares / self.total as f64 / (self.sigma.powi(2) + 1.0 / 12.0);
        (ratio - 1.0) / (2.0 / self.total as f64).sqrt()
    }
}

/// A million draws, in chunks.
fn million(fill: impl Fn((u32, u64), &mut [i64])) -> Vec<i64> {
    let mut draws = vec![0; 1_000_000];
    for (chunk, values) in (0..).zip(draws.chunks_mut(CHUNK)) {
        fill((1, chunk), values);
    }
    draws
}

/// What a million draws say of a law: χ² in cells up to 3.5σ, the variance, what lies beyond 4σ (63 expected), and how
/// the last six bits are spread.
fn follows(draws: &[i64], sigma: f64) -> Result<(), String> {
    let mut counts = Counts::new(sigma, 3.5);
    counts.add(draws);
    let p = counts.p_value_of_rounded();
    if p < 1e-9 {
        return Err(format!("counts: p = {p:e}"));
    }
    // Below 2 a rounded variable's variance is not σ² + 1/12 to a thousandth.
    let variance = counts.variance_error();
    if sigma >= 2.0 && variance.abs() > 6.0 {
        return Err(format!("variance: {variance} standard errors"));
    }
    if sigma >= 50.0 {
        // Poisson of mean 63.3 leaves 15 … 130 with a probability below 1e-9.
        let far = draws
            .iter()
            .filter(|x| x.abs() as f64 > 4.0 * sigma)
            .count();
        if !(15..=130).contains(&far) {
            return Err(format!("tail: {far} draws"));
        }
        // Uniform within exp(−2π²(σ/64)²), below 0.2 of a standard error of a cell from σ = 50 on.
        let mut residues = [0_u32; 64];
        draws
            .iter()
            .for_each(|x| residues[x.rem_euclid(64) as usize] += 1);
        let expected = draws.len() as f64 / 64.0;
        let cells = residues
            .iter()
            .map(|&n| (f64::from(n) - expected).powi(2) / expected);
        let p = ChiSquared::new(63.0).unwrap().sf(cells.sum());
        if p < 1e-9 {
            return Err(format!("last bits: p = {p:e}"));
        }
    }
    Ok(())
}

const SIGMAS: [f64; 9] = [0.5, 1.0, 2.7, 20.0, 95.5, 300.0, 4096.0, 1_048_576.0, 1e12];

#[test]
fn a_million_draws_follow_the_law() {
    for (subject, sigma) in (0..).zip(SIGMAS) {
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let key = key(subject);
        let draws = million(|at, out| gaussian.fill(&key, at, out));
        assert_eq!(follows(&draws, sigma), Ok(()), "{sigma}");
        assert!(draws.iter().all(|x| x.abs() <= gaussian.largest()));
        // Neighbours in a stream are uncorrelated: a mean of products has a standard error of 10⁻³.
        let products = draws.windows(2).map(|w| w[0] as f64 * w[1] as f64);
        let scale = (sigma * sigma + 1.0 / 12.0) * draws.len() as f64;
        let correlation = products.sum::<f64>() / scale;
        assert!(correlation.abs() < 6e-3, "{sigma}: {correlation}");
    }
}

#[test]
fn wrong_samplers_are_told_apart() {
    let sigma = 300.0;
    let right = RoundedGaussian::new(sigma).unwrap();
    let key = key(1);
    let of = |gaussian: &RoundedGaussian| million(|at, out| gaussian.fill(&key, at, out));
    assert_eq!(follows(&of(&right), sigma), Ok(()));
    let caught = |draws: &[i64], what: &str| {
        let verdict = follows(draws, sigma).expect_err(what);
        assert!(verdict.starts_with(what), "{verdict}");
    };

    caught(&of(&RoundedGaussian::new(1.01 * sigma).unwrap()), "counts");
    caught(&of(&RoundedGaussian::new(0.99 * sigma).unwrap()), "counts");
    let absolute: Vec<i64> = of(&right).iter().map(|x| x.abs()).collect();
    caught(&absolute, "counts");
    let cut = of(&right)
        .iter()
        .map(|&x| if x.abs() > 1200 { x / 2 } else { x })
        .collect::<Vec<_>>();
    caught(&cut, "tail");
    // Without the table at the bottom all draws are multiples of the top level's factor.
    assert!(right.top > 1);
    let mut coarse = right.clone();
    coarse.multiples = None;
    assert!(follows(&of(&coarse), sigma).is_err());
    // One threshold moved to its neighbour: nothing is ever ±3, but ±2 so often as both.
    let sigma = 2.7;
    let mut moved = RoundedGaussian::new(sigma).unwrap();
    assert_eq!(follows(&of(&moved), sigma), Ok(()));
    let Levels::One(variance) = levels(sigma) else {
        panic!("one table");
    };
    let mut thresholds = law::rounded(variance);
    thresholds[2] = thresholds[3];
    moved.own = Table::new(&thresholds);
    assert!(follows(&of(&moved), sigma).is_err());
}

/// The discrete Gaussian's cumulative probabilities, from its weights.
fn discrete_cumulative(sigma: f64) -> impl Fn(i64) -> f64 {
    let reach = (12.0 * sigma) as i64 + 2;
    let weight = |x: i64| (-(x as f64 / sigma).powi(2) / 2.0).exp();
    let mut sums = Vec::new();
    let mut sum = 0.0;
    for x in -reach..=reach {
        sum += weight(x);
        sums.push(sum);
    }
    move |x| sums[(x + reach) as usize] / sum
}

#[test]
fn discrete_gaussians_follow_their_law_and_not_another() {
    for (subject, sigma) in [(0, 0.5), (1, 1.0), (2, 1.7), (3, 31.25)] {
        let gaussian = DiscreteGaussian::new(sigma).unwrap();
        let mut random = key(subject).stream(0, 0);
        let draws: Vec<i64> = (0..200_000).map(|_| gaussian.draw(&mut random)).collect();
        let mut counts = Counts::new(sigma, 3.0);
        counts.add(&draws);
        let p = counts.p_value(discrete_cumulative(sigma));
        assert!(p > 1e-9, "{sigma}: {p:e}");
        let p = counts.p_value(discrete_cumulative(1.03 * sigma));
        assert!(p < 1e-9, "{sigma}: {p:e}");
        if sigma < 1.0 {
            let p = counts.p_value_of_rounded();
            assert!(p < 1e-9, "rounded and discrete differ at {sigma}: {p:e}");
        }
    }
    // Wide ones differ from rounded ones by less than anybody sees.
    let sigma = 1e6 + 1.0 / 3.0;
    let gaussian = DiscreteGaussian::new(sigma).unwrap();
    let mut random = key(9).stream(0, 0);
    let draws: Vec<i64> = (0..100_000).map(|_| gaussian.draw(&mut random)).collect();
    let mut counts = Counts::new(sigma, 3.0);
    counts.add(&draws);
    assert!(counts.p_value_of_rounded() > 1e-9);
}

/// Run in a release build: seconds there, minutes elsewhere.
#[test]
#[ignore = "a billion draws per width"]
fn a_billion_draws_follow_the_law() {
    for (subject, sigma) in [
        (20, 0.5),
        (21, 3.3),
        (22, 95.5),
        (23, 1000.0),
        (24, 1_048_576.0),
    ] {
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        let key = key(subject);
        let mut counts = Counts::new(sigma, if sigma < 1.0 { 3.0 } else { 5.2 });
        let mut wrong = Counts::new(sigma * 1.0003, if sigma < 1.0 { 3.0 } else { 5.2 });
        let mut values = vec![0; 1 << 20];
        for release in 0..954 {
            gaussian.fill_all(&key, release, &mut values);
            counts.add(&values);
            wrong.add(&values);
        }
        let (p, variance) = (counts.p_value_of_rounded(), counts.variance_error());
        println!(
            "σ = {sigma}: {} draws, p = {p}, variance off by {variance} standard errors",
            counts.total
        );
        assert!(p > 1e-9, "{sigma}: {p:e}");
        assert!(sigma < 2.0 || variance.abs() < 6.0, "{sigma}: {variance}");
        // A standard deviation three parts in ten thousand larger would be seen.
        assert!(wrong.p_value_of_rounded() < 1e-9, "{sigma}");
    }
}
