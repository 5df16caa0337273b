//! The table `[pilot]` of an experiment file.

use serde::{Deserialize, Serialize};

/// `[pilot]`: what is measured first, so that the rest of the run can be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PilotConfig {
    /// The share of μ² that the pilot spends, at least 0 and below 1; 0 for none: the choice then rests on public numbers alone.
    #[serde(default = "one_twentieth")]
    pub share: f64,
    /// The most bytes that the busiest peer may send, in the pilot and the run together; no limit where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Default for PilotConfig {
    fn default() -> Self {
        Self {
            share: one_twentieth(),
            bytes: None,
        }
    }
}

fn one_twentieth() -> f64 {
    0.05
}
