//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{Config, DEFAULT_TOLERANCE, EngineKind, PeerCount};
use super::overrides::{self, OverrideError};
use super::run::Clock;
use super::summary::{DataSummary, IterationNoise, PrivacySummary};
use crate::data::{self, DataError, Interactions};
use crate::engine::Session;
use crate::linalg::{Block, NotFullRank, SparseRows, start_block};
use crate::noise::Assignment;
use crate::privacy::{
    self, Budget, Calibrated, Certificate, Delta, NoisePlan, NoiseRequest, PrivacyError, Scheme,
    Sensitivity, View,
};
use crate::protocol::averaging::{AveragingError, MixingBounds};
use crate::protocol::{Plan, PlanError, PlanParameters};
use crate::topology::{Topology, TopologyError};
use crate::vocabulary::Seed;

/// Why an experiment cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("cannot read the experiment file {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is not a valid experiment.
    #[error("{path}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column, key, what was found and what was expected.
        source: Box<toml::de::Error>,
    },
    /// A `--set key=value` that cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// The data cannot be used.
    #[error("[data] {0}")]
    Data(#[from] DataError),
    /// The topology cannot be used.
    #[error("[topology] {0}")]
    Topology(#[from] TopologyError),
    /// The privacy parameters cannot be met.
    #[error("[privacy] {0}")]
    Privacy(#[from] PrivacyError),
    /// No averaging schedule.
    #[error("[averaging] {0}")]
    Averaging(#[from] AveragingError),
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The rank does not fit the items.
    #[error(
        "[algorithm] rank = {rank} needs at least that many items, but {items} are left: lower rank or raise data.items"
    )]
    Rank {
        /// The rank asked for.
        rank: usize,
        /// Items after the filters.
        items: usize,
        /// Why no start block exists.
        source: NotFullRank,
    },
    /// Both ways of fixing the number of rounds.
    #[error("[averaging] give either tolerance or rounds, not both")]
    ToleranceAndRounds,
    /// A number of rounds outside what can be run.
    #[error("[averaging] rounds must lie between 1 and {limit}, found {found}")]
    Rounds {
        /// The number given.
        found: u32,
        /// The largest number allowed.
        limit: u32,
    },
    /// A degree floor of 0.
    #[error(
        "[data] degree_floor must be at least 1 (1 divides each row by its own degree), found 0"
    )]
    DegreeFloor,
    /// Nothing left to compute with.
    #[error(
        "[data] no interaction is left: all {ratings} ratings lie at or below data.threshold = {threshold}; lower it"
    )]
    NoInteractions {
        /// Ratings read.
        ratings: u64,
        /// The threshold.
        threshold: f64,
    },
    /// A graph of the caller's own that does not have a node per peer.
    #[error(
        "[peers] count makes {peers} peers, but the topology has {nodes} nodes: set peers.count = {nodes}"
    )]
    NodeCount {
        /// Peers of the experiment.
        peers: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
}

/// An experiment with its data read, its topology built and its noise planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The configuration, overrides applied.
    pub config: Config,
    /// The interactions left after all filters.
    pub interactions: Interactions,
    /// What was read and dropped.
    pub data: DataSummary,
    /// Every user's normalised row.
    pub user_rows: SparseRows,
    /// The rows each peer holds.
    pub peer_rows: Arc<Vec<SparseRows>>,
    /// The communication graph.
    pub topology: Arc<Topology>,
    /// The noise graph: the communication graph, unless the configuration names another.
    pub noise_topology: Arc<Topology>,
    /// How far one person can move the sum.
    pub sensitivity: Sensitivity,
    /// The noise multiplier and what it spends.
    pub calibrated: Calibrated,
    /// σ's per unit sensitivity and the guarantee of every view.
    pub noise: NoisePlan,
    /// Averaging rounds K.
    pub rounds: u32,
    /// The factor by which they shrink the spread.
    pub contraction: f64,
    /// Things the user should know.
    pub warnings: Vec<String>,
    /// Wall-clock seconds of each part so far.
    pub seconds: BTreeMap<&'static str, f64>,
}

