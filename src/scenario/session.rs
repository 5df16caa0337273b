//! From an experiment to sessions: one per seed, all under the same public plan.

use std::sync::Arc;

use super::error::{AlgorithmTableError, ExperimentError};
use super::experiment::Experiment;
use super::resolve::refused;
use super::runner;
use crate::algorithm::Start;
use crate::engine::{NewSessionError, Session, Simulation};
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
        self.check_widths()?;
        let session = self
            .simulation()
            .try_session(seed)
            .map_err(|error| match error {
                NewSessionError::Start(source) => AlgorithmTableError::Rank {
                    rank: self.config.algorithm.table().rank(),
                    items: self.user_rows.dimension(),
                    source,
                }
                .into(),
                NewSessionError::Plan(error) => refused(&self.config, error),
                NewSessionError::Session(error) => ExperimentError::from(error),
            })?;
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
        Simulation {
            plan: Arc::clone(&self.plan),
            algorithm: Arc::clone(&self.algorithm),
            rows: Arc::clone(&self.peer_rows),
            start: (start, degrees.into()),
            setting: self.setting(),
            root: self.root_seed(),
            runner: runner::of(&self.config, self.plan.contraction()),
        }
    }
}
