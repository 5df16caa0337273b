//! Runs an experiment and its two comparisons, and measures all three.

use std::sync::Arc;

use super::clipping::ClipSummary;
use super::compared::ComparedRun;
use super::completion::{CompletionSummary, rmse_of};
use super::consensus::{consensus, guaranteed};
use super::convergence_bounds::convergence_bounds;
use super::engine::{RunError, run_tolerant};
use super::faults::{Conducted, Faulty};
use super::items::ItemList;
use super::metrics::Utility;
use super::outcomes::Outcomes;
use super::peak_memory::peak_memory_bytes;
use super::predictor::Predictor;
use super::receipt::{RealisedReceipt, Receipt};
use super::recommendation::{RecommendationSummary, quality_of};
use super::references::References;
use super::rounds::{Rounds, contractions};
use super::score_model::{ScoreModel, model_of};
use super::spread::{DrawsSummary, Measure};
use super::summary::{
    AbortedAt, ConsensusSummary, IterationNoise, NotForPublication, PrivacySummary, SCHEMA,
    Summary, Timing, UtilitySummary,
};
use super::variance::VarianceSummary;
use crate::engine::{EngineError, Observer, Outcome, ReleaseRecord, Session};
use crate::linalg::Block;
use crate::recommender::gram::GramModel;
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
    /// peers · n · p · rounds · L exceeds 5·10⁸.
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
/// `run::disclosure` for what a run may depend on.
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
pub(crate) fn run_by(
    experiment: &Experiment,
    observer: &mut dyn Observer,
    conduct: impl FnOnce(&Session, &mut dyn Observer) -> Result<Conducted, RunError>,
) -> Result<Report, RunError> {
    let mut clock = Clock::default();
    // Refused before anything is computed.
    let other = clock.time("compared", || experiment.compared());
    let other = other.map_err(Box::new)?;
    let session = experiment.session(&experiment.root_seed());
    let mut watched = Rounds::of(experiment, observer);
    // What the run is measured against needs nothing of it, and is found beside it.
    let (mut beside, mut references) = (Clock::default(), None);
    let conducted = rayon::in_place_scope(|scope| {
        scope.spawn(|_| references = Some(beside.time("exact", || references_of(experiment))));
        clock.time("run", || conduct(&session, &mut watched))
    });
    let Conducted { outcome, faults } = conducted?;
    let references = references.expect("a scope ends after what it has spawned");
    clock.seconds.extend(beside.seconds);
    let rounds = watched.collected;
    let outcomes = Outcomes::compare(outcome, (experiment, &session), &mut clock);
    let evaluation = Evaluation::of(
        (experiment, &session),
        (outcomes, references),
        faults,
        &mut clock,
    );
    let figures = clock.time("metrics", || evaluation.figures());
    let mut summary = evaluation.summary(&figures, other.as_ref(), &mut clock);
    summary.utility.draws = clock.time("draws", || evaluation.draws(&summary, other.as_ref()));
    summary.timing.seconds.clone_from(experiment.seconds());
    summary.timing.seconds.extend(clock.seconds);
    summary.timing.peak_memory_bytes = peak_memory_bytes();
    Ok(evaluation.report(summary, figures, rounds))
}

/// What the bases of a run are measured against.
fn references_of(experiment: &Experiment) -> References<'_> {
    match experiment.rating_test() {
        Some(_) => References::none(experiment, BY_PREDICTIONS),
        None => References::of(experiment),
    }
}

/// The figures of all bases, iteration by iteration.
struct Figures {
    rows: Vec<MetricsRow>,
    central: Vec<Utility>,
    non_private: Vec<Utility>,
}

/// A run with its two comparisons, and what their bases are measured against.
struct Evaluation<'a> {
    experiment: &'a Experiment,
    session: &'a Session,
    outcomes: Outcomes,
    faults: Option<Faulty>,
    references: References<'a>,
    /// What a released Gram matrix says, and what scores items by it.
    scored: Option<(GramModel, ScoreModel)>,
}

