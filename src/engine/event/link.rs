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
            Latency::Uniform { .. } => None,
        }
    }

    /// When one copy of a message sent at `now` arrives.
    pub(super) fn arrival(&mut self, now: u64) -> u64 {
        let micros = match self.latency {
            Latency::Constant { micros } => micros,
            Latency::Uniform {
                low_micros,
                high_micros,
            } => self
                .generator
                .random_range(low_micros.min(high_micros)..=high_micros.max(low_micros)),
        };
        now.saturating_add(micros)
    }
}
