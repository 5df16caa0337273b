//! Turns what a sweep found into the parts of its page.

use super::axis::{Axis, Spacing};
use super::figure::Figure;
use super::frontiers;
use super::series::{Mark, Point, Series};
use super::sweep_page::{MarkedCrossing, Method, Panel, SweepReport};
use super::table::{Cell, PageTable};
use crate::campaign::sweep::{Coincidence, Crossing, Curve, SweepResult};
use crate::config::{SweepConfig, SweptError};
use crate::writing::Column;

/// What a band is, for every figure that has one.
const BANDS: &str =
    "Lines are means over runs; bands are 99 % percentile-bootstrap bands of the mean.";

impl SweepReport {
    /// The page of this result; `table` is the file's `[sweep]`, `configuration` the file itself.
    #[must_use]
    pub fn of(result: &SweepResult, table: &SweepConfig, configuration: &str) -> Self {
        let x = axis(result);
        let predicted = [&result.curves_rmse[..], &result.lines_rmse].concat();
        let recalled = [&result.curves_recall[..], &result.lines_recall].concat();
        let early = [&result.curves_ndcg[..], &result.lines_ndcg].concat();
        let (recall, ndcg) = (result.at_top("Recall"), result.at_top("NDCG"));
        let mut panels = [
            (
                "against-non-private",
                "relative error against the non-private run from the same start",
                &result.curves,
            ),
            (
                "against-exact",
                "relative error against the exact eigenvectors",
                &result.curves_exact,
            ),
            (
                "captured-variance",
                "captured variance, 1 for the exact eigenvectors",
                &result.curves_variance,
            ),
            (
                "rmse",
                "root mean squared error on the ratings kept aside",
                &predicted,
            ),
            ("recall", recall.as_str(), &recalled),
            ("ndcg", ndcg.as_str(), &early),
        ];
        match result.error {
            SweptError::NonPrivate => {}
            SweptError::Exact => panels.swap(0, 1),
            SweptError::Variance => panels.swap(0, 2),
            SweptError::Rmse => panels.swap(0, 3),
            SweptError::Recall => panels.swap(0, 4),
            SweptError::Ndcg => panels.swap(0, 5),
        }
        let drawn = |curves: &[Curve]| curves.iter().any(|curve| !curve.points.is_empty());
        let others = [
            &result.curves_variance,
            &result.curves_rmse,
            &result.curves_recall,
        ];
        let others = others.iter().any(|curves| !curves.is_empty());
        // Numbers have no relative error, which is about what low-pass filters make of interactions, and lists are measured without one.
        let panels = panels
            .into_iter()
            .filter(|(.., curves)| !curves.is_empty() && (!others || drawn(curves)));
        let crossing = |(place, found): (usize, &Crossing)| MarkedCrossing {
            found: found.clone(),
            is_baseline: table.is_baseline(place, result.crossings.len()),
        };
        Self {
            name: result.name.clone(),
            lead: format!(
                "{} runs: {} curves over {}, {} seeds at each point; all methods of one seed start from the same block.",
                result.cells,
                result.curves.len(),
                result.x,
                result.seeds
            ),
            guarantee: "Every method is labelled with the ε it was asked for. What the accountant says it spends \
                 against the coalition of its configuration is drawn and listed in comparison: calibrations of the \
                 papers spend less than asked at small ε and more at large."
                .to_owned(),
            promises: promises(result),
            warnings: result.warnings.clone(),
            panels: panels
                .map(|(id, what, curves)| Panel {
                    id: id.into(),
                    y: match id {
                        "rmse" => Axis::new(what, "units of ratings", Spacing::Fitting),
                        "recall" | "ndcg" => Axis::new(what, "ratio", Spacing::Fitting),
                        _ => Axis::new(what, "ratio", Spacing::Log),
                    },
                    series: series(curves, Mark::LineAndMarkers),
                    description: BANDS.to_owned(),
                })
                .collect(),
            target: result.target.map(|error| result.error.measure(error)),
            baseline: result.baseline.clone().unwrap_or_default(),
            crossings: result.crossings.iter().enumerate().map(crossing).collect(),
            methods: methods(result, table),
            figures: spent(result, &x)
                .into_iter()
                .chain(charged(result, &x))
                .collect(),
            frontiers: frontiers::drawn(result),
            tables: coincidences(&result.coincidences).into_iter().collect(),
            configuration: configuration.to_owned(),
            timing: "none: nothing on this page depends on the clock".to_owned(),
            x,
        }
    }
}

