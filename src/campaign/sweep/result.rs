//! What a sweep found: curves with bands, crossings of a target, coincidences.

use serde::Serialize;

use super::coincidence::{self, Coincidence};
use super::cross::{self, Crossing};
use super::curve::Curve;
use super::frontier::{self, Frontier};
use super::grid::Sweep;
use super::journal::CellOutcome;
use super::outcomes::Outcomes;
use crate::config::{SweptBytes, SweptError};
use crate::privacy::Scheme;
use crate::recommender::RankingQuality;

/// Version of the layout of a sweep's `summary.json`.
pub(super) const SWEEP_SCHEMA: u32 = 1;

/// The line of the same popular items for everybody.
const POPULAR: &str = "what is popular";

/// What the ε of some methods protects and against whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MethodPromise {
    /// The methods.
    pub methods: Vec<String>,
    /// Who can hardly tell what, in words.
    pub promise: String,
}

impl MethodPromise {
    /// The promises of all private runs, each once, in the order of the methods.
    fn all(sweep: &Sweep) -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for &cell in &sweep.cells {
            let config = sweep.cell_config(cell);
            if config.noise.scheme == Scheme::None {
                continue;
            }
            let (method, promise) = (
                &sweep.methods[cell.method].name,
                config.statement().sentence(),
            );
            let place = found.iter().position(|known| known.promise == promise);
            let place = place.unwrap_or_else(|| {
                found.push(Self {
                    methods: Vec::new(),
                    promise,
                });
                found.len() - 1
            });
            let methods = &mut found[place].methods;
            if !methods.contains(method) {
                methods.push(method.clone());
            }
        }
        found
    }
}

/// A cell that ended in an error.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FailedCell {
    /// Its method, its values of the swept keys and its seed.
    pub cell: String,
    /// The error.
    pub reason: String,
}

/// The `summary.json` of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepResult {
    /// Version of the layout of a sweep's `summary.json`.
    pub schema: u32,
    /// `"sweep"`.
    pub kind: &'static str,
    /// Version of Undertone.
    pub version: &'static str,
    /// The experiment's name.
    pub name: String,
    /// The key of the x axis.
    pub x: String,
    /// All cells.
    pub cells: usize,
    /// Those that ended in an error.
    pub failed: usize,
    /// The first of those.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failed: Option<FailedCell>,
    /// Runs per method and grid point.
    pub seeds: usize,
    /// Which error `target`, `crossings`, `coincidences` and `frontiers` are about.
    pub error: SweptError,
    /// Whose bytes `frontiers` are about.
    pub bytes: SweptBytes,
    /// The error asked for; of captured variance, Recall and NDCG 1 − the measure.
    pub target: Option<f64>,
    /// The method crossings are compared with.
    pub baseline: Option<String>,
    /// Relative error against the non-private run from the same X⁰.
    pub curves: Vec<Curve>,
    /// Relative error against the exact eigenvectors; empty where they are out of reach.
    pub curves_exact: Vec<Curve>,
    /// Of numbers: the part of the variance captured by the exact leading eigenvectors that each method captures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves_variance: Vec<Curve>,
    /// Of ratings: root mean squared error of predictions of those kept aside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves_rmse: Vec<Curve>,
    /// The same of predictions without noise: the user's mean, item means about it, and each method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines_rmse: Vec<Curve>,
    /// Of recommendations: the part of held-out interactions that users' lists find again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves_recall: Vec<Curve>,
    /// The same of recommending what is popular, and of each method without noise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines_recall: Vec<Curve>,
    /// Of recommendations: NDCG, where early places count more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub curves_ndcg: Vec<Curve>,
    /// The same of recommending what is popular, and of each method without noise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lines_ndcg: Vec<Curve>,
    /// The length of the users' lists, where lists are measured and all have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top: Option<usize>,
    /// ε spent against the coalition asked for.
    pub spent: Vec<Curve>,
    /// Of sessions that tolerate losses: ε planned for the tries that there were, whoever was lost. `spent` is what is promised.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub planned: Vec<Curve>,
    /// Of the same: ε of the executions that took place, a diagnostic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub realised: Vec<Curve>,
    /// Of the same: how many take part in the last sum.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub participants: Vec<Curve>,
    /// What each method pays for the target; empty without one.
    pub crossings: Vec<Crossing>,
    /// Error against bytes per peer at every x; empty if all methods send the same.
    pub frontiers: Vec<Frontier>,
    /// The checks of `sweep.coincide`.
    pub coincidences: Vec<Coincidence>,
    /// What every ε of the sweep protects and against whom; empty if no run adds noise.
    pub promises: Vec<MethodPromise>,
    /// What the user should know, per method.
    pub warnings: Vec<String>,
}

