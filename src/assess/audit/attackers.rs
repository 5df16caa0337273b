//! Attackers guess the world from a few numbers of each transcript; the best of them is judged.

use serde::Serialize;

use super::confidence::{epsilon_lower_bound, gdp_lower_bound};

/// Numbers kept of a transcript.
pub(super) const FEATURES: usize = 6;

/// What attackers look at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// One statistic per attacker.
    pub(super) values: [f64; FEATURES],
    /// Σ_l μ_l² of this pair of worlds along the run.
    pub(super) loss: f64,
}

/// Every run of both worlds.
pub(super) struct Trials {
    pub(super) worlds: [Vec<Features>; 2],
}

impl Trials {
    /// The root mean square μ of the pair of worlds.
    pub(super) fn pair_mu(&self) -> f64 {
        let all = self.worlds.iter().flatten();
        let (sum, count) = all.fold((0.0, 0_usize), |(sum, count), f| (sum + f.loss, count + 1));
        (sum / count as f64).sqrt()
    }
}

/// The attackers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AttackerKind {
    /// The likelihood ratio of the planned noise over all honest peers: optimal against the plan.
    LikelihoodRatio,
    /// What the victim published, alone: finds missing pairwise noise.
    VictimAlone,
    /// The size of the own noise left in everybody's residuals: finds noise whose scale depends on the data.
    ResidualSize,
    /// Differences between iterations: finds noise used twice.
    Differences,
    /// The likelihood ratio under pairwise noise of the size that everybody else's residuals show: finds pairwise
    /// noise that is too small.
    ScaledPairwise,
    /// The likelihood ratio under pairwise noise that is the same in every iteration: finds reused pairwise streams.
    ReusedPairwise,
}

const ATTACKERS: [AttackerKind; FEATURES] = [
    AttackerKind::LikelihoodRatio,
    AttackerKind::VictimAlone,
    AttackerKind::ResidualSize,
    AttackerKind::Differences,
    AttackerKind::ScaledPairwise,
    AttackerKind::ReusedPairwise,
];

/// The best attacker and its lower bound.
pub(super) struct Verdict {
    pub(super) attacker: AttackerKind,
    pub(super) mu: f64,
    pub(super) epsilon: f64,
}

/// Chooses attacker, direction and threshold on the first half of the trials and judges that choice on
/// the second, so that choosing costs no confidence.
pub(super) fn judge(trials: &Trials, delta: f64, significance: f64) -> Verdict {
    let half = trials.worlds[0].len() / 2;
    let part = |feature: usize, first: bool| {
        let choose = |world: &[Features]| {
            let (training, judging) = world.split_at(half);
            let chosen = if first {
                training
            } else {
                &judging[..half.min(judging.len())]
            };
            chosen
                .iter()
                .map(|f| f.values[feature])
                .collect::<Vec<f64>>()
        };
        [choose(&trials.worlds[0]), choose(&trials.worlds[1])]
    };
    let mut best = (f64::NEG_INFINITY, 0, 0.0, 1.0);
    for feature in 0..FEATURES {
        let [without, with] = part(feature, true);
        let mut pooled: Vec<f64> = without.iter().chain(&with).copied().collect();
        pooled.sort_by(f64::total_cmp);
        for step in 1..64 {
            let threshold = pooled[step * pooled.len() / 64];
            for sign in [1.0, -1.0] {
                let (right, wrong, count) = counts(&without, &with, threshold, sign);
                let mu = gdp_lower_bound(right, wrong, count, significance);
                if mu > best.0 {
                    best = (mu, feature, threshold, sign);
                }
            }
        }
    }
    let (_, feature, threshold, sign) = best;
    let [without, with] = part(feature, false);
    let (right, wrong, count) = counts(&without, &with, threshold, sign);
    Verdict {
        attacker: ATTACKERS[feature],
        mu: gdp_lower_bound(right, wrong, count, significance).max(0.0),
        epsilon: epsilon_lower_bound(right, wrong, count, delta, significance),
    }
}

/// Runs called world 1 that are, runs called world 1 that are not, and runs per world.
fn counts(without: &[f64], with: &[f64], threshold: f64, sign: f64) -> (u64, u64, u64) {
    let called = |runs: &[f64]| {
        runs.iter()
            .filter(|&&x| sign * x > sign * threshold)
            .count() as u64
    };
    (
        called(with),
        called(without),
        without.len().min(with.len()) as u64,
    )
}
