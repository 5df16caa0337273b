//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::config::{AlgorithmConfig, Config, DEFAULT_TOLERANCE, EngineKind, PeerCount};
use super::error::ExperimentError;
use super::evaluation::HeldOut;
use super::materials::{Held, Materials};
use super::overrides;
use super::peer_names::{self, Matched};
use super::run::Clock;
use super::session::Shared;
use super::summary::{DataSummary, IterationNoise, PrivacySummary};
use super::topology_source::TopologySource;
use super::{filters, memory, warnings};
use crate::algorithm::{Algorithm, AlgorithmKind, AlgorithmSpec};
use crate::data::{self, Interactions};
use crate::engine::event::Latency;
use crate::engine::{PeerRows, analytic};
use crate::linalg::SparseRows;
use crate::privacy::{
    SensitivitySpec,
    self, Budget, Calibrated, Delta, GroupLoss, NoisePlan, NoiseRequest, Promise, Scheme,
    Sensitivity,
};
use crate::protocol::PlanError;
use crate::protocol::averaging::{Length, MixingBounds, Program};
use crate::topology::Topology;
use crate::vocabulary::{Quantity, Seed};

/// An experiment with its data read, its topology built and its noise planned.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// The configuration, overrides applied.
    pub(in crate::experiment) config: Config,
    /// The folder that relative paths in the configuration start at.
    pub(in crate::experiment) base: PathBuf,
    /// What was read, before any filter.
    pub(in crate::experiment) loaded: Arc<data::Loaded>,
    /// The interactions left after all filters.
    pub(in crate::experiment) interactions: Arc<Interactions>,
    /// What `[evaluation]` keeps from the peers.
    pub(in crate::experiment) held_out: Option<HeldOut>,
    /// What was read and dropped.
    pub(in crate::experiment) data: DataSummary,
    /// Every user's normalised row.
    pub(in crate::experiment) user_rows: Arc<SparseRows>,
    /// The rows each peer holds.
    pub(in crate::experiment) peer_rows: Arc<PeerRows>,
    /// The communication graph.
    pub(in crate::experiment) topology: Arc<Topology>,
    /// The noise graph: the communication graph, unless the configuration names another.
    pub(in crate::experiment) noise_topology: Arc<Topology>,
    /// The algorithm with its own numbers.
    pub(in crate::experiment) spec: AlgorithmSpec,
    /// The algorithm, on this many items.
    pub(in crate::experiment) algorithm: Arc<dyn Algorithm>,
    /// What one record is and how its effect is bounded.
    pub(in crate::experiment) sensitivity_spec: SensitivitySpec,
    /// How far one person can move what is released.
    pub(in crate::experiment) sensitivity: Sensitivity,
    /// The noise multiplier and what it spends.
    pub(in crate::experiment) calibrated: Calibrated,
    /// δ of the budget, validated.
    pub(in crate::experiment) delta: Delta,
    /// σ's per unit sensitivity and the guarantee of every view.
    pub(in crate::experiment) noise: NoisePlan,
    /// What the σ's of each iteration are multiplied by; empty for an even budget.
    pub(in crate::experiment) noise_factors: Vec<f64>,
    /// What is exchanged in every averaging round, compiled from the topology.
    pub(in crate::experiment) program: Arc<Program>,
    /// What changes at several peers cost, where one record is a change of one peer's matrix.
    pub(in crate::experiment) groups: Vec<GroupLoss>,
    /// Averaging rounds K.
    pub(in crate::experiment) rounds: u32,
    /// The factor by which they shrink the spread.
    pub(in crate::experiment) contraction: f64,
    /// Things the user should know.
    pub(in crate::experiment) warnings: Vec<String>,
    /// Wall-clock seconds of each part so far.
    pub(in crate::experiment) seconds: BTreeMap<&'static str, f64>,
    pub(in crate::experiment) shared: Shared,
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
        Self::resolve_from(config, base, &Materials::default())
    }

    /// The same, sharing whatever these materials hold already; they must be of the same base folder.
    pub(super) fn resolve_from(
        config: Config,
        base: &Path,
        materials: &Materials,
    ) -> Result<Self, ExperimentError> {
        let mut clock = Clock::default();
        let loaded = clock.time("data", || materials.loaded(&config.data, base))?;
        let peers = peer_count(&config, &loaded);
        let topology = clock
            .time("topology", || {
                materials.topology(&config.topology, base, peers)
            })
            .map_err(ExperimentError::Topology)?;
        Self::assemble(config, base, &loaded, topology, materials, clock)
    }

    /// Builds an experiment on a graph of the caller's own instead of the configuration's `[topology]`.
    /// `[noise_topology]`, if the configuration has one, still decides who shares noise.
    ///
    /// # Errors
    /// As [`Self::load`]; the graph must have as many nodes as there are peers.
    pub fn on_topology(
        config: Config,
        base: &Path,
        topology: Topology,
    ) -> Result<Self, ExperimentError> {
        let mut clock = Clock::default();
        let materials = Materials::default();
        let loaded = clock.time("data", || materials.loaded(&config.data, base))?;
        let topology = Arc::new(topology);
        Self::assemble(config, base, &loaded, topology, &materials, clock)
    }

    fn assemble(
        config: Config,
        base: &Path,
        loaded: &Arc<data::Loaded>,
        topology: Arc<Topology>,
        materials: &Materials,
        mut clock: Clock,
    ) -> Result<Self, ExperimentError> {
        let mut config = completed(config)?;
        let list = clock.time("data", || filters::item_list(&mut config, base, materials))?;
        let seed = Seed::from_u64(config.seed);
        let floor =
            NonZeroU32::new(config.data.degree_floor).ok_or(ExperimentError::DegreeFloor)?;
        let peers = peer_count(&config, loaded);
        let nodes = topology.graph().nodes();
        if peers != nodes {
            return Err(ExperimentError::NodeCount { peers, nodes });
        }
        let most = peers.min(analytic::MAX_PROBES);
        let probes = config.engine.probes;
        if config.engine.kind == EngineKind::Analytic && !(1..=most).contains(&probes) {
            return Err(ExperimentError::Probes {
                found: probes,
                most,
            });
        }
        let noise_topology = match &config.noise_topology {
            Some(source) => clock
                .time("topology", || materials.topology(source, base, peers))
                .map_err(ExperimentError::NoiseTopology)?,
            None => Arc::clone(&topology),
        };
        let Matched {
            topology,
            noise_topology,
            renumbered,
        } = peer_names::matched(topology, noise_topology)?;
        let held = materials.held(&config, || {
            filters::filtered(&config, base, loaded, list.as_deref(), &seed)
        })?;
        let (interactions, data, held_out) = Held::clone(&held);
        // Under noise no data at all is data like any other: a refusal would tell it apart from its neighbours.
        if interactions.is_empty() && config.noise.scheme == Scheme::None {
            return Err(ExperimentError::NoInteractions {
                ratings: data.ratings,
                threshold: config.data.threshold,
            });
        }
        let data = DataSummary {
            degree_floor: config.data.degree_floor,
            ..data
        };
        let user_rows = materials.user_rows(&config, || {
            Ok::<_, ExperimentError>(interactions.normalised_rows(floor))
        })?;
        let peer_rows =
            materials.peer_rows(&config, || filters::dealt(&config, &user_rows, peers))?;
        let items = user_rows.dimension();
        checked_algorithm(&config, items)?;
        let spec = config.algorithm.spec().map_err(PlanError::from)?;
        let algorithm = spec.build(items).map_err(PlanError::from)?;
        let first = algorithm.releases().swap_remove(0);
        let (released, columns) = (first.blocks[0].quantity, first.blocks[0].columns);
        if config.engine.kind == EngineKind::Analytic && released != Quantity::Product {
            return Err(ExperimentError::AnalyticRelease { released });
        }
        let sensitivity_spec = SensitivitySpec::new(
            config.privacy.adjacency,
            config.privacy.sensitivity,
            config.data.degree_floor,
            config.data.degree_cap,
        );
        let sensitivity = sensitivity_spec.of(released, columns)?;
        let budget = Budget::new(config.privacy.epsilon, config.privacy.delta)?;
        let calibrated = privacy::calibrate(
            config.privacy.calibration,
            budget,
            config.algorithm.iterations,
        )?;
        let noise_factors = config
            .privacy
            .budget
            .noise_factors(config.algorithm.iterations)?;
        let noise = clock.time("privacy", || {
            materials.plan(&config, peers, renumbered, || {
                plan_noise(&config, &noise_topology, &calibrated, budget.delta)
            })
        })?;
        let iterations = config.algorithm.iterations;
        let groups = noise.groups(
            config.privacy.adjacency,
            config.engine.kind.seen(),
            (peers, config.privacy.colluders),
            privacy::even_iterations(&noise_factors, iterations),
            budget.delta,
        )?;
        let bounds = mixing_bounds(&topology);
        let averaging = config.averaging;
        let length = match (averaging.tolerance, averaging.rounds) {
            (Some(_), Some(_)) => return Err(ExperimentError::ToleranceAndRounds),
            (Some(tolerance), None) => Length::Tolerance(tolerance),
            (None, Some(rounds)) => Length::Rounds(checked_rounds(rounds)?),
            (None, None) => Length::Own,
        };
        let program = averaging.scheme.compile(&*topology, bounds, length)?;
        let rounds = program.rounds();
        let contraction = averaging.scheme.contraction(bounds, rounds)?;
        let mut experiment = Self {
            shared: Shared::of(&topology, &noise_topology),
            noise_topology,
            config,
            base: base.to_path_buf(),
            loaded: Arc::clone(loaded),
            interactions,
            held_out,
            data,
            user_rows,
            peer_rows,
            topology,
            spec,
            algorithm,
            sensitivity_spec,
            sensitivity,
            calibrated,
            delta: budget.delta,
            noise: NoisePlan::clone(&noise),
            noise_factors,
            program: Arc::new(program),
            groups,
            rounds,
            contraction,
            warnings: Vec::new(),
            seconds: clock.seconds,
        };
        // Whatever a session can refuse is refused here, so that sessions of other seeds cannot fail.
        experiment.try_session(&seed)?;
        memory::check(&experiment)?;
        experiment.warnings = warnings::of(&experiment);
        Ok(experiment)
    }

    /// Whether any noise is added.
    #[must_use]
    pub fn is_private(&self) -> bool {
        self.config.noise.scheme != Scheme::None
    }

    /// The curator's noise per unit sensitivity: z, or 0 without noise.
    #[must_use]
    pub fn sigma_central(&self) -> f64 {
        if self.is_private() {
            self.calibrated.z()
        } else {
            0.0
        }
    }

    /// Whether noise is shared on another graph than messages are sent on.
    #[must_use]
    pub fn has_noise_topology(&self) -> bool {
        !Arc::ptr_eq(&self.topology, &self.noise_topology)
    }

    /// What the σ's of iteration `iteration`, from 1, are multiplied by: 1 with an even budget.
    #[must_use]
    pub fn noise_factor(&self, iteration: u32) -> f64 {
        let index = iteration.saturating_sub(1) as usize;
        self.noise_factors.get(index).copied().unwrap_or(1.0)
    }

    /// The number of iterations of an even budget that cost what these do: Σ 1/f_l², which is L up to rounding. With
    /// v_u the variance factor of factor 1, μ² = Σ v_u/f_l² is this times v_u.
    #[must_use]
    pub fn even_iterations(&self) -> f64 {
        privacy::even_iterations(&self.noise_factors, self.config.algorithm.iterations)
    }

    /// The noise of one iteration with sensitivity Δ.
    #[must_use]
    pub fn iteration_noise(&self, iteration: u32, sensitivity: f64) -> IterationNoise {
        let scale = sensitivity * self.noise_factor(iteration);
        IterationNoise {
            iteration,
            sensitivity,
            sigma_central: scale * self.sigma_central(),
            sigma_independent: scale * self.noise.sigma_own(),
            sigma_pairwise: scale * self.noise.sigma_pairwise(),
        }
    }

    /// The guarantee, with σ's per unit sensitivity.
    #[must_use]
    pub fn privacy_summary(&self) -> PrivacySummary {
        let privacy = &self.config.privacy;
        PrivacySummary {
            promise: self.is_private().then(|| self.promise().sentence()),
            adjacency: privacy.adjacency,
            sensitivity: privacy.sensitivity,
            calibration: privacy.calibration,
            epsilon: self.is_private().then_some(privacy.epsilon),
            delta: privacy.delta,
            noise_multiplier: self.is_private().then_some(self.calibrated.z()),
            iterations: (1..=self.config.algorithm.iterations)
                .map(|l| self.iteration_noise(l, 1.0))
                .collect(),
            views: self.noise.views().to_vec(),
            groups: self.groups.clone(),
        }
    }

    /// What one record is and against whom it is protected.
    #[must_use]
    pub fn promise(&self) -> Promise {
        self.config.promise()
    }

    /// The configuration with absolute paths, so that it runs from any folder.
    #[must_use]
    pub fn portable_config(&self) -> Config {
        anchored(self.config.clone(), &self.base)
    }

    /// The same hash with the seed left out: a seed can be guessed, and with it a simulation's noise.
    pub(super) fn seedless_hash(&self) -> String {
        hash(&Config {
            seed: 0,
            ..self.config.clone()
        })
    }

    /// BLAKE3 of the configuration as resolved, paths as written, in hexadecimal.
    #[must_use]
    pub fn config_hash(&self) -> String {
        hash(&self.config)
    }
}

