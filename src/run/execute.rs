//! Runs an experiment and its two comparisons, and measures all three.

use std::sync::Arc;

use super::clipping::ClipSummary;
use super::compared::ComparedRun;
use super::completion::{CompletionRuns, CompletionSummary, rmse_of};
use super::consensus::{consensus, guaranteed};
use super::convergence_bounds::convergence_bounds;
use super::engine::{RunError, run_tolerant};
use super::faults::{Conducted, Faulty};
use super::items::ItemList;
use super::metrics::Utility;
use super::peak_memory::peak_memory_bytes;
use super::predictor::Predictor;
use super::receipt::{RealisedReceipt, Receipt};
use super::recommendation::{by_gram, quality_of, recommendation};
use super::references::References;
use super::rounds::{Rounds, contractions};
use super::score_model::{ScoreModel, model_of};
use super::spread::{DrawsSummary, Measure};
use super::summary::{
    AbortedAt, IterationNoise, NotForPublication, PrivacySummary, SCHEMA, Summary, Timing,
    UtilitySummary,
};
use super::variance::{Variance, VarianceSummary};
use crate::engine::central::SumNoise;
use crate::engine::{EngineError, Observer, Outcome, ReleaseRecord, Session, Silent, central};
use crate::linalg::Block;
use crate::scenario::{Clock, Experiment, Warning};
use crate::vocabulary::Quantity;

/// The part of the noise of a sum above which a bound on rounding is worth a warning.
const FINE: f64 = 0.01;

/// Why there are no errors of bases where ratings are predicted.
const BY_PREDICTIONS: &str = "an algorithm that predicts ratings is measured by its predictions, and its directions are of another matrix";

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
    /// What predicts ratings, and on which range; `None` for algorithms that predict none.
    pub predictor: Option<Predictor>,
    /// What scores items, where the run's Gram matrix recommends.
    pub score_model: Option<ScoreModel>,
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
    /// What went wrong, where the session tolerates losses.
    pub faults: Option<Faulty>,
}

impl Report {
    /// Whether every peer holds a copy of each sum, so that there is somebody to disagree.
    #[must_use]
    pub fn has_peers(&self) -> bool {
        let records = &self.outcome.records;
        records.iter().any(|record| record.consensus.is_some())
    }
}

/// Runs the experiment, the same under a trusted curator, and the same without privacy.
///
/// The two comparisons, and everything measured against the raw data, can only be null: see
/// [`disclosure`](super::disclosure) for what a run may depend on.
///
/// # Errors
/// [`RunError`] if the experiment itself fails, or names a method to compare with that is none.
pub fn run(experiment: &Experiment, observer: &mut dyn Observer) -> Result<Report, RunError> {
    run_by(experiment, observer, |session, observer| {
        run_tolerant(experiment, session, observer)
    })
}

