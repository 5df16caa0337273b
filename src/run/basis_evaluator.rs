//! What the bases of an experiment are measured against, and their figures.

use super::completion::CompletionRuns;
use super::metrics::Utility;
use super::references::References;
use super::variance::{Variance, VarianceSummary};
use crate::engine::{EngineError, Outcome, ReleaseRecord};
use crate::linalg::{Block, TopEigenvectors};
use crate::recommender::LowPassFilter;
use crate::scenario::Experiment;
use crate::vocabulary::Quantity;

/// Why there are no errors of bases where ratings are predicted.
const BY_PREDICTIONS: &str = "an algorithm that predicts ratings is measured by its predictions, and its directions are of another matrix";

/// Measures the bases of one experiment on its raw data.
pub(super) struct BasisEvaluator<'a> {
    experiment: &'a Experiment,
    filter: LowPassFilter<'a>,
    /// What errors are measured against.
    pub(super) references: References,
    /// The exact leading eigenvectors with their eigenvalues, where they are known.
    pub(super) exact: Option<TopEigenvectors>,
    /// The variance of a matrix of numbers, where it is known.
    variance: Option<Variance>,
}

impl<'a> BasisEvaluator<'a> {
    /// An evaluator with the exact eigenvectors, and with the basis of this run without noise.
    pub(super) fn new(
        experiment: &'a Experiment,
        non_private: &Result<Outcome, EngineError>,
    ) -> Self {
        let (exact, variance) = exact(experiment);
        let vectors = exact.as_ref().map(|top| top.vectors.clone());
        let basis = non_private.as_ref().map(|outcome| outcome.basis().clone());
        Self {
            experiment,
            filter: experiment.filter(),
            references: References {
                exact: vectors.map_err(Clone::clone),
                non_private: basis.map_err(ToString::to_string),
            },
            exact: exact.ok(),
            variance,
        }
    }

    /// The figures of a basis.
    pub(super) fn utility(&self, basis: &Block) -> Utility {
        Utility::of(
            &self.filter,
            basis,
            self.references.exact.as_ref().ok(),
            self.references.non_private.as_ref().ok(),
            self.variance.as_ref(),
        )
    }

    /// The figures of the basis after a release; `None` where it leaves none, and where predictions are measured instead.
    pub(super) fn utility_after(&self, record: &ReleaseRecord) -> Option<Utility> {
        let is_measured = self.experiment.rating_test().is_none();
        (finds_basis(self.experiment, record) && is_measured).then(|| self.utility(&record.basis))
    }

    /// The figures of every basis of a comparison.
    pub(super) fn utilities(&self, compared: Option<&Outcome>) -> Vec<Utility> {
        let records = compared.iter().flat_map(|outcome| &outcome.records);
        let figures = records.filter_map(|record| self.utility_after(record));
        figures.collect()
    }

    /// How much of the variance of numbers the bases of a run and of its comparisons capture.
    pub(super) fn variance(&self, runs: CompletionRuns<'_>) -> Option<VarianceSummary> {
        let variance = self.variance.as_ref()?;
        let parts = |outcome: &Outcome| variance.parts(outcome.basis());
        Some(VarianceSummary {
            this_run: parts(runs.this_run),
            central: runs.central.map(parts),
            non_private: runs.non_private.map(parts),
        })
    }
}

/// The exact leading eigenvectors, or the reason why there are none; of numbers also the variance, whose eigenvectors they are.
fn exact(experiment: &Experiment) -> (Result<TopEigenvectors, String>, Option<Variance>) {
    if experiment.rating_test().is_some() {
        return (Err(BY_PREDICTIONS.to_owned()), None);
    }
    if experiment.samples().is_none() {
        return (References::exact(experiment), None);
    }
    match Variance::of(experiment) {
        Ok(variance) => (Ok(variance.top()), Some(variance)),
        Err(reason) => (Err(reason), None),
    }
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