impl SweepResult {
    /// Aggregates the outcomes of all cells, in cell order.
    pub(super) fn of(sweep: &Sweep, outcomes: &[CellOutcome]) -> Self {
        let view = Outcomes::of(sweep, outcomes);
        let curves = view.curves(|m| m.relative_error_non_private);
        let spent = view.curves(|m| m.epsilon_spent);
        let all = view.curves(|m| m.relative_error);
        let captured = view.curves(|m| m.captured_variance);
        let rmse = view.curves(|m| m.rmse.this_run);
        let recall = view.curves(|m| m.lists.this_run.map(|found| found.recall));
        let ndcg = view.curves(|m| m.lists.this_run.map(|found| found.ndcg));
        let error = sweep.table.error;
        let baseline = sweep.table.baseline.clone();
        let crossings = sweep.table.target.map_or_else(Vec::new, |target| {
            let asked = view.curves(|m| m.error(error));
            cross::all(&asked, &spent, target, &view.baselines())
        });
        let frontiers = frontier::all(&view, sweep.table.bytes, |m| m.error(error));
        Self {
            schema: SWEEP_SCHEMA,
            kind: "sweep",
            version: env!("CARGO_PKG_VERSION"),
            name: sweep.config.name.clone(),
            x: sweep.table.over.0[0].0.clone(),
            cells: outcomes.len(),
            failed: outcomes.iter().filter(|outcome| outcome.is_err()).count(),
            first_failed: first_failed(sweep, outcomes),
            seeds: sweep.seeds.len(),
            error,
            bytes: sweep.table.bytes,
            target: sweep.table.target,
            baseline,
            curves_exact: without_empty(all),
            curves_variance: without_empty(captured),
            lines_rmse: beside_predictions(&view),
            curves_rmse: without_empty(rmse),
            lines_recall: beside_lists(&view, |found| found.recall),
            curves_recall: without_empty(recall),
            lines_ndcg: beside_lists(&view, |found| found.ndcg),
            curves_ndcg: without_empty(ndcg),
            top: lengths(sweep),
            spent: without_empty(spent),
            planned: without_empty(view.curves(|m| m.losses.epsilon_planned)),
            realised: without_empty(view.curves(|m| m.losses.epsilon_realised)),
            participants: without_empty(view.curves(|m| m.losses.participants)),
            curves,
            crossings,
            frontiers,
            coincidences: coincidence::all(sweep, &view),
            promises: MethodPromise::all(sweep),
            warnings: sweep.warnings.clone(),
        }
    }

    /// What every ε of the sweep protects and against whom, in one text; nothing if no run adds noise.
    #[must_use]
    pub fn promise(&self) -> String {
        match self.promises.as_slice() {
            [only] => only.promise.clone(),
            several => {
                let lines = several.iter();
                let lines: Vec<String> = lines
                    .map(|found| format!("{}: {}", found.methods.join("; "), found.promise))
                    .collect();
                lines.join(" ")
            }
        }
    }

