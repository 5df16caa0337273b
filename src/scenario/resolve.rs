//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::path::Path;
use std::sync::Arc;

use super::arranged::Arranged;
use super::clock::Clock;
use super::error::{
    AlgorithmTableError, AveragingTableError, EngineTableError, ExperimentError, NetworkError,
    PrivacyTableError,
};
use super::experiment::Experiment;
use super::materials::Materials;
use super::network::{self, peer_count};
use super::preconditioning::{self, Preconditioning};
use super::rows::Rows;
use super::{
    algorithm_keys, clipping, completion, defaults, dropouts, filters, graph, labels, memory,
    numbers, pilot, placement, planning, promise, recommender, warnings,
};
use crate::algorithm::{Completion, DataFacts, Prelude};
use crate::config::{Config, EngineKind, check_identity, read_config};
use crate::data;
use crate::engine::event::Latency;
use crate::linalg::{ItemWeights, SparseRows};
use crate::papers::Clip;
use crate::plan::Promise;
use crate::privacy::Sensitivity;
use crate::protocol::averaging::DEFAULT_TOLERANCE;
use crate::protocol::{SessionPlanError, Values};
use crate::topology::Topology;
use crate::vocabulary::Seed;

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
        Self::resolve_from(config, &Materials::new(base))
    }

    /// Resolves a configuration whose relative paths start at the materials' base, sharing whatever they hold already.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn resolve_from(config: Config, materials: &Materials) -> Result<Self, ExperimentError> {
        pilot::check_alone(&config)?;
        Self::resolve_part(config, materials)
    }

    /// The same for one of the sessions of an experiment whose algorithm is chosen after a pilot: it spends its part of the budget.
    pub(crate) fn resolve_part(
        config: Config,
        materials: &Materials,
    ) -> Result<Self, ExperimentError> {
        Self::on_graph(config, materials, None)
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
        Self::on_graph(config, &Materials::new(base), Some(Arc::new(topology)))
    }

    /// Builds an experiment on this graph, or where there is none on that of the configuration.
    fn on_graph(
        mut config: Config,
        materials: &Materials,
        topology: Option<Arc<Topology>>,
    ) -> Result<Self, ExperimentError> {
        let nodes = topology.as_ref().map(|topology| topology.graph().nodes());
        defaults::of_format(&mut config, nodes);
        completion::check(&config)?;
        filters::check(&config)?;
        numbers::check(&config)?;
        let mut clock = Clock::default();
        let loaded = clock.time("data", || materials.loaded(&config.data))?;
        defaults::of_data(&mut config, &loaded, nodes)?;
        let topology = match topology {
            Some(topology) => topology,
            None => {
                let peers = peer_count(&config, &loaded);
                clock
                    .time("topology", || materials.topology(&config.topology, peers))
                    .map_err(NetworkError::Topology)?
            }
        };
        Self::assemble(config, &loaded, topology, materials, clock)
    }

    /// An experiment over what has been read, on this communication graph.
    pub(super) fn assemble(
        config: Config,
        loaded: &Arc<data::Loaded>,
        topology: Arc<Topology>,
        materials: &Materials,
        mut clock: Clock,
    ) -> Result<Self, ExperimentError> {
        let base = materials.base();
        let mut config = completed(config)?;
        graph::keep_apart(&config, base, materials.in_memory())?;
        let list = clock.time("data", || filters::item_list(&mut config, materials))?;
        filters::note_users(&mut config, materials)?;
        recommender::complete(&mut config, &loaded.interactions, list.as_deref())?;
        let floor = config.data.floor();
        let peers = peer_count(&config, loaded);
        let network = network::matched(&config, peers, topology, materials, &mut clock)?;
        dropouts::settle(&mut config, &network.topology)?;
        let placed = placement::of(&config, loaded, &network.topology)?;
        let sizes = (floor, peers);
        let rows = Rows::of(
            &config,
            loaded,
            list.as_deref(),
            sizes,
            placed.as_ref(),
            materials,
        )?;
        let titles = labels::of(&config.data, rows.user_rows.dimension(), materials)?;
        let prepared = AlgorithmSetup::of(&config, loaded, &rows, peers)?;
        let most_rows = rows.peer_rows.iter().map(SparseRows::len).max();
        let plan = planning::plan(
            &config,
            (prepared.arranged.program(), &prepared.promise),
            network,
            most_rows.unwrap_or(0),
            (materials.noise(), &mut clock),
        )?;
        let seed = Seed::from_u64(config.seed);
        let mut experiment = Self {
            plan: Arc::new(plan),
            algorithm: prepared.arranged.into_algorithm(),
            base: base.to_path_buf(),
            in_memory: materials.in_memory().clone(),
            loaded: Arc::clone(loaded),
            interactions: rows.interactions,
            held_out: rows.held_out,
            catalogue: rows.catalogue,
            data: rows.data,
            titles,
            samples: rows.samples,
            rating_test: rows.rating_test,
            clip: prepared.clip,
            completion: prepared.told.filter(|_| completion::is_meant(&config)),
            config,
            centring: prepared.centring,
            mean_by_rule: prepared.mean_by_rule,
            preconditioning: prepared.preconditioning,
            user_rows: rows.user_rows,
            peer_rows: rows.peer_rows,
            placed,
            sensitivity: prepared.sensitivity,
            warnings: Vec::new(),
            seconds: clock.seconds,
            bound_faults: None,
        };
        if let Some(faults) = &experiment.config.faults {
            dropouts::numbered(faults, experiment.topology())?;
            experiment.bound_faults = Some(experiment.faults());
        }
        // Whatever a session can refuse is refused here, so that sessions of other seeds cannot fail.
        experiment.try_session(&seed)?;
        dropouts::check_program(&experiment.config, &experiment.plan)?;
        memory::check(&experiment)?;
        experiment.warnings = warnings::of(&experiment);
        Ok(experiment)
    }
}