/// Each method with what it promises.
fn promises(result: &SweepResult) -> Vec<(String, String)> {
    let named = result.promises.iter().flat_map(|found| {
        let of = |method: &String| (method.clone(), found.promise.clone());
        found.methods.iter().map(of)
    });
    named.collect()
}

fn axis(result: &SweepResult) -> Axis {
    match result.x.as_str() {
        "privacy.epsilon" => Axis::new("ε asked for", "nats", Spacing::Log),
        "faults.random.crashes" => Axis::new("peers that crash", "number", Spacing::Fitting),
        key => Axis::new(key, "as in the file", Spacing::Fitting),
    }
}

fn series(curves: &[Curve], mark: Mark) -> Vec<Series> {
    let drawn = curves.iter().map(|curve| {
        let points = curve.points.iter().map(|point| Point {
            x: point.x,
            y: point.mean,
            band: (point.low < point.high).then_some((point.low, point.high)),
        });
        Series::new(&curve.method, mark, points.collect())
    });
    drawn.collect()
}

/// ε spent against ε asked for, where ε is what was swept.
fn spent(result: &SweepResult, x: &Axis) -> Option<Figure> {
    let swept = result.x == "privacy.epsilon" && !result.spent.is_empty();
    swept.then(|| Figure {
        id: "spent".into(),
        title: "What each calibration spends of what it is asked for".to_owned(),
        description: "ε against the coalition of each method's configuration, by the accountant."
            .to_owned(),
        x: x.clone(),
        y: Axis::new("ε spent", "nats", Spacing::Log),
        series: series(&result.spent, Mark::LineAndMarkers),
        guides: Vec::new(),
        half: false,
    })
}

/// ε promised, planned and realised, where losses are tolerated.
fn charged(result: &SweepResult, x: &Axis) -> Option<Figure> {
    let levels = [
        ("promised", &result.spent),
        ("planned for the tries", &result.planned),
        ("realised", &result.realised),
    ];
    let named = levels.into_iter().flat_map(|(level, curves)| {
        series(curves, Mark::LineAndMarkers)
            .into_iter()
            .map(move |series| Series {
                name: format!("{}: {level}", series.name),
                ..series
            })
    });
    (!result.planned.is_empty()).then(|| Figure {
        id: "charged".into(),
        title: "What was promised, what was planned for the tries that there were, and what the executions cost".to_owned(),
        description: format!(
            "Promised is ε whoever is lost and with all retries spent. Planned is what a ledger charges for the tries that there were. Realised is the exact loss of \
             the worst-placed peer, or a bound: a diagnostic, of which nothing is promised. {BANDS}"
        ),
        x: x.clone(),
        y: Axis::new("ε", "nats", Spacing::Fitting),
        series: named.collect(),
        guides: Vec::new(),
        half: false,
    })
}

fn methods(result: &SweepResult, table: &SweepConfig) -> Vec<Method> {
    // Who predicts ratings or makes lists is measured by nothing else.
    let own = [&result.curves_rmse, &result.curves_recall];
    let own = own.into_iter().find(|curves| !curves.is_empty());
    let curves = own.unwrap_or(&result.curves);
    let rests = (curves.len() / table.methods.len().max(1)).max(1);
    let one = |(number, curve): (usize, &Curve)| {
        let set = table
            .methods
            .get(number / rests)
            .map(|method| &method.set.0);
        let runs: usize = curve.points.iter().map(|point| point.runs).sum();
        let points = table.over.0.first().map_or(0, |(_, values)| values.len());
        Method {
            name: curve.method.clone(),
            settings: set
                .into_iter()
                .flatten()
                .map(|(key, value)| (key.clone(), value.to_string()))
                .collect(),
            points: points as u64,
            runs: runs as u64,
            missing: (points * result.seeds).saturating_sub(runs) as u64,
        }
    };
    curves.iter().enumerate().map(one).collect()
}

fn coincidences(pairs: &[Coincidence]) -> Option<PageTable> {
    let row = |pair: &Coincidence| {
        let [one, other] = &pair.methods;
        let least = pair.points.iter().filter_map(|(_, p)| *p).reduce(f64::min);
        let verdict = if pair.holds { "PASS" } else { "FAIL" };
        vec![
            Cell::text(one),
            Cell::text(other),
            Cell::text(verdict),
            Cell::optional(least),
        ]
    };
    (!pairs.is_empty()).then(|| PageTable {
        caption: "Pairs whose errors must have the same law (permutation test, Holm-corrected)"
            .to_owned(),
        columns: vec![
            Column::new("method", ""),
            Column::new("and", ""),
            Column::new("verdict", ""),
            Column::new("least corrected p-value", "probability"),
        ],
        rows: pairs.iter().map(row).collect(),
    })
}
