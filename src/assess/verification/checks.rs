//! Turns collected samples into lines of the table.

use super::laplace::SumLaw;
use super::statistics::{
    chi_squared_variance, correlation, kolmogorov_smirnov_normal, least_likely, mann_whitney,
    mann_whitney_least_p,
};
use super::table::{Check, Verification};
use crate::engine::Outcome;
use crate::plan::Plan;
use crate::privacy::AdversaryView;
use crate::protocol::SessionPlan;

/// About this many samples are kept over all runs: leading coordinates of every iteration.
const MOST_SAMPLES: usize = 400_000;

/// A statistical test; [`settle`] decides.
pub(super) fn test(kind: &'static str, name: &str, (statistic, p): (f64, f64)) -> Check {
    Check {
        kind,
        name: name.to_owned(),
        statistic,
        p_value: Some(p),
        threshold: f64::NAN,
        passed: false,
    }
}

/// Holds every p-value against `significance` over the number of p-values: a correct run then fails any of them with
/// probability at most `significance` (Bonferroni), whatever their dependence. A p-value that is no number fails.
///
/// What is tested is a function of the experiment and the number of runs alone, never of what was drawn.
pub(super) fn settle(table: &mut Verification, significance: f64) {
    let threshold = significance / table.tests().max(1) as f64;
    for check in &mut table.checks {
        if let Some(p) = check.p_value {
            check.threshold = threshold;
            check.passed = p >= threshold;
        }
    }
}

/// Standardised noise in the sums: `runs[r][l][i]` is coordinate i of iteration l in run r.
#[derive(Debug)]
pub(super) struct Samples {
    runs: Vec<Vec<Vec<f64>>>,
    columns: usize,
    /// Leading coordinates kept of each iteration, so that all runs together stay bounded.
    kept: usize,
}

impl Samples {
    /// Room for this many runs and iterations.
    pub(super) fn new(runs: u32, iterations: u32) -> Self {
        let vectors = (runs as usize * iterations as usize).max(1);
        Self {
            runs: Vec::new(),
            columns: 1,
            kept: (MOST_SAMPLES / vectors).max(64),
        }
    }

    /// Adds one run. `sigmas` are the standard deviations that the noise of each iteration should have.
    pub(super) fn push_run(&mut self, outcome: &Outcome, sigmas: &[f64], plan: &SessionPlan) {
        self.columns = outcome
            .records
            .first()
            .map_or(1, |record| record.sum.columns());
        let standardised = outcome.records.iter().zip(sigmas).map(|(record, sigma)| {
            let mut sum = record.sum.values().to_vec();
            // Contributions are told in the units in which they are published.
            if let Some(planned) = plan.release(record.release) {
                planned
                    .terms(record.statistic)
                    .to_units(0..sum.len(), &mut sum);
            }
            let pairs = sum.iter().zip(record.totals.local.values());
            let noise = pairs.map(|(sum, local)| (sum - local) / sigma);
            noise.take(self.kept).collect::<Vec<f64>>()
        });
        self.runs.push(standardised.collect());
    }

    /// The tests of the law; `each` also looks at every iteration's variance alone, which an uneven budget needs: iterations
    /// with too much and too little noise average out.
    ///
    /// Where noise adds up to Laplace noise `laplace` takes the place of N(0, 1); the tests of correlation then hold asymptotically.
    pub(super) fn law(&self, each: bool, laplace: Option<&SumLaw>) -> Vec<Check> {
        let all: Vec<f64> = self.runs.iter().flatten().flatten().copied().collect();
        let check = |name: &str, result| test("law", name, result);
        let mut checks = match laplace {
            Some(law) => vec![
                check(
                    "Kolmogorov-Smirnov distance to the sum of Laplace shares",
                    law.distance(&all),
                ),
                check(
                    "mean square over sigma^2 (asymptotic)",
                    law.mean_square(&all),
                ),
            ],
            None => vec![
                check(
                    "Kolmogorov-Smirnov distance to N(0, 1)",
                    kolmogorov_smirnov_normal(&all),
                ),
                check(
                    "mean square over sigma^2 (chi-squared)",
                    chi_squared_variance(&all),
                ),
            ],
        };
        if each && let Some(result) = self.least_likely_iteration(laplace) {
            checks.push(check("least likely mean square of one iteration", result));
        }
        let lags = [
            ("neighbouring columns", 1),
            ("neighbouring rows", self.columns),
        ];
        for (name, lag) in lags {
            // One column has no other beside it.
            if name == lags[0].0 && self.columns == 1 {
                continue;
            }
            if let Some(result) = self.lagged(lag) {
                checks.push(check(&format!("correlation of {name}"), result));
            }
        }
        if let Some(result) = self.between(|runs| pairs(runs.iter().flat_map(|run| run.windows(2))))
        {
            checks.push(check("correlation of consecutive iterations", result));
        }
        checks.extend(self.of_repeated_runs());
        checks
    }

    /// The test of the correlation of runs with one another; `None` of a single run.
    pub(super) fn of_repeated_runs(&self) -> Option<Check> {
        let found = self.between(|runs| {
            let same_iteration = runs.windows(2).flat_map(|two| two[0].iter().zip(&two[1]));
            same_iteration
                .map(|(a, b)| (a.as_slice(), b.as_slice()))
                .collect()
        });
        found.map(|result| test("law", "correlation of repeated runs", result))
    }

