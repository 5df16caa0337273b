//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use super::clock::Clock;
use super::error::{
    AlgorithmTableError, AveragingTableError, DataTableError, EngineTableError, ExperimentError,
    NetworkError, PrivacyTableError,
};
use super::experiment::Experiment;
use super::materials::Materials;
use super::mechanism::{Arranged, Mechanism};
use super::network::{self, peer_count};
use super::noise::{NoiseAsked, Planned};
use super::peer_names::Matched;
use super::rows::Rows;
use super::shared::Shared;
use super::specs::AveragingSpec;
use super::{
    algorithm_keys, clipping, completion, dropouts, filters, graph, labels, laplace, memory,
    numbers, pilot, placement, preconditioning, rating, recommender, warnings,
};
use crate::config::{Config, DataFacts, EngineKind, check_identity, read_config};
use crate::data;
use crate::engine::event::Latency;
use crate::engine::mixing_bounds;
use crate::linalg::SparseRows;
use crate::privacy::{NoisePlan, SensitivitySpec};
use crate::protocol::averaging::DEFAULT_TOLERANCE;
use crate::protocol::{PlanError, Values};
use crate::topology::Topology;
use crate::vocabulary::{Quantity, Seed};

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
        completion::check(&config)?;
        filters::check(&config)?;
        numbers::check(&config)?;
        let mut clock = Clock::default();
        let loaded = clock.time("data", || materials.loaded(&config.data))?;
        let peers = peer_count(&config, &loaded);
        let topology = clock
            .time("topology", || materials.topology(&config.topology, peers))
            .map_err(NetworkError::Topology)?;
        Self::assemble(config, &loaded, topology, materials, clock)
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
        completion::check(&config)?;
        filters::check(&config)?;
        numbers::check(&config)?;
        let mut clock = Clock::default();
        let materials = Materials::new(base);
        let loaded = clock.time("data", || materials.loaded(&config.data))?;
        let topology = Arc::new(topology);
        Self::assemble(config, &loaded, topology, &materials, clock)
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
        graph::keep_apart(&config, base)?;
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
        let asked = NoiseAsked::of(&config).of_files(own_files);
        let budget = asked.budget().map_err(PrivacyTableError::from)?;
        laplace::check(&config).map_err(PrivacyTableError::from)?;
        // Searches go with clipped quantities, of which nothing is proved in absolute values: their Laplace plans are refused.
        let searched = match budget {
            Some(budget) => clipping::searched(&config, budget)?,
            None => None,
        };
        asked
            .check_participants(peers, searched.is_some())
            .map_err(PrivacyTableError::from)?;
        let told = completion::told(&config, rows.user_rows.len(), items);
        let facts = DataFacts {
            items,
            floor: floor.get(),
            completion: told,
            clip: clipping::of(&config, rows.user_rows.len(), searched.as_ref()),
        };
        let algorithm = config
            .algorithm
            .algorithm(&facts)
            .map_err(PlanError::from)?;
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
        let sensitivity_spec = SensitivitySpec::new(
            config.privacy.adjacency,
            config.privacy.sensitivity,
            config.data.degree_floor,
            config.data.degree_cap,
        )
        .with_rating(rating::range(&config, items)?);
        let first = &arranged.first().blocks[0];
        let columns = first.columns;
        let sensitivity = sensitivity_spec
            .of(first.quantity, columns)
            .map_err(PrivacyTableError::from)?;
        if !arranged.takes_weights() && !config.privacy.budget.is_even() {
            let kind = config.algorithm.kind.name();
            return Err(AlgorithmTableError::Weights { kind }.into());
        }
        let centring = match &rows.samples {
            Some(samples) => {
                numbers::centring(&config, samples, &sensitivity_spec, columns, budget)?
            }
            None => None,
        };
        let mean_by_rule = centring.is_some_and(|(_, by_rule)| by_rule);
        let centring = centring.map(|(centring, _)| centring);
        let law = config.noise.distribution;
        let mechanism = arranged
            .mechanism(centring.as_ref(), &config.privacy.budget, law)
            .map_err(PrivacyTableError::from)?
            .of_part(pilot::part(&config)?)
            .with_retries(config.dropouts.map_or(0, |one| one.retries));
        check_analytic(&config, &mechanism)?;
        let most_rows = rows.peer_rows.iter().map(SparseRows::len).max();
        let size = (rows.peer_rows.len(), most_rows.unwrap_or(0));
        let ring = asked.ring(&mechanism, &sensitivity_spec, size);
        let ring = ring.map_err(PrivacyTableError::from)?;
        let Matched {
            topology,
            noise_topology,
            renumbered,
        } = network;
        let planned = match budget {
            Some(budget) => {
                let calibrated = match searched {
                    Some(searched) => searched.calibrated,
                    None => asked
                        .calibrated(budget, mechanism.charge, ring, None)
                        .map_err(PrivacyTableError::from)?,
                };
                let noise = clock.time("privacy", || {
                    let own = mechanism.has_own_coordinates();
                    let key = (&calibrated, mechanism.charge, ring, own);
                    materials.plan(&config, peers, renumbered, key, || {
                        let colluders = config.privacy.colluders;
                        if colluders >= peers {
                            return Err(PrivacyTableError::Colluders { colluders, peers }.into());
                        }
                        let lambda2 = || noise_topology.spectrum().algebraic_connectivity.into();
                        let plan = asked.gaussian(
                            (noise_topology.graph(), lambda2),
                            (budget, &calibrated),
                            &mechanism,
                            ring,
                        );
                        plan.map_err(|error| match dropouts::refused(&config, error.clone()) {
                            Some(refused) => ExperimentError::from(refused),
                            None => PrivacyTableError::from(error).into(),
                        })
                    })
                })?;
                asked
                    .with_groups((budget, calibrated), noise, &mechanism, peers)
                    .map_err(PrivacyTableError::from)?
            }
            None => clock
                .time("privacy", || {
                    asked.laplace(noise_topology.graph(), &mechanism)
                })
                .map(|planned| planned.map(Arc::new))
                .map_err(PrivacyTableError::from)?,
        };
        let Planned {
            calibrated,
            plan: noise,
            groups,
        } = planned;
        if noise.ring().is_some() {
            if config.engine.kind == EngineKind::Analytic {
                return Err(EngineTableError::AnalyticRing.into());
            }
            // Before its schedule is compiled, which may be refused for reasons that have nothing to do with the ring.
            if !config.averaging.scheme.is_exact() {
                return Err(AveragingTableError::Ring.into());
            }
        }
        let bounds = mixing_bounds(&topology);
        let schedule = AveragingSpec::of(&config.averaging, config.engine.loss, &topology)?
            .compile(&topology, bounds)
            .map_err(AveragingTableError::from)?;
        let rounds = schedule.rounds();
        let contraction = match schedule.contraction() {
            Some(certified) => certified,
            None => config
                .averaging
                .scheme
                .contraction(bounds, rounds)
                .map_err(AveragingTableError::from)?,
        };
        let seed = Seed::from_u64(config.seed);
        let mut experiment = Self {
            shared: Shared::of(&topology, &noise_topology),
            noise_topology,
            delta: laplace::delta(&config),
            base: base.to_path_buf(),
            loaded: Arc::clone(loaded),
            interactions: rows.interactions,
            held_out: rows.held_out,
            catalogue: rows.catalogue,
            data: rows.data,
            titles,
            samples: rows.samples,
            rating_test: rows.rating_test,
            clip: facts.clip,
            completion: told.filter(|_| completion::is_meant(&config)),
            config,
            centring,
            mean_by_rule,
            preconditioning,
            user_rows: rows.user_rows,
            peer_rows: rows.peer_rows,
            placed,
            topology,
            mechanism,
            sensitivity_spec,
            sensitivity,
            calibrated,
            noise: NoisePlan::clone(&noise),
            schedule: Arc::new(schedule),
            groups,
            rounds,
            contraction,
            warnings: Vec::new(),
            seconds: clock.seconds,
            bound_faults: None,
            own_files,
            own_session: None,
        };
        if let Some(faults) = &experiment.config.faults {
            dropouts::numbered(faults, &experiment.topology)?;
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

/// Refuses releases that the analytic engine has no law of.
fn check_analytic(config: &Config, mechanism: &Mechanism) -> Result<(), EngineTableError> {
    let mut blocks = mechanism
        .program
        .releases
        .iter()
        .flat_map(|one| &one.blocks);
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