impl Experiment {
    /// Reads an experiment file, applies `key=value` overrides, and resolves it.
    ///
    /// # Errors
    /// [`ExperimentError`] naming the file, the key, what was found and what to change.
    pub fn load(path: &Path, set: &[String]) -> Result<Self, ExperimentError> {
        let config = read_config(path, set)?;
        let base = path.parent().unwrap_or(Path::new("."));
        Self::resolve(config, base)
    }

    /// Resolves a configuration whose relative paths start at `base`.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn resolve(config: Config, base: &Path) -> Result<Self, ExperimentError> {
        let mut clock = Clock::default();
        let loaded = clock.time("data", || {
            data::load(
                &base.join(&config.data.path),
                config.data.format,
                config.data.threshold,
            )
        })?;
        let peers = peer_count(&config, &loaded);
        let (topology, noise_topology) = clock.time("topology", || {
            let topology = config.topology.resolve(base, peers)?;
            let noise = config
                .noise_topology
                .as_ref()
                .map(|source| source.resolve(base, peers))
                .transpose()?;
            Ok::<_, TopologyError>((topology, noise))
        })?;
        Self::assemble(config, loaded, topology, noise_topology, clock)
    }

    /// Builds an experiment on a graph of the caller's own instead of the configuration's.
    ///
    /// # Errors
    /// As [`Self::load`]; the graph must have as many nodes as there are peers.
    pub fn on_topology(
        config: Config,
        base: &Path,
        topology: Topology,
    ) -> Result<Self, ExperimentError> {
        let mut clock = Clock::default();
        let loaded = clock.time("data", || {
            data::load(
                &base.join(&config.data.path),
                config.data.format,
                config.data.threshold,
            )
        })?;
        Self::assemble(config, loaded, topology, None, clock)
    }

    fn assemble(
        config: Config,
        loaded: data::Loaded,
        topology: Topology,
        noise_topology: Option<Topology>,
        mut clock: Clock,
    ) -> Result<Self, ExperimentError> {
        let seed = Seed::from_u64(config.seed);
        let floor =
            NonZeroU32::new(config.data.degree_floor).ok_or(ExperimentError::DegreeFloor)?;
        let peers = peer_count(&config, &loaded);
        let nodes = topology.graph().nodes();
        if peers != nodes {
            return Err(ExperimentError::NodeCount { peers, nodes });
        }
        let (interactions, data) = filtered(&config, loaded, &seed);
        if interactions.is_empty() {
            let threshold = config.data.threshold;
            return Err(ExperimentError::NoInteractions {
                ratings: data.ratings,
                threshold,
            });
        }
        let user_rows = interactions.normalised_rows(floor);
        let assignment =
            data::assign(interactions.users(), peers, config.peers.partition.0, &seed)?;
        let peer_rows = data::peer_rows(&user_rows, &assignment);
        let rank = config.algorithm.rank;
        let sensitivity = Sensitivity::new(
            config.privacy.adjacency,
            config.privacy.sensitivity,
            config.data.degree_floor,
            config.data.degree_cap,
            rank,
        )?;
        let budget = Budget::new(config.privacy.epsilon, config.privacy.delta)?;
        let calibrated = privacy::calibrate(
            config.privacy.calibration,
            budget,
            config.algorithm.iterations,
        )?;
        let noise = clock.time("privacy", || {
            plan_noise(
                &config,
                &topology,
                noise_topology.as_ref(),
                &calibrated,
                budget.delta,
            )
        })?;
        let bounds = mixing_bounds(&topology);
        let averaging = config.averaging;
        let rounds = match (averaging.tolerance, averaging.rounds) {
            (Some(_), Some(_)) => return Err(ExperimentError::ToleranceAndRounds),
            (tolerance, None) => averaging
                .scheme
                .rounds(bounds, tolerance.unwrap_or(DEFAULT_TOLERANCE))?,
            (None, Some(rounds)) => checked_rounds(rounds)?,
        };
        let contraction = averaging.scheme.contraction(bounds, rounds)?;
        let mut warnings = Vec::new();
        if let Some(warning) = &calibrated.warning
            && config.noise.scheme != Scheme::None
        {
            warnings.push(warning.to_string());
        }
        if config.noise.scheme == Scheme::None {
            warnings.push("noise.scheme = \"none\": this run protects nobody".to_owned());
        }
        let topology = Arc::new(topology);
        let experiment = Self {
            noise_topology: noise_topology.map_or_else(|| Arc::clone(&topology), Arc::new),
            config,
            interactions,
            data,
            user_rows,
            peer_rows: Arc::new(peer_rows),
            topology,
            sensitivity,
            calibrated,
            noise,
            rounds,
            contraction,
            warnings,
            seconds: clock.seconds,
        };
        // Whatever a session can refuse is refused here, so that sessions of other seeds cannot fail.
        experiment.try_session(&seed)?;
        Ok(experiment)
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

    fn try_session(&self, seed: &Seed) -> Result<Session, ExperimentError> {
        let algorithm = self.config.algorithm;
        let items = self.user_rows.dimension();
        let start =
            start_block(seed, items, algorithm.rank).map_err(|source| ExperimentError::Rank {
                rank: algorithm.rank,
                items,
                source,
            })?;
        let graph = self.topology.graph();
        let bounds = mixing_bounds(&self.topology);
        let parameters = PlanParameters {
            peers: graph.nodes() as u32,
            dimension: items,
            rank: algorithm.rank,
            iterations: algorithm.iterations,
            algorithm: algorithm.kind,
            sensitivity: self.sensitivity,
            sigma_own: self.noise.sigma_own,
            sigma_pairwise: self.noise.sigma_pairwise,
            scale_rounds: graph.diameter_bound().unwrap_or(u32::MAX),
            schedule: self.config.averaging.scheme.schedule(bounds, self.rounds)?,
            topology: graph_digest(&self.topology, &self.noise_topology),
            start: block_digest(&start),
        };
        let plan = Plan::new(parameters)?;
        Ok(Session {
            plan: Arc::new(plan),
            topology: Arc::clone(&self.topology),
            noise_topology: Arc::clone(&self.noise_topology),
            rows: Arc::clone(&self.peer_rows),
            noise: Assignment::new(seed, self.noise.sigma_own, self.noise.sigma_pairwise),
            start: Arc::new(start),
            seed: seed.clone(),
            sigma_central: if self.is_private() {
                self.calibrated.z
            } else {
                0.0
            },
        })
    }

    /// Whether any noise is added.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.config.noise.scheme != Scheme::None
    }

    /// The noise of one iteration with sensitivity Δ.
    #[must_use]
    pub fn iteration_noise(&self, iteration: u32, sensitivity: f64) -> IterationNoise {
        let central = if self.is_private() {
            self.calibrated.z
        } else {
            0.0
        };
        IterationNoise {
            iteration,
            sensitivity,
            sigma_central: sensitivity * central,
            sigma_independent: sensitivity * self.noise.sigma_own,
            sigma_pairwise: sensitivity * self.noise.sigma_pairwise,
        }
    }

    /// The guarantee, with σ's per unit sensitivity.
    #[must_use]
    pub fn privacy_summary(&self) -> PrivacySummary {
        let privacy = self.config.privacy;
        PrivacySummary {
            adjacency: privacy.adjacency,
            sensitivity: privacy.sensitivity,
            calibration: privacy.calibration,
            epsilon: self.is_private().then_some(privacy.epsilon),
            delta: privacy.delta,
            noise_multiplier: self.is_private().then_some(self.calibrated.z),
            iterations: (1..=self.config.algorithm.iterations)
                .map(|l| self.iteration_noise(l, 1.0))
                .collect(),
            views: self.noise.views.clone(),
        }
    }

    /// BLAKE3 of the resolved configuration, in hexadecimal.
    #[must_use]
    pub fn config_hash(&self) -> String {
        blake3::hash(super::output::resolved(&self.config).as_bytes())
            .to_hex()
            .to_string()
    }
}

