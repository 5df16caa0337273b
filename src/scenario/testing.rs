//! Experiments for tests, and ways to break a validated one so that something must notice.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use super::error::ExperimentError;
use super::experiment::Experiment;
use super::materials::Materials;
use crate::config::{Config, read_config};
use crate::data::Interactions;
use crate::privacy::NoisePlan;

/// What the experiments of all tests share: the ratings are read once.
static SIMS: LazyLock<Materials> =
    LazyLock::new(|| Materials::new(&Path::new(env!("CARGO_MANIFEST_DIR")).join("sims")));

/// A file of the folder `sims` with these keys changed.
pub(crate) fn sim(file: &str, set: &[&str]) -> Result<Experiment, ExperimentError> {
    let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
    Experiment::resolve_from(read_config(&SIMS.base().join(file), &set)?, &SIMS)
}

/// The same for one of the sessions that share a budget.
pub(crate) fn part_of(file: &str, set: &[&str]) -> Result<Experiment, ExperimentError> {
    let set: Vec<String> = set.iter().map(|&key| key.to_owned()).collect();
    Experiment::resolve_part(read_config(&SIMS.base().join(file), &set)?, &SIMS)
}

impl Experiment {
    /// The configuration, to state something else than was planned for.
    pub(crate) fn config_mut(&mut self) -> &mut Config {
        &mut self.config
    }

    /// The noise plan, to state other views or σ's.
    pub(crate) fn noise_mut(&mut self) -> &mut NoisePlan {
        Arc::make_mut(&mut self.plan).noise_mut()
    }

    /// What the σ's of the iterations are multiplied by, to spend another budget than was split.
    pub(crate) fn set_noise_factors(&mut self, factors: Vec<f64>) {
        Arc::make_mut(&mut self.plan).set_factors(factors);
    }

    /// Other interactions than the peers hold.
    pub(crate) fn interactions_mut(&mut self) -> &mut Arc<Interactions> {
        &mut self.interactions
    }
}
