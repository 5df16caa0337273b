//! Runs an experiment and its two comparisons, and measures all three.

use std::sync::Arc;

use super::convergence_bounds::convergence_bounds;
use super::items::ItemList;
use super::metrics::Utility;
use super::receipt::Receipt;
use super::recommendation::recommendation;
use super::references::References;
use super::rounds::{Rounds, contractions};
use super::summary::{
    ConsensusSummary, IterationNoise, NotForPublication, PrivacySummary, SCHEMA, Summary, Timing,
    UtilitySummary,
};
use crate::config::EngineKind;
use crate::engine::analytic::AnalyticOptions;
use crate::engine::central::SumNoise;
use crate::engine::{
    EngineError, IterationRecord, Observer, Outcome, Session, Silent, analytic, central, event,
    federated, lockstep,
};
use crate::linalg::Block;
use crate::recommender::LowPassFilter;
use crate::scenario::{Clock, Experiment};
use crate::vocabulary::{Named, Seed};

/// Why an experiment could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The engine failed; its text calls peers by their names.
    #[error(transparent)]
    Engine(Named<EngineError>),
    /// The swarm failed; its text calls peers by their names.
    #[cfg(feature = "node")]
    #[error(transparent)]
    Swarm(Named<crate::node::SwarmError>),
    /// This build has no libp2p.
    #[cfg(not(feature = "node"))]
    #[error(
        "engine.kind = \"swarm\" needs libp2p, which this build leaves out; build with the feature `node`"
    )]
    NoNode,
}

impl RunError {
    /// An engine's error in the words of the session's graph: peers by their names.
    pub(crate) fn engine(session: &Session) -> impl FnOnce(EngineError) -> Self + '_ {
        |error| Self::Engine(Named::new(error, session.graph().names()))
    }
}

/// One row of `metrics.csv`.
#[derive(Clone, Copy, Debug)]
pub struct MetricsRow {
    /// The agreed statistic of X^{l−1}.
    pub statistic: f64,
    /// Noise as drawn.
    pub noise: IterationNoise,
    /// Exchanges of this iteration.
    pub rounds: u32,
    /// Worst disagreement, see [`crate::engine::Consensus`].
    pub disagreement: Option<f64>,
    /// What the averaging guarantees for it.
    pub guaranteed: Option<f64>,
    /// How good X^l is.
    pub utility: Utility,
}

/// Everything a run produced.
#[derive(Clone, Debug)]
pub struct Report {
    /// The document.
    pub summary: Summary,
    /// The main run.
    pub outcome: Outcome,
    /// What the run promised.
    pub receipt: Receipt,
    /// X⁰.
    pub start: Arc<Block>,
    /// Which item each row of the basis is.
    pub items: ItemList,
    /// One row per iteration.
    pub rows: Vec<MetricsRow>,
    /// The curator's figures, one entry per iteration; empty where the curator's run has no basis.
    pub central: Vec<Utility>,
    /// The figures without privacy, one entry per iteration; empty where the data do not carry a basis of this rank.
    pub non_private: Vec<Utility>,
    /// How far the peers are apart, by iteration and averaging round, round 0 first, as
    /// [`Consensus::initial_spread`](crate::engine::Consensus::initial_spread). Empty where the engine does not tell or
    /// the run is larger than [`WATCHED_UP_TO`](super::WATCHED_UP_TO).
    pub rounds: Vec<Vec<f64>>,
    /// The factor by which 0, 1, … rounds shrink that at least, for any start. Empty where `rounds` is.
    pub contractions: Vec<f64>,
}

/// Runs a session on the engine the experiment names.
///
/// # Errors
/// [`RunError`] of that engine.
pub fn run_engine(
    experiment: &Experiment,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    let engine = &experiment.config().engine;
    let finished = match engine.kind {
        EngineKind::Central => central::run(session, SumNoise::Curator, observer),
        EngineKind::Federated => federated::run(session, observer),
        EngineKind::Lockstep => lockstep::run(session, observer),
        EngineKind::Analytic => {
            let options = AnalyticOptions {
                probes: engine.probes,
                contraction: experiment.contraction(),
            };
            analytic::run(session, options, observer)
        }
        EngineKind::Event => event::run(session, engine.latency, observer),
        EngineKind::Swarm => return run_swarm(experiment, session, observer),
    };
    finished.map_err(RunError::engine(session))
}