/// Reads and parses an experiment file and applies overrides.
///
/// # Errors
/// [`ExperimentError::Read`], [`ExperimentError::Parse`] or [`ExperimentError::Override`].
pub fn read_config(path: &Path, set: &[String]) -> Result<Config, ExperimentError> {
    let text = std::fs::read_to_string(path).map_err(|source| ExperimentError::Read {
        path: path.to_path_buf(),
        source,
    })?;
    let parse_error = |source| ExperimentError::Parse {
        path: path.to_path_buf(),
        source: Box::new(source),
    };
    // Parsed as written first, so that errors point at lines of the file.
    let config: Config = toml::from_str(&text).map_err(parse_error)?;
    if set.is_empty() {
        return Ok(config);
    }
    let table: toml::Table = toml::from_str(&text).map_err(parse_error)?;
    Ok(overrides::apply(table, set)?)
}

fn filtered(config: &Config, loaded: data::Loaded, seed: &Seed) -> (Interactions, DataSummary) {
    let data::Loaded {
        interactions: read,
        counts,
    } = loaded;
    let (kept, filter) = read.most_rated(config.data.items);
    let (kept, capped) = match config.data.degree_cap {
        Some(cap) => {
            let (capped, counts) = kept.cap(cap as usize, seed);
            (
                capped,
                counts.interactions_before - counts.interactions_kept,
            )
        }
        None => (kept, 0),
    };
    let summary = DataSummary {
        users: read.users(),
        items: read.items(),
        ratings: counts.ratings,
        ratings_below_threshold: counts.at_or_below_threshold,
        interactions: filter.interactions_before,
        items_kept: filter.items_kept,
        interactions_kept: kept.len(),
        interactions_capped: capped,
        users_emptied: filter.users_emptied,
    };
    (kept, summary)
}

