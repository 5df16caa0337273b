//! From an experiment file to everything a run needs, with every cross-check in one place.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use super::clock::Clock;
use super::data_summary::DataSummary;
use super::error::{
    AlgorithmTableError, AveragingTableError, DataTableError, EngineTableError, ExperimentError,
    NetworkError, PrivacyTableError,
};
use super::experiment::{Experiment, mixing_bounds};
use super::laplace::LaplaceAsked;
use super::materials::{Held, Materials};
use super::peer_names::{self, Matched};
use super::shared::Shared;
use super::specs::AveragingSpec;
use super::{
    clipping, completion, filters, graph, laplace, memory, numbers, pilot, rating, ring, warnings,
};
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmKind, AlgorithmSpec, Form, NoiseScale, Output, charged,
    share_factors,
};
use crate::config::{
    AlgorithmConfig, Config, EngineKind, NoiseConfig, PeerCount, check_identity, read_config,
};
use crate::data;
use crate::engine::PeerRows;
use crate::engine::analytic;
use crate::engine::event::Latency;
use crate::linalg::{SparseRows, start_block};
use crate::privacy::{
    self, Budget, Calibrated, Delta, NoisePlan, NoiseRequest, PrivacyError, RingRequest, Scheme,
    SensitivitySpec,
};
use crate::protocol::averaging::DEFAULT_TOLERANCE;
use crate::protocol::{PlanError, Values};
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
        completion::check(&config)?;
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
        let seed = Seed::from_u64(config.seed);
        let floor = NonZeroU32::new(config.data.degree_floor).ok_or(DataTableError::DegreeFloor)?;
        let peers = peer_count(&config, loaded);
        let nodes = topology.graph().nodes();
        if peers != nodes {
            return Err(NetworkError::NodeCount { peers, nodes }.into());
        }
        let most = peers.min(analytic::MAX_PROBES);
        let probes = config.engine.probes;
        if config.engine.kind == EngineKind::Analytic && !(1..=most).contains(&probes) {
            return Err(EngineTableError::Probes {
                found: probes,
                most,
            }
            .into());
        }
        let noise_topology = match &config.noise_topology {
            Some(source) => clock
                .time("topology", || materials.topology(source, peers))
                .map_err(NetworkError::NoiseTopology)?,
            None => Arc::clone(&topology),
        };
        let Matched {
            topology,
            noise_topology,
            renumbered,
        } = peer_names::matched(topology, noise_topology).map_err(NetworkError::from)?;
        let held = materials.held(&config, || match numbers::is_matrix(&config.data) {
            true => Ok(numbers::held(&config, loaded)),
            false => filters::filtered(&config, base, loaded, list.as_deref(), &seed),
        })?;
        let (interactions, data, held_out) = Held::clone(&held);
        // Under noise no data at all is data like any other: a refusal would tell it apart from its neighbours.
        let of_numbers = numbers::are_meant(&config.data);
        if !of_numbers && interactions.is_empty() && config.noise.scheme == Scheme::None {
            return Err(DataTableError::NoInteractions {
                ratings: data.ratings,
                threshold: config.data.threshold,
            }
            .into());
        }
        let data = DataSummary {
            degree_floor: config.data.degree_floor,
            ..data
        };
        let samples = of_numbers
            .then(|| {
                let make = || numbers::prepared(&config, base, loaded, &interactions);
                materials.samples(&config, make)
            })
            .transpose()?;
        let completes = completion::is_meant(&config);
        let rating_test = completes
            .then(|| {
                let of = (&*interactions, held_out.as_ref());
                let make = || completion::rating_test(&config, base, loaded, of);
                materials.rating_test(&config, make)
            })
            .transpose()?;
        let user_rows = materials.user_rows(&config, || match &samples {
            Some(samples) => numbers::rows(&config, base, samples),
            None => Ok(interactions.normalised_rows(floor)),
        })?;
        let peer_rows =
            materials.peer_rows(&config, || filters::dealt(&config, &user_rows, peers))?;
        let items = user_rows.dimension();
        checked_algorithm(&config, items)?;
        if config.algorithm.kind == AlgorithmKind::Auto {
            return Err(PlanError::from(AlgorithmError::Unchosen).into());
        }
        checked_counts(&config, items)?;
        let told = completion::told(&config, user_rows.len(), items);
        let spec = config.algorithm.spec(told).map_err(PlanError::from)?;
        let law = config.noise.distribution;
        let budget = match law {
            Distribution::Gaussian => {
                let privacy = &config.privacy;
                let budget = Budget::new(privacy.epsilon, privacy.delta);
                Some(budget.map_err(PrivacyTableError::from)?)
            }
            Distribution::Laplace => None,
        };
        laplace::check(&config).map_err(PrivacyTableError::from)?;
        // Searches go with clipped quantities, of which nothing is proved in absolute values: their Laplace plans are refused.
        let searched = match budget {
            Some(budget) => clipping::searched(&config, budget)?,
            None => None,
        };
        let spec = clipping::of(&config, spec, user_rows.len(), searched.as_ref())?;
        let plain = spec.build(items).map_err(PlanError::from)?;
        let rows = loaded.interactions.users();
        let around = graph::around(&config, rows, Arc::clone(&plain));
        let (spec, plain) = match around.map_err(AlgorithmTableError::from)? {
            Some(around) => (AlgorithmSpec::Own(Arc::clone(&around)), around),
            None => (spec, plain),
        };
        let counted = plain.releases();
        let first = &counted[0].blocks[0];
        let (released, columns) = (first.quantity, first.columns);
        let sensitivity_spec = SensitivitySpec::new(
            config.privacy.adjacency,
            config.privacy.sensitivity,
            config.data.degree_floor,
            config.data.degree_cap,
        )
        .with_rating(rating::range(&config, items)?);
        let sensitivity = sensitivity_spec
            .of(released, columns)
            .map_err(PrivacyTableError::from)?;
        // A whole number of releases, fewer than a plan may have. A mean that is released first takes its share of what they cost.
        let charge = charged(&counted, |_| 1.0) as u32;
        let shares = share_factors(&counted);
        let split = &config.privacy.budget;
        let batches = counted.iter().any(|release| release.batch.is_some());
        if (batches || !shares.is_empty()) && !split.is_even() {
            let kind = config.algorithm.kind.name();
            return Err(AlgorithmTableError::Weights { kind }.into());
        }
        let weights = split.noise_factors(counted.len() as u32);
        let weights = weights.map_err(PrivacyTableError::from)?;
        let centring = match &samples {
            Some(samples) => {
                numbers::centring(&config, samples, &sensitivity_spec, columns, budget)?
            }
            None => None,
        };
        let (spec, algorithm, weights) = match &centring {
            Some(centring) => {
                let factors = centring.factors(&weights, counted.len());
                let algorithm = centring.around(plain);
                let spec = AlgorithmSpec::Own(Arc::clone(&algorithm));
                (spec, algorithm, factors)
            }
            None => (spec, plain, weights),
        };
        let releases = algorithm.releases();
        let weights = match pilot::part(&config)? {
            Some(part) => part.factors(&weights, releases.len()),
            None => weights,
        };
        let mut blocks = releases.iter().flat_map(|release| &release.blocks);
        if config.engine.kind == EngineKind::Analytic
            && let Some(other) = blocks.find(|block| block.quantity != Quantity::Product)
        {
            let released = other.quantity;
            return Err(EngineTableError::AnalyticRelease { released }.into());
        }
        let ring = ring_request(
            &config,
            algorithm.as_ref(),
            &sensitivity_spec,
            &peer_rows,
            &weights,
        )
        .map_err(PrivacyTableError::from)?;
        let noise_factors = if shares.is_empty() { weights } else { shares };
        let noise_factors: Vec<f64> = noise_factors.into_iter().map(|f| law.factor(f)).collect();
        let cost = |index: usize| noise_factors.get(index).map_or(1.0, |f| law.cost(*f));
        let distance = ring.map_or(0.0, |ring| ring.distance);
        let own = releases.iter().any(|one| one.form == Form::OwnCoordinates);
        let (calibrated, noise, groups) = match budget {
            Some(budget) => {
                let calibrated = match searched {
                    Some(searched) => searched.calibrated,
                    None => {
                        let reduced = privacy::ring::distance::reduced(budget, distance);
                        let reduced = reduced.map_err(PrivacyTableError::from)?;
                        privacy::calibrate(config.privacy.calibration, reduced, charge)
                            .map_err(PrivacyTableError::from)?
                    }
                };
                let noise = clock.time("privacy", || {
                    materials.plan(&config, peers, renumbered, (charge, ring, own), || {
                        let asked = (charge, budget.delta, ring);
                        let plan = plan_noise(&config, &noise_topology, &calibrated, asked)?;
                        let charged = (charge, config.privacy.colluders);
                        Ok::<_, PrivacyTableError>(match own {
                            true => plan.with_coordinates(&calibrated, charged, budget.delta),
                            false => plan,
                        })
                    })
                })?;
                let groups = noise.groups(
                    config.privacy.adjacency,
                    config.engine.kind.seen(),
                    (peers, config.privacy.colluders),
                    charged(&releases, cost),
                    budget.delta,
                );
                (calibrated, noise, groups.map_err(PrivacyTableError::from)?)
            }
            None => {
                let asked = LaplaceAsked::of(&config);
                let squares = |index: usize| noise_factors.get(index).map_or(1.0, |f| f.powi(-2));
                let squares = charged(&releases, squares);
                let planned = clock.time("privacy", || {
                    asked.plan(noise_topology.graph(), charge, squares)
                });
                let (calibrated, noise) = planned.map_err(PrivacyTableError::from)?;
                let groups = asked.groups(&noise, peers);
                (calibrated, Arc::new(noise), groups)
            }
        };
        if noise.ring().is_some() {
            if config.engine.kind == EngineKind::Analytic {
                return Err(EngineTableError::AnalyticRing.into());
            }
            // Before its program is compiled, which may be refused for reasons that have nothing to do with the ring.
            if !config.averaging.scheme.is_exact() {
                return Err(AveragingTableError::Ring.into());
            }
        }
        let bounds = mixing_bounds(&topology);
        let program = AveragingSpec::of(&config.averaging, config.engine.loss, &topology)?
            .compile(&topology, bounds)
            .map_err(AveragingTableError::from)?;
        let rounds = program.rounds();
        let contraction = match program.contraction() {
            Some(certified) => certified,
            None => config
                .averaging
                .scheme
                .contraction(bounds, rounds)
                .map_err(AveragingTableError::from)?,
        };
        let delta = laplace::delta(&config);
        let mut experiment = Self {
            shared: Shared::of(&topology, &noise_topology),
            noise_topology,
            config,
            base: base.to_path_buf(),
            loaded: Arc::clone(loaded),
            interactions,
            held_out,
            data,
            samples,
            rating_test,
            completion: told.filter(|_| completes),
            centring,
            user_rows,
            peer_rows,
            topology,
            spec,
            algorithm,
            sensitivity_spec,
            sensitivity,
            calibrated,
            delta,
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
}

