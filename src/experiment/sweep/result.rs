//! What a sweep found: curves with bands, crossings of a target, coincidences.

use serde::Serialize;

use super::bands;
use super::coincidence::{self, Coincidence};
use super::config::SweptError;
use super::cross::{self, Crossing};
use super::frontier::{self, Frontier};
use super::grid::Sweep;
use super::journal::CellOutcome;
use super::measures::Measures;
use crate::privacy::Scheme;
use crate::vocabulary::Seed;

/// Version of the layout of a sweep's `summary.json`.
pub const SWEEP_SCHEMA: u32 = 1;

/// One measure of one method along the x axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// The method; with the values of further swept keys in brackets, if there are any.
    pub method: String,
    /// Ascending in x; points at which every run failed are left out.
    pub points: Vec<CurvePoint>,
}

/// The mean over runs at one x, with its 99 % percentile-bootstrap band (1000 resamples).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The swept value; its place in the list where it is no number.
    pub x: f64,
    /// Runs behind the mean.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Lower end of the band.
    pub low: f64,
    /// Upper end of the band.
    pub high: f64,
}

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
                config.promise().sentence(),
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

/// The `summary.json` of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SweepResult {
    /// [`SWEEP_SCHEMA`].
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
    /// Runs per method and grid point.
    pub seeds: usize,
    /// Which error `target`, `crossings`, `coincidences` and `frontiers` are about.
    pub error: SweptError,
    /// The relative error asked for.
    pub target: Option<f64>,
    /// The method crossings are compared with.
    pub baseline: Option<String>,
    /// Relative error against the non-private run from the same X⁰.
    pub curves: Vec<Curve>,
    /// Relative error against the exact eigenvectors; empty where they are out of reach.
    pub curves_exact: Vec<Curve>,
    /// ε spent against the coalition asked for.
    pub spent: Vec<Curve>,
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
        let view = View::of(sweep, outcomes);
        let curves = view.curves(|m| m.relative_error_non_private);
        let spent = view.curves(|m| m.epsilon_spent);
        let all = view.curves(|m| m.relative_error);
        let error = sweep.table.error;
        let asked = match error {
            SweptError::NonPrivate => &curves,
            SweptError::Exact => &all,
        };
        let baseline = sweep.table.baseline.clone();
        let crossings = sweep.table.target.map_or_else(Vec::new, |target| {
            cross::all(asked, &spent, target, &view.baselines())
        });
        let frontiers = frontier::all(&view, |m| error.of(m));
        Self {
            schema: SWEEP_SCHEMA,
            kind: "sweep",
            version: env!("CARGO_PKG_VERSION"),
            name: sweep.config.name.clone(),
            x: sweep.table.over.0[0].0.clone(),
            cells: outcomes.len(),
            failed: outcomes.iter().filter(|outcome| outcome.is_err()).count(),
            seeds: sweep.seeds.len(),
            error,
            target: sweep.table.target,
            baseline,
            curves_exact: without_empty(all),
            spent: without_empty(spent),
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

    /// Whether every pair of `sweep.coincide` does.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.coincidences.iter().all(|pair| pair.holds)
    }
}

fn without_empty(mut curves: Vec<Curve>) -> Vec<Curve> {
    curves.retain(|curve| !curve.points.is_empty());
    curves
}

/// The outcomes by method, further keys and x.
pub(super) struct View<'a> {
    sweep: &'a Sweep,
    outcomes: &'a [CellOutcome],
    /// x of every value of the first key, and its place in the list, ascending in x.
    pub(super) xs: Vec<(f64, usize)>,
    /// Combinations of the further keys.
    pub(super) rests: usize,
}

impl<'a> View<'a> {
    fn of(sweep: &'a Sweep, outcomes: &'a [CellOutcome]) -> Self {
        let values = &sweep.table.over.0[0].1;
        let numbers: Option<Vec<f64>> = values.iter().map(number).collect();
        let numbers =
            numbers.unwrap_or_else(|| (0..values.len()).map(|place| place as f64).collect());
        let mut xs: Vec<(f64, usize)> = numbers.into_iter().zip(0..).collect();
        xs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Self {
            sweep,
            outcomes,
            rests: sweep.grid.len() / values.len(),
            xs,
        }
    }

    /// One measure of all runs that have it, in the order of the seeds.
    pub(super) fn values(
        &self,
        (method, place, rest): (usize, usize, usize),
        measure: impl Fn(&Measures) -> Option<f64>,
    ) -> Vec<f64> {
        let seeds = self.sweep.seeds.len();
        let point = place * self.rests + rest;
        let first = (method * self.sweep.grid.len() + point) * seeds;
        self.outcomes[first..first + seeds]
            .iter()
            .filter_map(|outcome| outcome.as_ref().ok().and_then(&measure))
            .filter(|value| value.is_finite())
            .collect()
    }

    /// Every method with every combination of further values.
    pub(super) fn methods(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let methods = 0..self.sweep.methods.len();
        methods.flat_map(|method| (0..self.rests).map(move |rest| (method, rest)))
    }

    /// The algorithm of a method at a grid point.
    pub(super) fn algorithm(&self, method: usize, place: usize, rest: usize) -> &'static str {
        let point = place * self.rests + rest;
        let setting = &self.sweep.settings[method * self.sweep.grid.len() + point];
        setting.config.algorithm.kind.name()
    }

    fn curves(&self, measure: impl Fn(&Measures) -> Option<f64>) -> Vec<Curve> {
        let seed = Seed::from_u64(self.sweep.seeds[0]);
        let mut curves = Vec::new();
        for method in 0..self.sweep.methods.len() {
            for rest in 0..self.rests {
                let at = |&(x, place): &(f64, usize)| {
                    let values = self.values((method, place, rest), &measure);
                    bands::point(x, &values, &seed, (place * self.rests + rest) as u32)
                };
                curves.push(Curve {
                    method: self.name(method, rest),
                    points: self.xs.iter().filter_map(at).collect(),
                });
            }
        }
        curves
    }

    /// For every curve the index of the baseline's with the same further values.
    fn baselines(&self) -> Vec<Option<usize>> {
        let name = self.sweep.table.baseline.as_ref();
        let mut methods = self.sweep.methods.iter();
        let base = name.and_then(|name| methods.position(|method| method.name == *name));
        (0..self.sweep.methods.len() * self.rests)
            .map(|curve| base.map(|base| base * self.rests + curve % self.rests))
            .collect()
    }

    pub(super) fn name(&self, method: usize, rest: usize) -> String {
        let name = &self.sweep.methods[method].name;
        if self.rests == 1 {
            return name.clone();
        }
        let keys = self.sweep.table.over.0.iter();
        let values = keys.zip(&self.sweep.grid[rest]).skip(1);
        let parts: Vec<String> = values.map(|((key, _), v)| format!("{key} = {v}")).collect();
        format!("{name} [{}]", parts.join(", "))
    }
}

fn number(value: &toml::Value) -> Option<f64> {
    match value {
        toml::Value::Float(number) => number.is_finite().then_some(*number),
        toml::Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}
