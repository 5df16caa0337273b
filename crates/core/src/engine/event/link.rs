//! How long a message takes.

use chacha20::ChaCha20Rng;
use rand::RngExt;
use serde::{Deserialize, Serialize};

/// The latency of every link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Latency {
    /// Every message takes the same time.
    Constant {
        /// Microseconds.
        micros: u64,
    },
    /// Every message takes an independent, uniformly distributed time; messages may overtake each other.
    Uniform {
        /// Shortest time in microseconds.
        low_micros: u64,
        /// Longest time in microseconds.
        high_micros: u64,
    },
    /// Every message takes an independent, exponentially distributed time: one in e³ = 20 takes three times the mean.
    Exponential {
        /// The mean in microseconds.
        mean_micros: u64,
    },
    /// Every message takes an independent time T with a heavy tail, P(T > t) = (m/t)^{3/2} for t above the least m (Pareto): the mean is three times
    /// the least, the variance is infinite, and one message in a thousand takes a hundred times the least. None takes more than a hundred thousand times the least.
    HeavyTail {
        /// The least time in microseconds.
        least_micros: u64,
    },
}

/// The longest that a message takes under [`Latency::HeavyTail`], in units of the least: one in 3·10⁷ would take longer.
const LONGEST_TAIL: u64 = 100_000;

impl Latency {
    /// The longest time that this is about, for bounds: of laws without one a thousand times their parameter.
    pub(super) fn scale_micros(self) -> u64 {
        match self {
            Self::Constant { micros } => micros,
            Self::Uniform { high_micros, .. } => high_micros,
            Self::Exponential { mean_micros } => mean_micros.saturating_mul(1_000),
            Self::HeavyTail { least_micros } => least_micros.saturating_mul(LONGEST_TAIL),
        }
    }

    /// How long one copy takes, in microseconds.
    pub(super) fn draw(self, generator: &mut ChaCha20Rng) -> u64 {
        // Above 0, so that its logarithm and powers are numbers.
        let mut uniform = || generator.random_range(f64::EPSILON..1.0);
        match self {
            Self::Constant { micros } => micros,
            Self::Uniform {
                low_micros,
                high_micros,
            } => generator.random_range(low_micros.min(high_micros)..=high_micros.max(low_micros)),
            Self::Exponential { mean_micros } => {
                let times: f64 = uniform();
                (-libm::log(times) * mean_micros as f64) as u64
            }
            Self::HeavyTail { least_micros } => {
                let below: f64 = uniform();
                let times = libm::pow(below, -2.0 / 3.0).min(LONGEST_TAIL as f64);
                (times * least_micros as f64) as u64
            }
        }
    }
}

/// Draws arrival times, in microseconds since the start.
#[derive(Debug)]
pub(super) struct Links {
    latency: Latency,
    generator: ChaCha20Rng,
}

impl Links {
    pub(super) fn new(latency: Latency, generator: ChaCha20Rng) -> Self {
        Self { latency, generator }
    }

    /// When all copies of a message sent at `now` arrive, if they arrive together.
    pub(super) fn common_arrival(&self, now: u64) -> Option<u64> {
        match self.latency {
            Latency::Constant { micros } => Some(now.saturating_add(micros)),
            Latency::Uniform { .. } | Latency::Exponential { .. } | Latency::HeavyTail { .. } => {
                None
            }
        }
    }

    /// When one copy of a message sent at `now` arrives.
    pub(super) fn arrival(&mut self, now: u64) -> u64 {
        now.saturating_add(self.latency.draw(&mut self.generator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    /// The part of 200,000 draws above `t`. Its standard deviation is at most 0.0012.
    fn above(latency: Latency, t: u64) -> f64 {
        let mut generator = Seed::from_u64(7).generator(Label::Latency);
        let above = (0..200_000).filter(|_| latency.draw(&mut generator) >= t);
        above.count() as f64 / 200_000.0
    }

    /// Within six standard deviations each: a false alarm of 2e-9.
    #[test]
    fn laws_have_the_tails_that_they_name() {
        let exponential = Latency::Exponential { mean_micros: 1_000 };
        let heavy = Latency::HeavyTail {
            least_micros: 1_000,
        };
        for (latency, t, expected) in [
            (exponential, 1_000, (-1.0_f64).exp()),
            (exponential, 3_000, (-3.0_f64).exp()),
            (heavy, 1_000, 1.0),
            (heavy, 4_000, 0.125),
            (heavy, 100_000, 0.001),
        ] {
            let found = above(latency, t);
            assert!(
                (found - expected).abs() < 0.0072,
                "{latency:?} {t}: {found}"
            );
        }
        assert_eq!(above(heavy, 1_000 * LONGEST_TAIL + 1), 0.0);
        assert_eq!(above(exponential, exponential.scale_micros()), 0.0);
    }
}