/// The algorithm of an experiment with all that wraps it, and the promise that its noise is planned for.
struct AlgorithmSetup {
    arranged: Arranged,
    promise: Promise,
    clip: Option<Clip>,
    /// What methods of completion are told of the rows.
    told: Option<Completion>,
    centring: Option<Prelude>,
    /// Whether the share of the mean is that of the public rule.
    mean_by_rule: bool,
    preconditioning: Option<(Preconditioning, Arc<ItemWeights>)>,
    sensitivity: Sensitivity,
}

impl AlgorithmSetup {
    /// That of a configuration for these rows of so many peers.
    fn of(
        config: &Config,
        loaded: &data::Loaded,
        rows: &Rows,
        peers: usize,
    ) -> Result<Self, ExperimentError> {
        let (slots, items) = (rows.user_rows.len(), rows.user_rows.dimension());
        algorithm_keys::check(config, items)?;
        let mut promise = promise::of(config, false).map_err(PrivacyTableError::from)?;
        promise::check(config).map_err(PrivacyTableError::from)?;
        // Searches go with clipped quantities, of which nothing is proved in absolute values: their Laplace plans are refused.
        let searches = clipping::search_epsilon(config, &promise)?;
        promise
            .check_participants(peers, searches.is_some())
            .map_err(PrivacyTableError::from)?;
        let told = completion::told(config, slots, items);
        let clip = clipping::of(config, slots, searches);
        let facts = DataFacts {
            items,
            floor: config.data.degree_floor(),
            completion: told,
            slots,
            search_epsilon: clip.map_or(0.0, |clip| clip.test_epsilon),
        };
        let algorithm = config.algorithm.table().algorithm(&facts);
        let shape = graph::shape(config, loaded.interactions.users());
        let arranged = Arranged::new(algorithm.map_err(SessionPlanError::from)?);
        let arranged = arranged.on(shape).map_err(AlgorithmTableError::from)?;
        let preconditioning = preconditioning::of(config, &rows.interactions.item_degrees())
            .map_err(AlgorithmTableError::from)?;
        let arranged = match &preconditioning {
            Some((_, weights)) => arranged
                .preconditioned(Arc::clone(weights))
                .map_err(AlgorithmTableError::from)?,
            None => arranged,
        };
        let bounded = planning::bounded(config, arranged, &mut promise, (slots, items))?;
        promise.part = pilot::part(config)?;
        let (centring, mean_by_rule) = bounded.mean.unzip();
        Ok(Self {
            arranged: bounded.arranged,
            promise,
            clip,
            told,
            centring,
            mean_by_rule: mean_by_rule.unwrap_or(false),
            preconditioning,
            sensitivity: bounded.sensitivity,
        })
    }
}

/// Checks what needs no data and fills in defaults that depend on other keys.
pub(super) fn completed(config: Config) -> Result<Config, ExperimentError> {
    numbers::check_source(&config)?;
    completed_tables(config)
}

/// Like [`completed`], of tables that name no file of rows.
pub(super) fn completed_tables(mut config: Config) -> Result<Config, ExperimentError> {
    // An experiment is one run; what is swept over it is the sweep's.
    config.sweep = None;
    check_identity(&config.name, config.seed)?;
    config.evaluation.check()?;
    completion::check(&config)?;
    filters::check(&config)?;
    recommender::check(&config)?;
    graph::check(&config)?;
    numbers::check_read(&config)?;
    dropouts::check(&config)?;
    graph::complete(&mut config);
    if let Latency::Uniform {
        low_micros: low,
        high_micros: high,
    } = config.engine.latency
        && low > high
    {
        return Err(EngineTableError::Latency { low, high }.into());
    }
    let engine = config.engine;
    if !engine.loss.is_none() && engine.kind != EngineKind::Event {
        let kind = engine.kind.name();
        return Err(EngineTableError::Loss { kind }.into());
    }
    let averaging = &config.averaging;
    if averaging.values != Values::F64 {
        let engine = config.engine.kind;
        let why = match engine {
            EngineKind::Central => Some("has nobody who sends"),
            EngineKind::Federated => Some("has an ideal sum of real numbers"),
            EngineKind::Analytic => Some("draws estimates from a law that knows no rounding"),
            EngineKind::Lockstep | EngineKind::Event | EngineKind::Swarm => None,
        };
        if let Some(why) = why {
            let (values, engine) = (averaging.values.name(), engine.name());
            return Err(AveragingTableError::Values {
                values,
                engine,
                why,
            }
            .into());
        }
    }
    let open = averaging.tolerance.is_none() && averaging.rounds.is_none();
    if open && !averaging.scheme.is_exact() {
        config.averaging.tolerance = Some(DEFAULT_TOLERANCE);
    }
    Ok(config)
}
