//! Choosing a set of transcripts that tells two inputs apart.

use std::fmt;

use nalgebra::{DMatrix, DVector};

/// Thresholds that are tried for every score.
const STEPS: usize = 64;

/// Values up to which their covariance is estimated; beyond, their variances alone.
const MOST_CORRELATED: usize = 256;

/// Deviates by which a choice is held back where counts are few.
const CAUTION: f64 = 3.0;

/// A number that is computed of a transcript.
pub(super) enum Score {
    /// One value.
    Value(usize),
    /// Σ w_j·x_j with weights along the difference of the means.
    Weighted(Vec<f64>),
    /// Σ_j ((x_j − m_j)²/v_j − (x_j − m′_j)²/v′_j): (m, v, m′, v′) of every value.
    Likelihood(Vec<[f64; 4]>),
}

impl Score {
    fn of(&self, transcript: &[f64]) -> f64 {
        match self {
            Self::Value(value) => transcript[*value],
            Self::Weighted(weights) => weights.iter().zip(transcript).map(|(w, x)| w * x).sum(),
            Self::Likelihood(laws) => laws
                .iter()
                .zip(transcript)
                .map(|([m, v, n, w], x)| (x - m).powi(2) / v - (x - n).powi(2) / w)
                .sum(),
        }
    }

    /// The one value that is looked at.
    pub(super) fn values(&self) -> Vec<usize> {
        match self {
            Self::Value(value) => vec![*value],
            Self::Weighted(_) | Self::Likelihood(_) => Vec::new(),
        }
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(value) => write!(f, "value {value}"),
            Self::Weighted(_) => write!(f, "all values, weighted by the difference of their means"),
            Self::Likelihood(_) => write!(f, "all values, by their means and variances"),
        }
    }
}

/// A set of transcripts: those whose score lies above, or below, a threshold.
pub(super) struct Guess {
    pub(super) score: Score,
    threshold: f64,
    above: bool,
    /// Whether the set is likelier with the record than without.
    pub(super) calls_with: bool,
}

impl Guess {
    fn holds(&self, score: f64) -> bool {
        match self.above {
            true => score > self.threshold,
            false => score < self.threshold,
        }
    }

    /// Runs in the set of the input that makes it likelier and of the other, and runs of each.
    pub(super) fn counts(&self, worlds: [&[f64]; 2], values: usize) -> (u64, u64, u64) {
        let [without, with] = worlds.map(|world| {
            let scores = world.chunks_exact(values).map(|run| self.score.of(run));
            scores.filter(|&score| self.holds(score)).count() as u64
        });
        let runs = (worlds[0].len() / values) as u64;
        match self.calls_with {
            true => (with, without, runs),
            false => (without, with, runs),
        }
    }
}

/// Chooses a set by runs without and with the record: the first half of them fits scores, the second compares thresholds.
pub(super) fn choose(worlds: [&[f64]; 2], values: usize, delta: f64) -> Guess {
    let fitted = worlds[0].len() / values / 2 * values;
    let moments = worlds.map(|world| Moments::of(&world[..fitted], values));
    let mut scores: Vec<Score> = (0..values).map(Score::Value).collect();
    scores.push(Score::Weighted(weights(&moments, values)));
    let [without, with] = &moments;
    let laws = (0..values).map(|j| {
        [
            without.means[j],
            without.variance(j, with),
            with.means[j],
            with.variance(j, without),
        ]
    });
    scores.push(Score::Likelihood(laws.collect()));
    let compared = worlds.map(|world| &world[fitted..]);
    let mut best: Option<(f64, Guess)> = None;
    for score in scores {
        let found = best_threshold(score, compared, values, delta);
        if best.as_ref().is_none_or(|(worth, _)| found.0 > *worth) {
            best = Some(found);
        }
    }
    best.map_or_else(nothing, |(_, guess)| guess)
}

/// No transcript at all.
fn nothing() -> Guess {
    Guess {
        score: Score::Weighted(Vec::new()),
        threshold: f64::INFINITY,
        above: true,
        calls_with: true,
    }
}

