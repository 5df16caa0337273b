//! The experiment that a run is compared with: another algorithm and averaging under the same budget.

use std::sync::Arc;

use super::clock::Clock;
use super::error::ExperimentError;
use super::experiment::Experiment;
use super::held::Held;
use super::materials::Materials;
use crate::config::Config;
use crate::privacy::BudgetSplit;
use crate::protocol::averaging::Loss;

impl Experiment {
    /// The experiment that `[compare]` describes, `None` where it describes none: this one with that algorithm and that
    /// averaging, on the same interactions, graphs, rank and seed, for the same ε and δ against the same coalitions, on links that
    /// lose nothing.
    ///
    /// Its noise is planned for its own releases, and independent of this one's: streams are bound to the whole plan.
    ///
    /// # Errors
    /// [`ExperimentError`] as for any experiment, such as a block that does not fit.
    pub fn compared(&self) -> Result<Option<Self>, ExperimentError> {
        let Some(compare) = &self.config.compare else {
            return Ok(None);
        };
        let mut config = self.config.clone();
        config.algorithm = compare.algorithm.0;
        config.averaging = compare.averaging.clone();
        // Weights are of this experiment's iterations.
        config.privacy.budget = BudgetSplit::Even;
        config.compare = None;
        // It has the whole budget, as nothing went before it.
        config.pilot = None;
        // Its averaging may be one that waits for every message.
        config.engine.loss = Loss::default();
        let materials = self.materials(&config)?;
        let topology = Arc::clone(&self.plan.network().topology);
        let clock = Clock::default();
        Self::assemble(config, &self.loaded, topology, &materials, clock).map(Some)
    }

    /// What this experiment holds already, for another one on the same interactions.
    fn materials(&self, config: &Config) -> Result<Materials, ExperimentError> {
        let materials = Materials::beside(&self.base, &self.in_memory);
        let held = Held {
            interactions: Arc::clone(&self.interactions),
            summary: self.data.clone(),
            held_out: self.held_out.clone(),
            catalogue: self.catalogue.clone(),
        };
        materials.held(config, || Ok::<_, ExperimentError>(held))?;
        Ok(materials)
    }
}