    /// The curves that `sweep.error` asks for, and after them what they are drawn beside.
    #[must_use]
    pub fn asked(&self) -> Vec<Curve> {
        let (curves, lines) = match self.error {
            SweptError::NonPrivate => (&self.curves, None),
            SweptError::Exact => (&self.curves_exact, None),
            SweptError::Variance => (&self.curves_variance, None),
            SweptError::Rmse => (&self.curves_rmse, Some(&self.lines_rmse)),
            SweptError::Recall => (&self.curves_recall, Some(&self.lines_recall)),
            SweptError::Ndcg => (&self.curves_ndcg, Some(&self.lines_ndcg)),
        };
        curves
            .iter()
            .chain(lines.into_iter().flatten())
            .cloned()
            .collect()
    }

    /// Name of the measure of [`Self::asked`].
    #[must_use]
    pub fn measure(&self) -> String {
        match self.error {
            SweptError::NonPrivate | SweptError::Exact => {
                format!("relative error against {}", self.error.reference())
            }
            SweptError::Variance => "captured variance".to_owned(),
            SweptError::Rmse => "root mean squared error".to_owned(),
            SweptError::Recall => self.at_top("Recall"),
            SweptError::Ndcg => self.at_top("NDCG"),
        }
    }

    /// What lists are measured by, such as "Recall@20"; k where lists differ in length.
    #[must_use]
    pub fn at_top(&self, measure: &str) -> String {
        match self.top {
            Some(top) => format!("{measure}@{top}"),
            None => format!("{measure}@k, k = evaluation.top"),
        }
    }

    /// Whether every pair of `sweep.coincide` does.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.coincidences.iter().all(|pair| pair.holds)
    }
}

fn first_failed(sweep: &Sweep, outcomes: &[CellOutcome]) -> Option<FailedCell> {
    let mut cells = sweep.cells.iter().zip(outcomes);
    cells.find_map(|(cell, outcome)| {
        let reason = outcome.as_ref().err()?.clone();
        let cell = sweep.cell_name(*cell);
        Some(FailedCell { cell, reason })
    })
}

/// Predictions without noise. All methods of a seed predict the same ratings, so that the first one's lines are everybody's.
fn beside_predictions(view: &Outcomes<'_>) -> Vec<Curve> {
    let named = |curves: Vec<Curve>, name: &str| {
        let first = without_empty(curves).into_iter().next();
        first.map(|curve| Curve {
            method: name.to_owned(),
            ..curve
        })
    };
    let user_mean = named(view.curves(|m| m.rmse.user_mean), "the user's mean");
    let item_means = view.curves(|m| m.rmse.item_means);
    let item_means = named(item_means, "user and item means, no noise");
    let methods = unnoised(view.curves(|m| m.rmse.non_private));
    user_mean
        .into_iter()
        .chain(item_means)
        .chain(methods)
        .collect()
}

/// Lists without noise: what is popular, once for all methods that agree on it, and each method's.
fn beside_lists(view: &Outcomes<'_>, of: impl Fn(RankingQuality) -> f64) -> Vec<Curve> {
    let mut popular: Vec<Curve> = Vec::new();
    for curve in without_empty(view.curves(|m| m.lists.popularity.map(&of))) {
        let known = popular.iter().any(|other| other.points == curve.points);
        if !known {
            let name = match popular.is_empty() {
                true => POPULAR.to_owned(),
                false => format!("{POPULAR}, {}", curve.method),
            };
            popular.push(Curve {
                method: name,
                ..curve
            });
        }
    }
    popular
        .into_iter()
        .chain(unnoised(view.curves(|m| m.lists.non_private.map(&of))))
        .collect()
}

/// These curves of methods, named as those without noise.
fn unnoised(curves: Vec<Curve>) -> impl Iterator<Item = Curve> {
    without_empty(curves).into_iter().map(|curve| Curve {
        method: format!("{}, no noise", curve.method),
        ..curve
    })
}

/// The length of all lists, where lists are measured.
fn lengths(sweep: &Sweep) -> Option<usize> {
    let mut all = sweep.settings.iter().map(|one| one.config.evaluation.top);
    let first = all.next()?;
    let measured = sweep.table.error.is_of_lists();
    (measured && all.all(|other| other == first)).then_some(first)
}

fn without_empty(mut curves: Vec<Curve>) -> Vec<Curve> {
    curves.retain(|curve| !curve.points.is_empty());
    curves
}
