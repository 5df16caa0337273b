//! Ways to break a validated experiment, for tests that something notices.

use std::sync::Arc;

use super::experiment::Experiment;
use crate::config::Config;
use crate::data::Interactions;
use crate::privacy::NoisePlan;

impl Experiment {
    /// The configuration, to state something else than was planned for.
    pub(crate) fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// The noise plan, to state other views or σ's.
    pub(crate) fn noise_mut(&mut self) -> &mut NoisePlan {
        &mut self.noise
    }

    /// What the σ's of the iterations are multiplied by, to spend another budget than was split.
    pub(crate) fn noise_factors_mut(&mut self) -> &mut Vec<f64> {
        &mut self.noise_factors
    }

    /// Other interactions than the peers hold.
    pub(crate) fn interactions_mut(&mut self) -> &mut Arc<Interactions> {
        &mut self.interactions
    }
}