    /// The correlation of this noise with that of other sessions, run by run: every release of one with every release of the other, as far as
    /// the shorter goes. `None` where one of them has none.
    pub(super) fn correlation_with(&self, other: &Self) -> Option<(f64, f64)> {
        let runs = self.runs.iter().zip(&other.runs);
        let each =
            runs.flat_map(|(a, b)| a.iter().flat_map(move |x| b.iter().map(move |y| (x, y))));
        let pairs = each.map(|(x, y)| {
            let length = x.len().min(y.len());
            (&x[..length], &y[..length])
        });
        joined(pairs.collect())
    }

    /// The least likely mean square of one iteration.
    fn least_likely_iteration(&self, laplace: Option<&SumLaw>) -> Option<(f64, f64)> {
        let iterations = self.runs.first().map_or(0, Vec::len);
        least_likely((0..iterations).map(|l| {
            let noise: Vec<f64> = self.runs.iter().flat_map(|run| &run[l]).copied().collect();
            laplace.map_or_else(
                || chi_squared_variance(&noise),
                |law| law.mean_square(&noise),
            )
        }))
    }

    fn lagged(&self, lag: usize) -> Option<(f64, f64)> {
        let slices = self.runs.iter().flatten();
        let shifted = slices
            .filter_map(|noise| Some((noise.get(..noise.len().checked_sub(lag)?)?, &noise[lag..])));
        joined(shifted.collect())
    }

    fn between<'a>(
        &'a self,
        choose: impl Fn(&'a [Vec<Vec<f64>>]) -> Vec<(&'a [f64], &'a [f64])>,
    ) -> Option<(f64, f64)> {
        joined(choose(&self.runs))
    }
}

fn pairs<'a>(windows: impl Iterator<Item = &'a [Vec<f64>]>) -> Vec<(&'a [f64], &'a [f64])> {
    // Releases of another size are compared as far as the shorter one goes.
    windows
        .map(|two| {
            let length = two[0].len().min(two[1].len());
            (&two[0][..length], &two[1][..length])
        })
        .collect()
}

fn joined(pairs: Vec<(&[f64], &[f64])>) -> Option<(f64, f64)> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for (x, y) in pairs {
        a.extend_from_slice(x);
        b.extend_from_slice(y);
    }
    (a.len() > 1).then(|| correlation(&a, &b))
}

/// The algebra line of the sums: `gap` in units of what rounding can explain.
pub(super) fn algebra(gap: f64) -> Check {
    explained("published - local - own noise, over rounding", gap)
}

/// The algebra line of the peers, likewise.
pub(super) fn algebra_of_peers(gap: f64) -> Check {
    explained("one peer's published - local - noise, over rounding", gap)
}

fn explained(name: &str, gap: f64) -> Check {
    Check {
        kind: "algebra",
        name: name.to_owned(),
        statistic: gap,
        p_value: None,
        threshold: 1.0,
        passed: gap <= 1.0,
    }
}

/// The sensitivity line: the smallest ratio of the Δ a run scaled its noise by to the Δ that the public
/// basis before the iteration calls for. Peers agree on a maximum, so it is never below 1.
pub(super) fn sensitivity(ratio: f64) -> Check {
    let threshold = 1.0 - 1e-9;
    Check {
        kind: "algebra",
        name: "sensitivity used over sensitivity of X".to_owned(),
        statistic: ratio,
        p_value: None,
        threshold,
        passed: ratio >= threshold,
    }
}

/// The utility line: subspace errors of this engine against a curator with the same noise. Skipped where
/// the test could not fail, being one more beside those of the table.
pub(super) fn utility(ours: &[f64], curated: &[f64], significance: f64, table: &mut Verification) {
    let least = mann_whitney_least_p(ours.len());
    if least >= significance / (table.tests() + 1) as f64 {
        table.skipped.push(format!(
            "utility: {} runs cannot give a p-value below {least:.1e}; use more --runs",
            ours.len()
        ));
        return;
    }
    let name = "P(subspace error < curator's), same noise";
    table
        .checks
        .push(test("utility", name, mann_whitney(ours, curated)));
}

/// One line per view up to the first that covers the coalition the plan promises to withstand.
pub(super) fn spent(plan: &Plan, table: &mut Verification) {
    let promise = plan.promise();
    let views = plan.guarantee().noise().views();
    // A curator's output is one view whatever the peers do.
    let promised = if promise.seen == AdversaryView::CuratorOutput {
        0
    } else {
        promise.colluders
    };
    let covering = views.iter().position(|view| view.colluders >= promised);
    // Root finding in the accountant stops at twelve digits.
    let threshold = promise.epsilon.get() * (1.0 + 1e-9);
    for view in views
        .iter()
        .take(covering.map_or(views.len(), |index| index + 1))
    {
        // A calibration that overspends is a warning of the plan and a failure here.
        table.checks.push(Check {
            kind: "spent",
            name: format!("epsilon against {}", view.view),
            statistic: view.epsilon,
            p_value: None,
            threshold,
            passed: view.epsilon <= threshold,
        });
    }
    if covering.is_none() {
        table.checks.push(Check {
            kind: "spent",
            name: format!("no view covers {} colluders", promise.colluders),
            statistic: f64::INFINITY,
            p_value: None,
            threshold,
            passed: false,
        });
    }
}
