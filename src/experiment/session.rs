//! From an experiment to sessions: one per seed, all under the same public plan.

use std::path::PathBuf;
use std::sync::Arc;

use super::config::{DataConfig, EngineKind};
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
        let columns = self.algorithm.query_columns();
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
            algorithm: self.spec.clone(),
            sensitivity: self.sensitivity_spec.clone(),
            sigma_own: self.noise.sigma_own(),
            sigma_pairwise: self.noise.sigma_pairwise(),
            sigma_coordinate: 0.0,
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
            setting: self.setting(),
        })?)
    }

    /// A digest of every setting that decides what is published and that neither the plan nor the rows show: how the rows
    /// were chosen, and by which kind of engine. Two runs of one seed that differ in any of it share no noise, even where
    /// it came to leave the rows as they were, and so cannot be compared.
    ///
    /// Paths and names are left out: a copied experiment gives the same bits. The engines that pass the same messages are one.
    fn setting(&self) -> [u8; 32] {
        let config = &self.config;
        let engine = match config.engine.kind {
            EngineKind::Lockstep | EngineKind::Event | EngineKind::Swarm => "peers",
            other => other.name(),
        };
        let data = DataConfig {
            path: PathBuf::new(),
            obtain: None,
            items_file: None,
            ..config.data.clone()
        };
        let settings = serde_json::to_vec(&(
            engine,
            data,
            &config.peers,
            &config.algorithm,
            &config.privacy,
            &config.noise,
            (config.evaluation.holdout, config.evaluation.test.is_some()),
        ));
        let settings = settings.expect("settings are numbers, texts and lists");
        blake3::derive_key("undertone 2026-11 noise setting v1", &settings)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::engine::Silent;
    use crate::experiment::{Experiment, read_config, run_engine};
    use crate::vocabulary::Seed;

    /// What a quickstart of 12 peers on 40 items publishes as its first noisy sum.
    fn first_sum(set: &[&str]) -> Vec<f64> {
        let sims = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
        let common = [
            "peers.count=12",
            "topology.degree=4",
            "data.items=40",
            "algorithm.rank=2",
        ];
        let set: Vec<String> = common.iter().chain(set).map(ToString::to_string).collect();
        let config = read_config(&sims.join("quickstart.toml"), &set).expect("valid");
        let experiment = Experiment::resolve(config, &sims).expect("valid");
        let session = experiment.session(&Seed::from_u64(3));
        let outcome = run_engine(&experiment, &session, &mut Silent).expect("runs");
        outcome.records[0].sum.values().to_vec()
    }

    /// The largest difference of two sums.
    fn apart(a: &[&str], b: &[&str]) -> f64 {
        let pairs = first_sum(a).into_iter().zip(first_sum(b));
        pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
    }

    /// The rows are the same in each pair, and so were the sums: that they were said that no rating lies in between. Noise
    /// of 80 coordinates with σ about 0.8 each that is independent differs by less than 0.5 at all of them with
    /// probability below 1e-30.
    #[test]
    fn settings_that_leave_the_rows_as_they_are_draw_other_noise() {
        for (a, b) in [
            (&["data.threshold=0"][..], &["data.threshold=0.4"][..]),
            (&[], &["evaluation.holdout=1e-12"]),
            (
                &["noise.scheme=local"],
                &["noise.scheme=local", "engine.kind=federated"],
            ),
            (
                &["engine.kind=analytic", "engine.probes=2"],
                &["engine.kind=analytic", "engine.probes=8"],
            ),
        ] {
            assert!(apart(a, b) > 0.5, "{a:?} {b:?}");
        }
        for (a, b) in [
            (&[][..], &["engine.kind=event"][..]),
            (&[], &["name=other"]),
            (&[], &["evaluation.top=7"]),
        ] {
            assert_eq!(apart(a, b), 0.0, "{a:?} {b:?}");
        }
    }
}