/// The threshold of a score with which the counts refute the largest ε, and that ε, less what chance allows.
fn best_threshold(score: Score, worlds: [&[f64]; 2], values: usize, delta: f64) -> (f64, Guess) {
    let scores = worlds.map(|world| {
        let mut scores: Vec<f64> = world
            .chunks_exact(values)
            .map(|run| score.of(run))
            .collect();
        scores.sort_by(f64::total_cmp);
        scores
    });
    let mut pooled = scores.concat();
    pooled.sort_by(f64::total_cmp);
    let runs = scores[0].len() as f64;
    let mut best = (f64::NEG_INFINITY, 0.0, true, true);
    for step in 1..STEPS {
        let at = (step * pooled.len() / STEPS).clamp(1, pooled.len() - 1);
        // Between two scores, so that as many runs that count lie on either side; two equal ones are kept apart from what lies above.
        let threshold = pooled[at - 1] / 2.0 + pooled[at] / 2.0;
        for above in [true, false] {
            let [without, with] = [0, 1].map(|world: usize| {
                let scores = &scores[world];
                let inside = match above {
                    true => scores.len() - scores.partition_point(|&x| x <= threshold),
                    false => scores.partition_point(|&x| x < threshold),
                };
                inside as f64
            });
            for (calls_with, right, wrong) in [(true, with, without), (false, without, with)] {
                let worth = worth(right, wrong, runs, delta);
                if worth > best.0 {
                    best = (worth, threshold, above, calls_with);
                }
            }
        }
    }
    let (worth, threshold, above, calls_with) = best;
    let guess = Guess {
        score,
        threshold,
        above,
        calls_with,
    };
    (worth, guess)
}

/// ln((p − δ)/a) of these counts, less [`CAUTION`] standard deviations: what the runs that count may be expected to show.
fn worth(right: f64, wrong: f64, runs: f64, delta: f64) -> f64 {
    let (p, a) = (right / (runs + 1.0), (wrong + 1.0) / (runs + 1.0));
    if p <= delta {
        return f64::NEG_INFINITY;
    }
    let deviation = ((1.0 - p) / right + (1.0 - a).max(0.0) / (wrong + 1.0)).sqrt();
    ((p - delta) / a).ln() - CAUTION * deviation
}

/// Means and variances of every value.
struct Moments<'a> {
    world: &'a [f64],
    means: Vec<f64>,
    variances: Vec<f64>,
}

impl<'a> Moments<'a> {
    fn of(world: &'a [f64], values: usize) -> Self {
        let runs = (world.len() / values) as f64;
        let at = |j: usize| world.iter().skip(j).step_by(values);
        let means: Vec<f64> = (0..values).map(|j| at(j).sum::<f64>() / runs).collect();
        let variance = |j: usize| at(j).map(|x| (x - means[j]).powi(2)).sum::<f64>() / runs;
        let variances = (0..values).map(variance).collect();
        Self {
            world,
            means,
            variances,
        }
    }

    /// Variance of a value, never so small beside the other input's that it alone decides.
    fn variance(&self, j: usize, other: &Self) -> f64 {
        let apart = (self.means[j] - other.means[j]).powi(2);
        (self.variances[j] + 1e-6 * (other.variances[j] + apart)).max(f64::MIN_POSITIVE)
    }
}

/// Weights along the difference of the means: by the inverse of the covariance where there are runs enough to estimate it, by variances otherwise.
fn weights([without, with]: &[Moments<'_>; 2], values: usize) -> Vec<f64> {
    let apart: Vec<f64> = (0..values)
        .map(|j| with.means[j] - without.means[j])
        .collect();
    let diagonal: Vec<f64> = (0..values)
        .map(|j| without.variance(j, with) + with.variance(j, without))
        .collect();
    let runs = without.world.len() / values;
    let by_variance = || apart.iter().zip(&diagonal).map(|(d, v)| d / v).collect();
    if values == 1 || values > MOST_CORRELATED || runs < 4 * values {
        return by_variance();
    }
    let mut covariance = DMatrix::zeros(values, values);
    for moments in [without, with] {
        for run in moments.world.chunks_exact(values) {
            let centred = DVector::from_fn(values, |j, _| {
                (run[j] - moments.means[j]) / diagonal[j].sqrt()
            });
            covariance.ger(1.0 / runs as f64, &centred, &centred, 1.0);
        }
    }
    for j in 0..values {
        covariance[(j, j)] += 1e-6;
    }
    let scaled = DVector::from_fn(values, |j, _| apart[j] / diagonal[j].sqrt());
    let Some(factor) = covariance.cholesky() else {
        return by_variance();
    };
    let solved = factor.solve(&scaled);
    solved
        .iter()
        .zip(&diagonal)
        .map(|(w, v)| w / v.sqrt())
        .collect()
}