/// The same with an outcome of the experiment's session that comes from elsewhere, such as several hosts.
///
/// # Errors
/// As [`run`], and those of `conduct`.
pub fn run_by(
    experiment: &Experiment,
    observer: &mut dyn Observer,
    conduct: impl FnOnce(&Session, &mut dyn Observer) -> Result<Conducted, RunError>,
) -> Result<Report, RunError> {
    let mut clock = Clock::default();
    // Refused before anything is computed.
    let other = clock.time("compared", || experiment.compared());
    let other = other.map_err(Box::new)?;
    let seed = experiment.root_seed();
    let session = experiment.session(&seed);
    let mut watched = Rounds::of(experiment, observer);
    let Conducted { outcome, faults } = clock.time("run", || conduct(&session, &mut watched))?;
    let rounds = watched.collected;
    let curated = clock.time("central", || {
        central::run(&session, SumNoise::Curator, &mut Silent)
    });
    let plain = clock.time("non_private", || {
        References::non_private(experiment, &session)
    });
    let predicts = experiment.rating_test().is_some();
    let variance = clock.time("exact", || {
        let of_numbers = experiment.samples().is_some() && !predicts;
        of_numbers.then(|| Variance::of(experiment))
    });
    let exact = clock.time("exact", || match &variance {
        Some(variance) => variance.as_ref().map(Variance::top).map_err(Clone::clone),
        None if predicts => Err(BY_PREDICTIONS.to_owned()),
        None => References::exact(experiment),
    });
    let variance = variance.and_then(Result::ok);
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
    let filter = experiment.filter();
    let measure = |basis: &Block| {
        Utility::of(
            &filter,
            basis,
            references.exact.as_ref().ok(),
            references.non_private.as_ref().ok(),
            variance.as_ref(),
        )
    };
    let rows: Vec<MetricsRow> = clock.time("metrics", || {
        let row = |record: &ReleaseRecord| {
            let utility = match finds_basis(experiment, record) && !predicts {
                true => measure(&record.basis),
                false => Utility::default(),
            };
            metrics_row(experiment, &outcome, record, utility)
        };
        outcome.records.iter().map(row).collect()
    });
    let measure_all = |compared: &Result<Outcome, EngineError>| -> Vec<Utility> {
        let records = compared.iter().flat_map(|outcome| &outcome.records);
        let records = records.filter(|record| finds_basis(experiment, record) && !predicts);
        records.map(|record| measure(&record.basis)).collect()
    };
    let (central, non_private) =
        clock.time("metrics", || (measure_all(&curated), measure_all(&plain)));
    let compared = other
        .as_ref()
        .map(|other| clock.time("compared", || ComparedRun::of(other, measure)));
    let fault_free = faults
        .as_ref()
        .and_then(|faults| faults.fault_free.as_ref());
    let last = |figures: &[Utility]| figures.last().copied().unwrap_or_default();
    let ours = rows.last().map(|row| row.utility).unwrap_or_default();
    let utility = UtilitySummary {
        subspace_error: ours.subspace_error,
        relative_error: ours.relative_error,
        relative_error_non_private: ours.relative_error_non_private,
        captured_variance: ours.captured_variance,
        explained_ratio: ours.explained_ratio,
        variance: variance.as_ref().map(|variance| VarianceSummary {
            this_run: variance.parts(outcome.basis()),
            central: compared_basis(&curated, |basis| variance.parts(basis)),
            non_private: compared_basis(&plain, |basis| variance.parts(basis)),
        }),
        central: last(&central),
        non_private: last(&non_private),
        compared,
        draws: None,
        fault_free: fault_free.map(|fault_free| measure(fault_free.basis())),
        bounds,
        reference_floor: experiment.reference_floor(),
        reason: references.exact.as_ref().err().cloned(),
        reason_non_private: references.non_private.as_ref().err().cloned(),
        reason_central: basis(&curated).err(),
    };
    let completion = clock.time("completion", || {
        let runs = CompletionRuns {
            this_run: &outcome,
            central: curated.as_ref().ok(),
            non_private: plain.as_ref().ok(),
        };
        CompletionSummary::of(experiment, &session, runs)
    });
    let gram = clock.time("recommendation", || model_of(experiment, &outcome));
    let score_model = gram
        .as_ref()
        .and_then(|model| ScoreModel::of(experiment, model));
    let recommendation = clock.time("recommendation", || match &score_model {
        Some(ours) => by_gram(experiment, ours, curated.as_ref().ok(), plain.as_ref().ok()),
        None => {
            let curated = curated.as_ref().ok().map(Outcome::basis);
            recommendation(experiment, outcome.basis(), curated, &references)
        }
    });
    let (recommendation, recommendation_reason) = match recommendation {
        Some(Ok(measured)) => (Some(measured), None),
        Some(Err(reason)) => (None, Some(reason)),
        None => (None, None),
    };
    let agreements: Vec<_> = rows
        .iter()
        .map(|row| (row.disagreement, row.guaranteed))
        .collect();
    let consensus = consensus(experiment, &outcome, &agreements);
    let coarse = consensus
        .rounding_relative_to_noise
        .filter(|part| part.is_nan() || *part > FINE);
    let mut warnings = experiment.warnings().to_vec();
    warnings.extend(coarse.map(|part| Warning::CoarseValues { part }));
    let scored = score_model.as_ref().zip(gram.as_ref());
    warnings.extend(scored.and_then(|(scores, gram)| scores.warning(gram)));
    let recommender = scored.and_then(|(scores, gram)| scores.summary(experiment, gram));
    let parameters = session.plan().parameters();
    let mut summary = Summary {
        schema: SCHEMA,
        version: env!("CARGO_PKG_VERSION"),
        not_for_publication: NotForPublication::default(),
        name: experiment.config().name.clone(),
        engine: experiment.config().engine.kind.name(),
        seed: experiment.config().seed,
        config_hash: experiment.config_hash(),
        algorithm: experiment.config().algorithm.name(),
        averaging: experiment.config().averaging.scheme.name(),
        peers: session.peers(),
        dimension: parameters.program.items,
        rank: experiment.config().algorithm.table().rank(),
        iterations: experiment.iterations(),
        aborted_at: aborted_at(experiment, &outcome),
        data: experiment.data().clone(),
        topology: experiment.topology().summary(),
        noise_topology: experiment
            .has_noise_topology()
            .then(|| experiment.noise_topology().summary()),
        privacy: PrivacySummary {
            iterations: rows.iter().map(|row| row.noise).collect(),
            clip: ClipSummary::after(experiment, &outcome),
            ..experiment.privacy_summary()
        },
        choice: None,
        pilot: None,
        communication: outcome.communication.clone(),
        faults: faults.as_ref().map(|faults| faults.summary.clone()),
        utility,
        recommender,
        recommendation,
        recommendation_reason,
        completion,
        consensus,
        timing: Timing::default(),
        warnings,
    };
    summary.utility.draws = clock.time("draws", || {
        let chosen = Measure::of(&summary)?;
        let figure = |outcome: &Outcome| match chosen {
            Measure::Rmse => rmse_of(experiment, &session, outcome),
            Measure::Recall => Some(quality_of(experiment, outcome)?.recall),
            _ => chosen.of_basis(&measure(outcome.basis())),
        };
        DrawsSummary::of(experiment, &session, other.as_ref(), (&summary, &figure))
    });
    summary.timing.seconds.clone_from(experiment.seconds());
    summary.timing.seconds.extend(clock.seconds);
    summary.timing.peak_memory_bytes = peak_memory_bytes();
    Ok(Report {
        summary,
        receipt: Receipt {
            realised: faults
                .as_ref()
                .and_then(|faults| faults.realised.as_ref())
                .and_then(|realised| RealisedReceipt::of(experiment.plan(), realised)),
            ..Receipt::of(experiment, &outcome)
        },
        predictor: Predictor::of(experiment, &session, &outcome),
        score_model,
        outcome,
        start: Arc::clone(session.start()),
        items: ItemList::of(experiment.interactions()).weighted(experiment.precondition_weights()),
        rows,
        central,
        non_private,
        contractions: match rounds.is_empty() {
            true => Vec::new(),
            false => contractions(experiment),
        },
        rounds,
        faults,
    })
}

