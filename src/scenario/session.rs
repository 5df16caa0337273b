//! From an experiment to sessions: one per seed, all under the same public plan.

use std::sync::Arc;

use super::error::ExperimentError;
use super::experiment::Experiment;
use super::{planning, runner};
use crate::algorithm::Start;
use crate::engine::{Session, Simulation};
use crate::vocabulary::Seed;

impl Experiment {
    /// Hash of the communication graph and the noise graph.
    pub(crate) fn graphs_digest(&self) -> [u8; 32] {
        self.plan.graphs_digest()
    }

    /// The session of this experiment under one seed.
    ///
    /// # Panics
    /// Never: the parameters were validated when the experiment was resolved.
    #[must_use]
    pub fn session(&self, seed: &Seed) -> Session {
        self.try_session(seed)
            .expect("resolved experiments have valid plans")
    }

    pub(super) fn try_session(&self, seed: &Seed) -> Result<Session, ExperimentError> {
        planning::check_widths(&self.plan)?;
        let session = self.simulation().try_session(seed);
        let session =
            session.map_err(|error| planning::no_session(&self.config, &self.plan, error))?;
        if self.config.engine.kind.reveals_only_sums() {
            // All rows meet in one sum.
            session.check_rounding(self.peer_rows.iter().map(|rows| rows.len()).sum())?;
        }
        Ok(session)
    }

    /// This experiment as a value that makes a session of every seed: its plan, its algorithm, the rows of all peers and what runs it. Nothing goes
    /// wrong in its runs.
    #[must_use]
    pub fn simulation(&self) -> Simulation {
        let start = self.config.algorithm.table().requirements().start;
        let degrees = match start {
            Start::Random => Vec::new(),
            Start::Popularity => self.interactions.item_degrees(),
        };
        Simulation::of_parts(
            Arc::clone(&self.plan),
            Arc::clone(&self.algorithm),
            Arc::clone(&self.peer_rows),
            (start, degrees.into()),
            self.setting(),
            self.root_seed(),
            runner::of(&self.config, self.plan.contraction()),
        )
    }
}