fn plan_noise(
    config: &Config,
    topology: &Topology,
    noise_topology: Option<&Topology>,
    calibrated: &Calibrated,
    delta: Delta,
) -> Result<NoisePlan, PrivacyError> {
    let noise_topology = noise_topology.unwrap_or(topology);
    if config.engine.kind == EngineKind::Central && config.noise.scheme != Scheme::None {
        return Ok(curator(calibrated));
    }
    let lambda2 = noise_topology.spectrum().algebraic_connectivity;
    NoisePlan::new(&NoiseRequest {
        graph: noise_topology.graph(),
        connectivity: privacy::Connectivity {
            lower_bound: lambda2.low,
            certified: lambda2.certified,
        },
        noise_multiplier: calibrated.z,
        iterations: config.algorithm.iterations,
        delta,
        colluders: config.privacy.colluders,
        overhead: config.privacy.overhead,
        scheme: config.noise.scheme,
        trusted_sum: config.engine.kind.reveals_only_sums(),
        on_disconnect: config.privacy.on_disconnect,
    })
}

/// What a trusted curator's noise costs: the yardstick itself.
fn curator(calibrated: &Calibrated) -> NoisePlan {
    NoisePlan {
        sigma_own: 0.0,
        sigma_pairwise: 0.0,
        sigma_sum: calibrated.z,
        epsilon: Some(calibrated.spent),
        views: vec![View {
            view: "whoever sees the curator's output".to_owned(),
            colluders: 0,
            mu: calibrated.mu_total,
            epsilon: calibrated.spent,
            gap_to_central: 1.0,
            gap_colluders: 1.0,
            gap_finite: 1.0,
            certificate: Certificate::Exact,
        }],
    }
}

fn peer_count(config: &Config, loaded: &data::Loaded) -> usize {
    match config.peers.count {
        PeerCount::Users => loaded.interactions.users(),
        PeerCount::Number(count) => count,
    }
}

fn mixing_bounds(topology: &Topology) -> MixingBounds {
    let spectrum = topology.spectrum();
    MixingBounds {
        lowest: spectrum.mixing_smallest.low,
        second: spectrum.mixing_second.high,
    }
}

fn checked_rounds(rounds: u32) -> Result<u32, ExperimentError> {
    let limit = crate::protocol::averaging::MAX_ROUNDS;
    if (1..=limit).contains(&rounds) {
        Ok(rounds)
    } else {
        Err(ExperimentError::Rounds {
            found: rounds,
            limit,
        })
    }
}

fn graph_digest(topology: &Topology, noise: &Topology) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 topology v1");
    for topology in [topology, noise] {
        let graph = topology.graph();
        hasher.update(&(graph.nodes() as u64).to_le_bytes());
        hasher.update(&(graph.edges() as u64).to_le_bytes());
        for (u, v) in graph.edge_list() {
            hasher.update(&u.to_le_bytes());
            hasher.update(&v.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}

fn block_digest(block: &Block) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 start v1");
    for value in block.values() {
        hasher.update(&value.to_le_bytes());
    }
    *hasher.finalize().as_bytes()
}
