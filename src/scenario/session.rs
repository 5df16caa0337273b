//! From an experiment to sessions: one per seed, all under the same public plan.

use std::sync::Arc;

use super::error::{AlgorithmTableError, ExperimentError};
use super::experiment::Experiment;
use super::resolve::refused;
use crate::config::EngineKind;
use crate::engine::{Session, SessionParts};
use crate::protocol::PlannedRelease;
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

    /// Makes the session of its own seed and keeps it: its start is drawn once. Whatever a session can refuse is refused here.
    pub(super) fn keep_own_session(&mut self) -> Result<(), ExperimentError> {
        let session = self.try_session(&Seed::from_u64(self.config.seed))?;
        self.own_session = Some(Box::new(session));
        Ok(())
    }

    /// The session of the experiment's own seed.
    #[must_use]
    pub(crate) fn own_session(&self) -> Session {
        match &self.own_session {
            Some(session) => Session::clone(session),
            None => self.session(&Seed::from_u64(self.config.seed)),
        }
    }

    /// Refuses releases that no message holds, before anything as large is drawn.
    pub(super) fn check_widths(&self) -> Result<(), ExperimentError> {
        let program = self.plan.program();
        let peers = self.topology().graph().nodes() as u32;
        let mut releases = program.releases.iter();
        releases.try_for_each(|release| PlannedRelease::check_width(release, program, peers))?;
        Ok(())
    }

    pub(super) fn try_session(&self, seed: &Seed) -> Result<Session, ExperimentError> {
        let algorithm = self.config.algorithm;
        let items = self.user_rows.dimension();
        let columns = self.plan.program().query_columns;
        self.check_widths()?;
        let start = algorithm
            .start
            .block(seed, (items, columns), &self.interactions.item_degrees())
            .map_err(|source| AlgorithmTableError::Rank {
                rank: algorithm.rank,
                items,
                source,
            })?;
        let plan = self.plan.session_plan(&self.algorithm, &start);
        let plan = plan.map_err(|error| refused(&self.config, error))?;
        let network = self.plan.network();
        let session = Session::new(SessionParts {
            plan: Arc::new(plan),
            topology: Arc::clone(&network.topology),
            schedule: Arc::clone(self.plan.schedule()),
            noise_topology: Arc::clone(&network.noise_topology),
            rows: Arc::clone(&self.peer_rows),
            start: Arc::new(start),
            seed: seed.clone(),
            sigma_central: self.sigma_central(),
            setting: self.setting(),
        })?;
        if self.config.engine.kind.reveals_only_sums() {
            // All rows meet in one sum.
            session.check_rounding(self.peer_rows.iter().map(|rows| rows.len()).sum())?;
        }
        Ok(session)
    }

    /// The sum of the shapes of all peers' shares of Laplace noise, or of the curator's; `None` where noise is Gaussian or there is none.
    pub(crate) fn sum_of_shapes(&self) -> Option<f64> {
        let shares = self.plan.laplace_shares()?;
        Some(match self.config.engine.kind {
            EngineKind::Central => 1.0,
            _ => f64::from(shares.drawing()) * shares.shape,
        })
    }
}
