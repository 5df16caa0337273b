//! From an experiment to sessions: one per seed, all under the same public plan.

use std::sync::Arc;

use super::error::ExperimentError;
use super::resolve::Experiment;
use crate::engine::{Session, SessionParts, graphs_digest};
use crate::protocol::{Plan, PlanParameters};
use crate::topology::Topology;
use crate::vocabulary::Seed;

/// What all sessions of an experiment share and is costly to find.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shared {
    /// A number of hops in which a value reaches everybody.
    scale_rounds: u32,
    /// Hash of both graphs.
    topology: [u8; 32],
}

impl Shared {
    pub(super) fn of(topology: &Topology, noise: &Topology) -> Self {
        Self {
            // Engines that reveal only sums run on any graph and exchange no scales.
            scale_rounds: topology
                .diameter_bound()
                .unwrap_or(topology.graph().nodes() as u32),
            topology: graphs_digest(topology, noise),
        }
    }
}

impl Experiment {
    /// Hash of the communication graph and the noise graph.
    pub(super) fn graphs_digest(&self) -> [u8; 32] {
        self.shared.topology
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
        let algorithm = self.config.algorithm;
        let items = self.user_rows.dimension();
        let columns = algorithm.build(items).query_columns();
        let start = algorithm
            .start
            .block(seed, (items, columns), &self.interactions.item_degrees())
            .map_err(|source| ExperimentError::Rank {
                rank: algorithm.rank,
                items,
                source,
            })?;
        let parameters = PlanParameters {
            peers: self.topology.graph().nodes() as u32,
            dimension: items,
            rank: algorithm.rank,
            block: algorithm.block(),
            momentum: algorithm.momentum.unwrap_or(0.0),
            iterations: algorithm.iterations,
            algorithm: algorithm.kind,
            sensitivity: self.sensitivity,
            sigma_own: self.noise.sigma_own(),
            sigma_pairwise: self.noise.sigma_pairwise(),
            noise_factors: self.noise_factors.clone(),
            scale_rounds: self.shared.scale_rounds,
            averaging_rounds: self.program.rounds(),
            program: self.program.digest(),
            topology: self.shared.topology,
            start: start.digest(),
        };
        Ok(Session::new(SessionParts {
            plan: Arc::new(Plan::new(parameters)?),
            topology: Arc::clone(&self.topology),
            program: Arc::clone(&self.program),
            noise_topology: Arc::clone(&self.noise_topology),
            rows: Arc::clone(&self.peer_rows),
            start: Arc::new(start),
            seed: seed.clone(),
            sigma_central: self.sigma_central(),
        })?)
    }
}
