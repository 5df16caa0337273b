//! What a run says of its clipping: all of it public.

use serde::Serialize;

use crate::engine::Outcome;
use crate::papers::{Clip, ClipRule, ClippedPower};
use crate::scenario::Experiment;

/// How contributions were clipped.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClipSummary {
    /// The rule with its public numbers.
    #[serde(flatten)]
    pub clip: Clip,
    /// (1 − γ)m: how many rows may be above a threshold.
    pub most_above: f64,
    /// σ_b: standard deviation of the noise on every count that thresholds follow from; null for `sparse-vector`, which has none.
    pub sigma_counts: Option<f64>,
    /// θ_t of every iteration, as peer 0 knows it; empty before a run. Of iteration t the sums are in units of θ_t.
    pub thresholds: Vec<f64>,
}

impl ClipSummary {
    /// What is known before a run.
    pub(super) fn of(experiment: &Experiment) -> Option<Self> {
        let clip = experiment.clip()?;
        Some(Self {
            clip,
            most_above: clip.most_above(),
            sigma_counts: experiment.sigma_of_counts(),
            thresholds: Vec::new(),
        })
    }

    /// The same with the thresholds of a run.
    pub(super) fn after(experiment: &Experiment, outcome: &Outcome) -> Option<Self> {
        let summary = Self::of(experiment)?;
        let table = experiment.config().algorithm.table();
        let (items, clip) = (experiment.user_rows().dimension(), summary.clip);
        let algorithm = ClippedPower::new(items, table.rank(), table.iterations(), clip).ok()?;
        let records = outcome.records.iter();
        let thresholds = match summary.clip.rule {
            // What the curator told.
            ClipRule::SparseVector => records.map(|record| record.statistic).collect(),
            _ => algorithm.thresholds(records.map(|record| (record.release, &*record.sum))),
        };
        Some(Self {
            thresholds,
            ..summary
        })
    }
}