#[cfg(feature = "node")]
fn run_swarm(
    experiment: &Experiment,
    session: &Session,
    observer: &mut dyn Observer,
) -> Result<Outcome, RunError> {
    use crate::config::TransportKind;
    use crate::node::{SwarmOptions, Transport};
    let transport = match experiment.config().engine.transport {
        TransportKind::Memory => Transport::Memory,
        TransportKind::Tcp => Transport::Tcp,
    };
    let options = SwarmOptions {
        transport,
        ..SwarmOptions::default()
    };
    crate::node::run(session, &options, observer)
        .map_err(|error| RunError::Swarm(Named::new(error, session.graph().names())))
}

#[cfg(not(feature = "node"))]
fn run_swarm(_: &Experiment, _: &Session, _: &mut dyn Observer) -> Result<Outcome, RunError> {
    Err(RunError::NoNode)
}

/// Runs the experiment, the same under a trusted curator, and the same without privacy.
///
/// The two comparisons, and everything measured against the raw data, can only be null: see
/// [`disclosure`](super::disclosure) for what a run may depend on.
///
/// # Errors
/// [`RunError`] if the experiment itself fails.
pub fn run(experiment: &Experiment, observer: &mut dyn Observer) -> Result<Report, RunError> {
    let mut clock = Clock::default();
    let seed = Seed::from_u64(experiment.config().seed);
    let session = experiment.session(&seed);
    let mut watched = Rounds::of(experiment, observer);
    let outcome = clock.time("run", || run_engine(experiment, &session, &mut watched))?;
    let rounds = watched.collected;
    let curated = clock.time("central", || {
        central::run(&session, SumNoise::Curator, &mut Silent)
    });
    let plain = clock.time("non_private", || {
        References::non_private(experiment, &session)
    });
    let exact = clock.time("exact", || References::exact(experiment));
    let basis = |compared: &Result<Outcome, EngineError>| match compared {
        Ok(outcome) => Ok(outcome.basis().clone()),
        Err(error) => Err(error.to_string()),
    };
    let references = References {
        exact: exact
            .as_ref()
            .map(|top| top.vectors.clone())
            .map_err(Clone::clone),
        non_private: basis(&plain),
    };
    let bounds = convergence_bounds(experiment, session.start(), &outcome, exact.as_ref().ok());
    let filter = LowPassFilter::new(experiment.interactions());
    let measure = |basis: &Block| {
        Utility::of(
            &filter,
            basis,
            references.exact.as_ref().ok(),
            references.non_private.as_ref().ok(),
        )
    };
    let rows: Vec<MetricsRow> = clock.time("metrics", || {
        let row = |record: &IterationRecord| {
            metrics_row(experiment, &outcome, record, measure(&record.basis))
        };
        outcome.records.iter().map(row).collect()
    });
    let measure_all = |compared: &Result<Outcome, EngineError>| -> Vec<Utility> {
        let records = compared.iter().flat_map(|outcome| &outcome.records);
        records.map(|record| measure(&record.basis)).collect()
    };
    let (central, non_private) =
        clock.time("metrics", || (measure_all(&curated), measure_all(&plain)));
    let last = |figures: &[Utility]| figures.last().copied().unwrap_or_default();
    let ours = rows.last().map(|row| row.utility).unwrap_or_default();
    let utility = UtilitySummary {
        subspace_error: ours.subspace_error,
        relative_error: ours.relative_error,
        relative_error_non_private: ours.relative_error_non_private,
        central: last(&central),
        non_private: last(&non_private),
        bounds,
        reference_floor: experiment.reference_floor(),
        reason: references.exact.as_ref().err().cloned(),
        reason_non_private: references.non_private.as_ref().err().cloned(),
        reason_central: basis(&curated).err(),
    };
    let curated = curated.as_ref().ok().map(Outcome::basis);
    let recommendation = clock.time("recommendation", || {
        recommendation(experiment, outcome.basis(), curated, &references)
    });
    let (recommendation, recommendation_reason) = match recommendation {
        Some(Ok(measured)) => (Some(measured), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    let mut seconds = experiment.seconds().clone();
    seconds.extend(clock.seconds);
    let parameters = session.plan().parameters();
    let summary = Summary {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        not_for_publication: NotForPublication::default(),
        name: experiment.config().name.clone(),
        engine: experiment.config().engine.kind.name(),
        seed: experiment.config().seed,
        config_hash: experiment.config_hash(),
        peers: session.peers(),
        dimension: parameters.dimension,
        rank: parameters.rank,
        iterations: parameters.iterations,
        data: experiment.data().clone(),
        topology: experiment.topology().summary(),
        noise_topology: experiment
            .has_noise_topology()
            .then(|| experiment.noise_topology().summary()),
        privacy: PrivacySummary {
            iterations: rows.iter().map(|row| row.noise).collect(),
            ..experiment.privacy_summary()
        },
        communication: outcome.communication.clone(),
        utility,
        recommendation,
        recommendation_reason,
        consensus: consensus(experiment, &outcome, &rows),
        timing: Timing {
            seconds,
            peak_memory_bytes: peak_memory_bytes(),
        },
        warnings: experiment.warnings().to_vec(),
    };
    Ok(Report {
        summary,
        receipt: Receipt::of(experiment, &outcome),
        outcome,
        start: Arc::clone(session.start()),
        items: ItemList::of(experiment.interactions()),
        rows,
        central,
        non_private,
        contractions: match rounds.is_empty() {
            true => Vec::new(),
            false => contractions(experiment),
        },
        rounds,
    })
}

fn metrics_row(
    experiment: &Experiment,
    outcome: &Outcome,
    record: &IterationRecord,
    utility: Utility,
) -> MetricsRow {
    let number = record.iteration.0;
    let rounds = outcome.communication.rounds[number as usize - 1];
    MetricsRow {
        statistic: record.statistic,
        noise: experiment.iteration_noise(number, record.sensitivity),
        rounds,
        disagreement: record.consensus.map(|c| c.disagreement),
        guaranteed: record
            .consensus
            .map(|c| guaranteed(experiment, c.initial_spread)),
        utility,
    }
}

/// What the rounds guarantee for the disagreement: contraction times initial spread, plus rounding.
///
/// Every round adds at most a few units in the last place of the values it handles, and those are of the
/// size of the spread or the mean.
///
/// A scheme that adds up exactly once differs from the sum in peer order by rounding alone. Either sum has an error of at most
/// s ε/2 Σ_u |x_u| per coordinate, to first order, and Σ_u ‖x_u‖ ≤ ‖Ȳ‖ + Σ_u ‖x_u − x̄‖ ≤ ‖Ȳ‖ (1 + spread/√s) by Cauchy and Schwarz;
/// twice that leaves room for the higher orders and the norm's own rounding.
fn guaranteed(experiment: &Experiment, initial_spread: f64) -> f64 {
    if experiment.config().averaging.scheme.is_exact() {
        let peers = experiment.topology().graph().nodes() as f64;
        return 2.0 * f64::EPSILON * peers * (1.0 + initial_spread / peers.sqrt());
    }
    let rounds = f64::from(experiment.rounds());
    let rounding = 4.0 * f64::EPSILON * rounds * (1.0 + initial_spread);
    experiment.contraction() * initial_spread + rounding
}

fn consensus(experiment: &Experiment, outcome: &Outcome, rows: &[MetricsRow]) -> ConsensusSummary {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, f64::max);
    let over_noise = |record: &IterationRecord| {
        let noise = {
            let mut noise = record.totals.published.clone();
            noise.add_scaled(-1.0, &record.totals.local);
            noise.norm()
        };
        let disagreement = record.consensus.map_or(0.0, |c| c.disagreement);
        disagreement * record.totals.published.norm() / noise
    };
    let approximations: Option<Vec<f64>> = outcome
        .records
        .iter()
        .map(|record| record.consensus.and_then(|c| c.approximation))
        .collect();
    ConsensusSummary {
        approximation: approximations.map(|all| all.into_iter().fold(0.0, f64::max)),
        max_disagreement: largest(&mut rows.iter().filter_map(|row| row.disagreement)),
        between_peers: {
            let consensus = outcome.records.iter().filter_map(|record| record.consensus);
            largest(&mut consensus.map(|c| c.between_peers))
        },
        guaranteed: largest(&mut rows.iter().filter_map(|row| row.guaranteed)),
        contraction: experiment.contraction(),
        relative_to_noise: (experiment.noise().sigma_own() > 0.0)
            .then(|| largest(&mut outcome.records.iter().map(over_noise))),
    }
}

/// The process's largest resident set so far, from Linux's process status; `None` elsewhere.
#[must_use]
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::run_engine;
    use crate::config::read_config;
    use crate::engine::Silent;
    use crate::scenario::Experiment;
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