/// The iteration before which `ppi` stopped, if any; `None` for other algorithms.
fn aborted_at(experiment: &Experiment, outcome: &Outcome) -> Option<AbortedAt> {
    let may_abort = experiment.config().algorithm.table().may_abort();
    may_abort.then(|| {
        let next = experiment.releases().get(outcome.records.len());
        AbortedAt(next.map(|release| release.iteration.0))
    })
}

/// Whether there is a basis after this release: sums of rows, which are released before everything else, and counts of users find none.
fn finds_basis(experiment: &Experiment, record: &ReleaseRecord) -> bool {
    let releases = experiment.releases();
    let blocks = releases.get(record.release.index());
    let blocks = blocks.map_or(&[][..], |release| &release.blocks);
    let sums = [
        Quantity::RowSum,
        Quantity::NonnegativeRowSum,
        Quantity::TailCounts,
        Quantity::ItemShares,
    ];
    !blocks.iter().all(|block| sums.contains(&block.quantity))
}

/// What is measured of the basis of a run, where it has one.
fn compared_basis<T>(
    compared: &Result<Outcome, EngineError>,
    measure: impl Fn(&Block) -> T,
) -> Option<T> {
    let outcome = compared.as_ref().ok()?;
    Some(measure(outcome.basis()))
}

fn metrics_row(
    experiment: &Experiment,
    outcome: &Outcome,
    record: &ReleaseRecord,
    utility: Utility,
) -> MetricsRow {
    let rounds = outcome.communication.rounds.get(record.release.index());
    MetricsRow {
        statistic: record.statistic,
        noise: experiment.release_noise(record.release, record.sensitivity),
        rounds: rounds.copied().unwrap_or(0),
        disagreement: record.consensus.map(|c| c.disagreement),
        guaranteed: guaranteed(experiment, record),
        utility,
    }
}