fn plan_noise(
    config: &Config,
    noise_topology: &Topology,
    calibrated: &Calibrated,
    (charge, delta, ring): (u32, Delta, Option<RingRequest>),
) -> Result<NoisePlan, PrivacyTableError> {
    let (colluders, peers) = (config.privacy.colluders, noise_topology.graph().nodes());
    if colluders >= peers {
        return Err(PrivacyTableError::Colluders { colluders, peers });
    }
    if config.engine.kind == EngineKind::Central && config.noise.scheme != Scheme::None {
        return Ok(NoisePlan::curator(calibrated));
    }
    let lambda2 = noise_topology.spectrum().algebraic_connectivity;
    Ok(NoisePlan::new(&NoiseRequest {
        graph: noise_topology.graph(),
        connectivity: lambda2.into(),
        noise_multiplier: calibrated.z(),
        iterations: charge,
        delta,
        colluders: config.privacy.colluders,
        overhead: config.privacy.overhead,
        scheme: config.noise.scheme,
        trusted_sum: config.engine.kind.reveals_only_sums(),
        on_disconnect: config.privacy.on_disconnect,
        ring,
    })?)
}

/// What the releases ask of a ring, where sums are integers mod 2^k; `None` for noise of real numbers, such as a curator's.
fn ring_request(
    config: &Config,
    algorithm: &dyn Algorithm,
    sensitivity: &SensitivitySpec,
    peer_rows: &PeerRows,
    noise_factors: &[f64],
) -> Result<Option<RingRequest>, PrivacyError> {
    let NoiseConfig { scheme, bits, .. } = config.noise;
    if scheme != Scheme::Ring {
        return match bits {
            Some(_) => Err(PrivacyError::BitsOfNothing),
            None => Ok(None),
        };
    }
    if config.engine.kind == EngineKind::Central {
        return Ok(None);
    }
    let range = ring::Range {
        dimension: algorithm.dimension(),
        peers: peer_rows.len(),
        rows: peer_rows.iter().map(SparseRows::len).max().unwrap_or(0),
    };
    ring::request(
        &algorithm.releases(),
        sensitivity,
        range,
        noise_factors,
        bits,
    )
    .map(Some)
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
    filters::check(&config)?;
    completion::check(&config)?;
    numbers::check(&config)?;
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

fn peer_count(config: &Config, loaded: &data::Loaded) -> usize {
    match config.peers.count {
        PeerCount::Vertices if graph::is_bipartite(config) => {
            loaded.interactions.users() + loaded.interactions.items()
        }
        PeerCount::Users | PeerCount::Vertices => loaded.interactions.users(),
        PeerCount::Number(count) => count,
    }
}

/// Refuses a rank or iterations of 0, and more columns than there are items.
fn checked_counts(config: &Config, items: usize) -> Result<(), ExperimentError> {
    let AlgorithmConfig {
        rank, iterations, ..
    } = config.algorithm;
    if rank == 0 {
        let name = "algorithm.rank";
        return Err(PrivacyTableError::from(PrivacyError::Zero { name }).into());
    }
    if iterations == 0 {
        return Err(PrivacyTableError::from(PrivacyError::Iterations).into());
    }
    // Whoever asks for more has no starting block, which says why.
    let start = |source| AlgorithmTableError::Rank {
        rank,
        items,
        source,
    };
    if rank > items {
        start_block(&Seed::from_u64(config.seed), items, rank).map_err(start)?;
    }
    Ok(())
}

/// Refuses keys that the algorithm has not, or that do not fit, and asks for those it needs.
fn checked_algorithm(config: &Config, items: usize) -> Result<(), AlgorithmTableError> {
    let AlgorithmConfig {
        kind,
        rank,
        block,
        momentum,
        eigenvalue_share,
        scale,
        coherence,
        arrival,
        output,
        ..
    } = config.algorithm;
    clipping::check(config)?;
    if output == Some(Output::LowRank) && kind != AlgorithmKind::Power {
        return Err(AlgorithmTableError::Output { kind: kind.name() });
    }
    if arrival.is_some() && kind != AlgorithmKind::Streaming {
        return Err(AlgorithmTableError::Arrival { kind: kind.name() });
    }
    let matched = match scale {
        Some(NoiseScale::Fixed) => coherence.is_some(),
        Some(NoiseScale::Adaptive) | None => coherence.is_none(),
    };
    if !matched || (scale.is_some() && kind != AlgorithmKind::Ppi) {
        return Err(AlgorithmTableError::Scale { kind: kind.name() });
    }
    if let Some(found) = eigenvalue_share
        && kind != AlgorithmKind::Deflation
    {
        let kind = kind.name();
        return Err(AlgorithmTableError::EigenvalueShare { found, kind });
    }
    let fits = momentum.is_none_or(|beta| beta.is_finite() && beta >= 0.0);
    if momentum.is_some() != (kind == AlgorithmKind::Momentum) || !fits {
        let kind = kind.name();
        return Err(AlgorithmTableError::Momentum {
            found: momentum,
            kind,
        });
    }
    match block {
        Some(block) if kind != AlgorithmKind::Krylov || !(rank..=items).contains(&block) => {
            Err(AlgorithmTableError::Block {
                block,
                kind: kind.name(),
                rank,
                items,
            })
        }
        _ => Ok(()),
    }
}
