//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use super::arranged::Arranged;
use super::clock::Clock;
use super::error::{
    AlgorithmTableError, AveragingTableError, DataTableError, EngineTableError, ExperimentError,
    NetworkError, PrivacyTableError,
};
use super::experiment::Experiment;
use super::materials::Materials;
use super::network::{self, peer_count};
use super::peer_names::Matched;
use super::rows::Rows;
use super::{
    algorithm_keys, averaging, clipping, completion, defaults, dropouts, filters, graph, labels,
    memory, numbers, pilot, placement, preconditioning, promise, rating, recommender, warnings,
};
use crate::algorithm::DataFacts;
use crate::algorithm::Program;
use crate::config::{Config, EngineKind, check_identity, read_config};
use crate::data;
use crate::engine::event::Latency;
use crate::linalg::SparseRows;
use crate::plan::{Division, Guarantee, Network, Plan, PlanError};
use crate::privacy::PrivacyError;
use crate::protocol::averaging::DEFAULT_TOLERANCE;
use crate::protocol::{SessionPlanError, Values};
use crate::topology::Topology;
use crate::vocabulary::{Distribution, Quantity, Seed};

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
        let floor = NonZeroU32::new(config.data.degree_floor).ok_or(DataTableError::DegreeFloor)?;
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
        let items = rows.user_rows.dimension();
        algorithm_keys::check(&config, items)?;
        let titles = labels::of(&config.data, items, materials)?;
        let own_files = materials.are_of_own_files();
        let mut promise = promise::of(&config, own_files).map_err(PrivacyTableError::from)?;
        promise::check(&config).map_err(PrivacyTableError::from)?;
        // Searches go with clipped quantities, of which nothing is proved in absolute values: their Laplace plans are refused.
        let searches = clipping::search_epsilon(&config, &promise)?;
        promise
            .check_participants(peers, searches.is_some())
            .map_err(PrivacyTableError::from)?;
        let told = completion::told(&config, rows.user_rows.len(), items);
        let slots = rows.user_rows.len();
        let clip = clipping::of(&config, slots, searches);
        let facts = DataFacts {
            items,
            floor: floor.get(),
            completion: told,
            slots,
            search_epsilon: clip.map_or(0.0, |clip| clip.test_epsilon),
        };
        let algorithm = config
            .algorithm
            .table()
            .algorithm(&facts)
            .map_err(SessionPlanError::from)?;
        let shape = graph::shape(&config, loaded.interactions.users());
        let arranged = Arranged::new(algorithm);
        let arranged = arranged.on(shape).map_err(AlgorithmTableError::from)?;
        let preconditioning = preconditioning::of(&config, &rows.interactions.item_degrees())
            .map_err(AlgorithmTableError::from)?;
        let arranged = match &preconditioning {
            Some((_, weights)) => arranged
                .preconditioned(Arc::clone(weights))
                .map_err(AlgorithmTableError::from)?,
            None => arranged,
        };
        promise.bounds = promise.bounds.with_rating(rating::range(&config, items)?);
        let first = &arranged.first().blocks[0];
        let columns = first.columns;
        let sensitivity = promise
            .bounds
            .of(first.quantity, columns)
            .map_err(PrivacyTableError::from)?;
        if !Division::takes_weights(arranged.program()) && !config.privacy.budget.is_even() {
            let kind = config.algorithm.name();
            return Err(AlgorithmTableError::Weights { kind }.into());
        }
        let centring = match &rows.samples {
            Some(samples) => numbers::prelude(&config, samples, &promise, columns)?,
            None => None,
        };
        let mean_by_rule = centring.is_some_and(|(_, by_rule)| by_rule);
        let centring = centring.map(|(centring, _)| centring);
        let arranged = match centring {
            Some(prelude) => arranged
                .centred(prelude)
                .map_err(AlgorithmTableError::from)?,
            None => arranged,
        };
        promise.part = pilot::part(&config)?;
        check_analytic(&config, arranged.program())?;
        promise::check_bits(&config).map_err(PrivacyTableError::from)?;
        let most_rows = rows.peer_rows.iter().map(SparseRows::len).max();
        let most_rows = most_rows.unwrap_or(0);
        let Matched {
            topology,
            noise_topology,
            ..
        } = network;
        let colluders = config.privacy.colluders;
        if colluders >= peers && promise.noise.distribution() == Distribution::Gaussian {
            return Err(PrivacyTableError::Colluders { colluders, peers }.into());
        }
        let program = arranged.program();
        let guarantee = clock.time("privacy", || {
            let memo = Some(materials.noise());
            Guarantee::with(program, &promise, &noise_topology, most_rows, memo)
        });
        let guarantee = guarantee.map_err(|error| refused(&config, error))?;
        if guarantee.noise().ring().is_some() {
            if config.engine.kind == EngineKind::Analytic {
                return Err(EngineTableError::AnalyticRing.into());
            }
            // Before its schedule is compiled, which may be refused for reasons that have nothing to do with the ring.
            if !config.averaging.scheme.is_exact() {
                return Err(AveragingTableError::Ring.into());
            }
        }
        let averaging = averaging::of(&config.averaging, config.engine.loss, &topology)?;
        let network = Network {
            topology,
            noise_topology,
            averaging,
            values: config.averaging.values,
            most_rows,
        };
        let plan = Plan::under(guarantee, program, &promise, &network);
        let plan = plan.map_err(|error| refused(&config, error))?;
        let seed = Seed::from_u64(config.seed);
        let mut experiment = Self {
            plan: Arc::new(plan),
            algorithm: arranged.into_algorithm(),
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
            clip,
            completion: told.filter(|_| completion::is_meant(&config)),
            config,
            centring,
            mean_by_rule,
            preconditioning,
            user_rows: rows.user_rows,
            peer_rows: rows.peer_rows,
            placed,
            sensitivity,
            warnings: Vec::new(),
            seconds: clock.seconds,
            bound_faults: None,
            own_files,
            own_session: None,
        };
        if let Some(faults) = &experiment.config.faults {
            dropouts::numbered(faults, experiment.topology())?;
            experiment.bound_faults = Some(experiment.faults());
        }
        if let Some(limit) = materials.memory_limit() {
            experiment.check_widths()?;
            memory::check_member(&experiment, limit)?;
        }
        // Whatever a session can refuse is refused here, so that sessions of other seeds cannot fail. Where peers have files of their own the session is
        // made, and whatever it can refuse refused, once the noise is known to be what was stated.
        if !own_files {
            experiment.try_session(&seed)?;
        }
        dropouts::check_program(&experiment)?;
        if !own_files {
            memory::check(&experiment)?;
        }
        experiment.warnings = warnings::of(&experiment);
        Ok(experiment)
    }
}