/// A configuration with its paths, which start at `base`, made absolute.
pub(super) fn anchored(mut config: Config, base: &Path) -> Config {
    let anchor = |path: &mut PathBuf| {
        let joined = base.join(&*path);
        // Without a current directory nothing is absolute; the joined path is the best there is.
        *path = std::path::absolute(&joined).unwrap_or(joined);
    };
    anchor(&mut config.data.path);
    config.evaluation.test.iter_mut().for_each(anchor);
    config.data.items_file.iter_mut().for_each(anchor);
    config.topology.file_mut().into_iter().for_each(anchor);
    let noise = config.noise_topology.iter_mut();
    noise.filter_map(TopologySource::file_mut).for_each(anchor);
    config
}

/// BLAKE3 of a configuration, in hexadecimal.
fn hash(config: &Config) -> String {
    let text = super::output::resolved(config);
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// Refuses a file in a folder whose name is no text: results name it in `config.toml`.
pub(super) fn check_path(path: &Path) -> Result<(), ExperimentError> {
    match std::path::absolute(path) {
        Ok(whole) if whole.to_str().is_none() => Err(ExperimentError::PathNotText {
            path: path.to_path_buf(),
        }),
        _ => Ok(()),
    }
}

/// Reads and parses an experiment file and applies overrides.
///
/// # Errors
/// [`ExperimentError::Read`], [`ExperimentError::Parse`] or [`ExperimentError::Override`].
pub fn read_config(path: &Path, set: &[String]) -> Result<Config, ExperimentError> {
    check_path(path)?;
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

/// What the peers of an experiment hold: its data after all filters, without what is held out.
///
/// # Errors
/// [`ExperimentError`] of the tables `[data]` and `[evaluation]`.
pub(super) fn training_data(config: Config, base: &Path) -> Result<Interactions, ExperimentError> {
    let mut config = completed(config)?;
    let materials = Materials::default();
    let loaded = materials.loaded(&config.data, base)?;
    let list = filters::item_list(&mut config, base, &materials)?;
    let seed = Seed::from_u64(config.seed);
    filters::filtered(&config, base, &loaded, list.as_deref(), &seed)
        .map(|(train, ..)| Interactions::clone(&train))
}

fn plan_noise(
    config: &Config,
    noise_topology: &Topology,
    calibrated: &Calibrated,
    delta: Delta,
) -> Result<NoisePlan, ExperimentError> {
    let (colluders, peers) = (config.privacy.colluders, noise_topology.graph().nodes());
    if colluders >= peers {
        return Err(ExperimentError::Colluders { colluders, peers });
    }
    if config.engine.kind == EngineKind::Central && config.noise.scheme != Scheme::None {
        return Ok(NoisePlan::curator(calibrated));
    }
    let lambda2 = noise_topology.spectrum().algebraic_connectivity;
    Ok(NoisePlan::new(&NoiseRequest {
        graph: noise_topology.graph(),
        connectivity: lambda2.into(),
        noise_multiplier: calibrated.z(),
        iterations: config.algorithm.iterations,
        delta,
        colluders: config.privacy.colluders,
        overhead: config.privacy.overhead,
        scheme: config.noise.scheme,
        trusted_sum: config.engine.kind.reveals_only_sums(),
        on_disconnect: config.privacy.on_disconnect,
    })?)
}

/// Checks a name and a seed: the name becomes a folder, and TOML holds no larger numbers.
pub(super) fn check_identity(name: &str, seed: u64) -> Result<(), ExperimentError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 80 || name.starts_with('.') || !name.chars().all(fits) {
        let name = name.to_owned();
        return Err(ExperimentError::Name { name });
    }
    if i64::try_from(seed).is_err() {
        return Err(ExperimentError::Seed { seed });
    }
    Ok(())
}

/// Checks what needs no data and fills in defaults that depend on other keys.
fn completed(mut config: Config) -> Result<Config, ExperimentError> {
    // An experiment is one run; what is swept over it is the sweep's.
    config.sweep = None;
    check_identity(&config.name, config.seed)?;
    if config.data.degree_cap == Some(0) {
        return Err(ExperimentError::DegreeCap);
    }
    config.evaluation.check()?;
    filters::check(&config)?;
    if let Latency::Uniform {
        low_micros: low,
        high_micros: high,
    } = config.engine.latency
        && low > high
    {
        return Err(ExperimentError::Latency { low, high });
    }
    let averaging = config.averaging;
    let open = averaging.tolerance.is_none() && averaging.rounds.is_none();
    if open && !averaging.scheme.is_exact() {
        config.averaging.tolerance = Some(DEFAULT_TOLERANCE);
    }
    Ok(config)
}

fn peer_count(config: &Config, loaded: &data::Loaded) -> usize {
    match config.peers.count {
        PeerCount::Users => loaded.interactions.users(),
        PeerCount::Number(count) => count,
    }
}

pub(super) fn mixing_bounds(topology: &Topology) -> MixingBounds {
    let spectrum = topology.spectrum();
    MixingBounds {
        lowest: spectrum.mixing_smallest.low,
        second: spectrum.mixing_second.high,
    }
}

/// Refuses keys that the algorithm has not, or that do not fit, and asks for those it needs.
fn checked_algorithm(config: &Config, items: usize) -> Result<(), ExperimentError> {
    let AlgorithmConfig {
        kind,
        rank,
        block,
        momentum,
        ..
    } = config.algorithm;
    let fits = momentum.is_none_or(|beta| beta.is_finite() && beta >= 0.0);
    if momentum.is_some() != (kind == AlgorithmKind::Momentum) || !fits {
        let kind = kind.name();
        return Err(ExperimentError::Momentum {
            found: momentum,
            kind,
        });
    }
    match block {
        Some(block) if kind != AlgorithmKind::Krylov || !(rank..=items).contains(&block) => {
            Err(ExperimentError::Block {
                block,
                kind: kind.name(),
                rank,
                items,
            })
        }
        _ => Ok(()),
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