impl<'a> Evaluation<'a> {
    /// Finds what a run scores items with.
    fn of(
        (experiment, session): (&'a Experiment, &'a Session),
        (outcomes, references): (Outcomes, References<'a>),
        faults: Option<Faulty>,
        clock: &mut Clock,
    ) -> Self {
        let scored = clock.time("recommendation", || {
            let model = model_of(experiment, &outcomes.this_run)?;
            let scores = ScoreModel::of(experiment, &model)?;
            Some((model, scores))
        });
        Self {
            experiment,
            session,
            outcomes,
            faults,
            references,
            scored,
        }
    }

    /// The figures of one basis.
    fn utility_of(&self, basis: &Block) -> Utility {
        let [_, non_private] = self.outcomes.compared_bases();
        self.references.utility(basis, non_private)
    }

    /// The figures of the basis after a release; `None` where it leaves none, and where predictions are measured instead.
    fn utility_after(&self, record: &ReleaseRecord) -> Option<Utility> {
        let measured = self.experiment.rating_test().is_none();
        (measured && finds_basis(self.experiment, record)).then(|| self.utility_of(&record.basis))
    }

    /// The figures of all bases.
    fn figures(&self) -> Figures {
        let this_run = &self.outcomes.this_run;
        let row = |record: &ReleaseRecord| {
            let utility = self.utility_after(record).unwrap_or_default();
            metrics_row(self.experiment, this_run, record, utility)
        };
        let utilities = |compared: &Result<Outcome, EngineError>| {
            let records = compared.iter().flat_map(|outcome| &outcome.records);
            let figures = records.filter_map(|record| self.utility_after(record));
            figures.collect()
        };
        Figures {
            rows: this_run.records.iter().map(row).collect(),
            central: utilities(&self.outcomes.central),
            non_private: utilities(&self.outcomes.non_private),
        }
    }

    /// The document, but for the draws and the times.
    fn summary(&self, figures: &Figures, other: Option<&Experiment>, clock: &mut Clock) -> Summary {
        let (experiment, outcome) = (self.experiment, &self.outcomes.this_run);
        let config = experiment.config();
        let compared = other.map(|other| {
            let measure = |basis: &Block| self.utility_of(basis);
            clock.time("compared", || ComparedRun::of(other, measure))
        });
        let completion = clock.time("completion", || {
            CompletionSummary::of(experiment, self.session, &self.outcomes)
        });
        let scored = self.scored.as_ref();
        let recommendation = clock.time("recommendation", || {
            let (ours, exact) = (scored.map(|(_, ours)| ours), self.references.vectors());
            RecommendationSummary::of(experiment, &self.outcomes, ours, exact).transpose()
        });
        let rows = figures.rows.iter();
        let agreements: Vec<_> = rows.map(|row| (row.disagreement, row.guaranteed)).collect();
        let consensus = consensus(experiment, outcome, &agreements);
        Summary {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            not_for_publication: NotForPublication::default(),
            name: config.name.clone(),
            engine: config.engine.kind.name(),
            seed: config.seed,
            config_hash: experiment.config_hash(),
            algorithm: config.algorithm.name(),
            averaging: config.averaging.scheme.name(),
            peers: self.session.peers(),
            dimension: self.session.plan().parameters().program.items,
            rank: config.algorithm.table().rank(),
            iterations: experiment.iterations(),
            aborted_at: aborted_at(experiment, outcome),
            data: experiment.data().clone(),
            topology: experiment.topology().summary(),
            noise_topology: experiment
                .has_noise_topology()
                .then(|| experiment.noise_topology().summary()),
            privacy: PrivacySummary {
                iterations: figures.rows.iter().map(|row| row.noise).collect(),
                clip: ClipSummary::after(experiment, outcome),
                ..experiment.privacy_summary()
            },
            choice: None,
            pilot: None,
            communication: outcome.communication.clone(),
            faults: self.faults.as_ref().map(|faults| faults.summary.clone()),
            utility: self.utility(figures, compared),
            recommender: scored.and_then(|(model, scores)| scores.summary(experiment, model)),
            recommendation_reason: recommendation.as_ref().err().copied(),
            recommendation: recommendation.ok().flatten(),
            completion,
            warnings: self.warnings(&consensus),
            consensus,
            timing: Timing::default(),
        }
    }

    /// The figures of the final bases, but for the draws, which a summary decides.
    fn utility(&self, figures: &Figures, compared: Option<ComparedRun>) -> UtilitySummary {
        let outcomes = &self.outcomes;
        let [central, non_private] = outcomes.compared_bases();
        let reason =
            |one: &Result<Outcome, EngineError>| one.as_ref().err().map(ToString::to_string);
        let ours = figures
            .rows
            .last()
            .map(|row| row.utility)
            .unwrap_or_default();
        let last = |figures: &[Utility]| figures.last().copied().unwrap_or_default();
        let fault_free = self.faults.as_ref();
        let fault_free = fault_free.and_then(|faults| faults.fault_free.as_ref());
        let variance = self.references.variance.as_ref();
        UtilitySummary {
            subspace_error: ours.subspace_error,
            relative_error: ours.relative_error,
            relative_error_non_private: ours.relative_error_non_private,
            captured_variance: ours.captured_variance,
            explained_ratio: ours.explained_ratio,
            variance: variance.map(|variance| VarianceSummary {
                this_run: variance.parts(outcomes.this_run.basis()),
                central: central.map(|basis| variance.parts(basis)),
                non_private: non_private.map(|basis| variance.parts(basis)),
            }),
            central: last(&figures.central),
            non_private: last(&figures.non_private),
            compared,
            draws: None,
            fault_free: fault_free.map(|outcome| self.utility_of(outcome.basis())),
            bounds: convergence_bounds(
                self.experiment,
                self.session.start(),
                &outcomes.this_run,
                self.references.exact.as_ref().ok(),
            ),
            reference_floor: self.experiment.reference_floor(),
            reason: self.references.exact.as_ref().err().cloned(),
            reason_non_private: reason(&outcomes.non_private),
            reason_central: reason(&outcomes.central),
        }
    }

    /// The warnings of the experiment, and those that its run adds.
    fn warnings(&self, consensus: &ConsensusSummary) -> Vec<Warning> {
        let rounding = consensus.rounding_relative_to_noise;
        let coarse = rounding.filter(|part| part.is_nan() || *part > FINE);
        let scored = self.scored.as_ref();
        let mut warnings = self.experiment.warnings().to_vec();
        warnings.extend(coarse.map(|part| Warning::CoarseValues { part }));
        warnings.extend(scored.and_then(|(model, scores)| scores.warning(model)));
        warnings
    }

    /// The spread, over draws of the noise, of the figure that fits this summary.
    fn draws(&self, summary: &Summary, other: Option<&Experiment>) -> Option<DrawsSummary> {
        let (experiment, session) = (self.experiment, self.session);
        let chosen = Measure::of(summary)?;
        let figure = |outcome: &Outcome| match chosen {
            Measure::Rmse => rmse_of(experiment, session, outcome),
            Measure::Recall => Some(quality_of(experiment, outcome)?.recall),
            _ => chosen.of_basis(&self.utility_of(outcome.basis())),
        };
        DrawsSummary::of(experiment, session, other, (summary, &figure))
    }

    /// Everything that the run produced.
    fn report(self, summary: Summary, figures: Figures, rounds: Vec<Vec<f64>>) -> Report {
        let (experiment, outcome) = (self.experiment, self.outcomes.this_run);
        let realised = self.faults.as_ref();
        let realised = realised.and_then(|faults| faults.realised.as_ref());
        Report {
            summary,
            receipt: Receipt {
                realised: realised
                    .and_then(|realised| RealisedReceipt::of(experiment.plan(), realised)),
                ..Receipt::of(experiment, &outcome)
            },
            predictor: Predictor::of(experiment, self.session, &outcome),
            score_model: self.scored.map(|(_, scores)| scores),
            outcome,
            start: Arc::clone(self.session.start()),
            items: ItemList::of(experiment.interactions())
                .weighted(experiment.precondition_weights()),
            rows: figures.rows,
            central: figures.central,
            non_private: figures.non_private,
            contractions: match rounds.is_empty() {
                true => Vec::new(),
                false => contractions(experiment),
            },
            rounds,
            faults: self.faults,
        }
    }
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
