//! By which rule the threshold is found, and its public numbers.

use serde::{Deserialize, Serialize};

use super::grid;
use crate::algorithm::AlgorithmError;

/// How the power method clips what rows contribute: `algorithm.clip` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClipRule {
    /// Not at all.
    #[default]
    None,
    /// To a threshold from a noisy histogram of lengths.
    Histogram,
    /// To a threshold that follows a noisy count, by a factor per iteration.
    Geometric,
    /// By AboveThreshold, which only somebody who sees all rows can run; a reconstruction.
    SparseVector,
}

impl ClipRule {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Histogram => "histogram",
            Self::Geometric => "geometric",
            Self::SparseVector => "sparse-vector",
        }
    }

    /// Whether contributions are as long as they are.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// A rule with its public numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clip {
    /// How the threshold is found.
    pub rule: ClipRule,
    /// f: the share of μ² that finding thresholds spends, strictly between 0 and 1.
    pub share: f64,
    /// γ: the share of the slots whose rows are to be within the threshold, strictly between 0 and 1.
    pub quantile: f64,
    /// Of a histogram: whether it travels with the product of its iteration and serves the next one.
    #[serde(default)]
    pub lag: bool,
    /// m: slots for rows of all peers, filled or not.
    pub slots: usize,
    /// ε_s: what one AboveThreshold of `sparse-vector` spends; 0 for the others, and where there is no noise.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub test_epsilon: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// η: how fast the geometric rule follows.
const FOLLOWING: f64 = 2.0;

/// The part of γ's complement that AboveThreshold lets be left out, of all slots: 2 % at γ = 0.95.
const LEFT_OUT: f64 = 0.4;

impl Clip {
    /// (1 − γ)m: how many rows may be longer than the threshold. A histogram whose noise has a larger standard deviation says little.
    #[must_use]
    pub fn most_above(&self) -> f64 {
        (1.0 - self.quantile) * self.slots as f64
    }

    /// τ: how many rows AboveThreshold may leave out.
    #[must_use]
    pub fn most_left_out(&self) -> f64 {
        LEFT_OUT * self.most_above()
    }

    /// The next threshold, from the one at hand and the counts that were released with it.
    pub(super) fn next(&self, threshold: f64, counts: &[f64]) -> f64 {
        match self.rule {
            ClipRule::Histogram => grid::chosen(counts, self.most_above()),
            ClipRule::Geometric => {
                let within = counts.first().copied().unwrap_or(0.0) / self.slots as f64;
                // A share is between 0 and 1, whatever noise says.
                let excess = within.clamp(0.0, 1.0) - self.quantile;
                let next = threshold * libm::exp(-FOLLOWING * excess);
                next.clamp(grid::threshold(grid::THRESHOLDS - 1), 1.0)
            }
            ClipRule::None | ClipRule::SparseVector => threshold,
        }
    }

    /// Refuses numbers that it cannot work with in so many iterations.
    pub(super) fn check(&self, iterations: u32) -> Result<(), AlgorithmError> {
        let wrong = |key, range, found| Err(AlgorithmError::Number { key, range, found });
        let part = |x: f64| x > 0.0 && x < 1.0;
        if !part(self.share) {
            return wrong("clip_share", "strictly between 0 and 1", self.share);
        }
        if !part(self.quantile) {
            return wrong("clip_quantile", "strictly between 0 and 1", self.quantile);
        }
        if self.slots == 0 {
            return wrong("clip", "of data with at least one row", 0.0);
        }
        let rule = self.rule;
        if rule.is_none() {
            return wrong(
                "clip",
                "a rule: without one choose algorithm.kind = \"power\"",
                0.0,
            );
        }
        if self.lag && rule != ClipRule::Histogram {
            return wrong("clip_lag", "left out, but with clip = \"histogram\"", 1.0);
        }
        if !(self.test_epsilon >= 0.0 && self.test_epsilon.is_finite()) {
            let allowed = "at least 0 for every search of sparse-vector";
            return wrong("clip", allowed, self.test_epsilon);
        }
        let later = self.lag || rule == ClipRule::Geometric;
        match later && iterations < 2 {
            true => Err(AlgorithmError::key(
                "clip",
                format!(
                    "= \"{}\" finds in one iteration the threshold of the next: set algorithm.iterations to at least 2, or \
                     algorithm.clip = \"histogram\" without clip_lag",
                    rule.name()
                ),
            )),
            false => Ok(()),
        }
    }

    /// What tells it from others, by name.
    pub(super) fn settings(&self) -> Vec<(&'static str, f64)> {
        vec![
            (self.rule.name(), 1.0),
            ("clip share", self.share),
            ("clip quantile", self.quantile),
            ("clip lag", f64::from(u8::from(self.lag))),
            ("slots", self.slots as f64),
            ("test epsilon", self.test_epsilon),
        ]
    }
}