/// Why there is no plan, in terms of the file's keys.
pub(super) fn refused(config: &Config, error: PlanError) -> ExperimentError {
    match error {
        PlanError::Privacy(error) => match dropouts::refused(config, error.clone()) {
            Some(refused) => refused.into(),
            None => PrivacyTableError::from(error).into(),
        },
        PlanError::Averaging(error) => AveragingTableError::from(error).into(),
        PlanError::Inexact => AveragingTableError::Ring.into(),
        PlanError::Session(error) => error.into(),
        PlanError::Unsupported(error) => AlgorithmTableError::from(error).into(),
        PlanError::Charge { .. } => PrivacyTableError::from(PrivacyError::Iterations).into(),
    }
}

/// Refuses releases that the analytic engine has no law of.
fn check_analytic(config: &Config, program: &Program) -> Result<(), EngineTableError> {
    let mut blocks = program.releases.iter().flat_map(|one| &one.blocks);
    match blocks.find(|block| block.quantity != Quantity::Product) {
        Some(other) if config.engine.kind == EngineKind::Analytic => {
            let released = other.quantity;
            Err(EngineTableError::AnalyticRelease { released })
        }
        _ => Ok(()),
    }
}

/// Checks what needs no data and fills in defaults that depend on other keys.
pub(super) fn completed(mut config: Config) -> Result<Config, ExperimentError> {
    // An experiment is one run; what is swept over it is the sweep's.
    config.sweep = None;
    check_identity(&config.name, config.seed)?;
    if config.data.degree_cap == Some(0) {
        return Err(DataTableError::DegreeCap.into());
    }
    config.evaluation.check()?;
    completion::check(&config)?;
    filters::check(&config)?;
    recommender::check(&config)?;
    numbers::check(&config)?;
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
