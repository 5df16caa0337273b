//! Turns collected samples into lines of the table.

use super::statistics::{
    chi_squared_variance, correlation, kolmogorov_smirnov_normal, mann_whitney,
};
use super::{Check, Verification};
use crate::engine::Outcome;
use crate::experiment::resolve::Experiment;

/// Samples are thinned to about this many per test, by taking whole runs' leading coordinates.
const MOST_SAMPLES: usize = 400_000;

/// Standardised noise in the sums: `runs[r][l][i]` is coordinate i of iteration l in run r.
#[derive(Debug, Default)]
pub(super) struct Samples {
    runs: Vec<Vec<Vec<f64>>>,
    columns: usize,
}

impl Samples {
    /// Adds one run whose noise should have standard deviation `sigma` per unit sensitivity.
    pub(super) fn push_run(&mut self, outcome: &Outcome, sigma: f64) {
        self.columns = outcome.basis().columns();
        let standardised = outcome.records.iter().map(|record| {
            let scale = 1.0 / (record.sensitivity * sigma);
            let pairs = record.sum.values().iter().zip(record.totals.local.values());
            pairs
                .map(|(sum, local)| (sum - local) * scale)
                .take(MOST_SAMPLES)
                .collect()
        });
        self.runs.push(standardised.collect());
    }

    /// The tests of the law.
    pub(super) fn law(&self, significance: f64) -> Vec<Check> {
        let all = self.thinned();
        let check = |name: &str, (statistic, p): (f64, f64)| Check {
            kind: "law",
            name: name.to_owned(),
            statistic,
            p_value: Some(p),
            threshold: significance,
            passed: p >= significance,
        };
        let mut checks = vec![
            check(
                "Kolmogorov-Smirnov distance to N(0, 1)",
                kolmogorov_smirnov_normal(&all),
            ),
            check(
                "mean square over sigma^2 (chi-squared)",
                chi_squared_variance(&all),
            ),
        ];
        let lags = [
            ("neighbouring columns", 1),
            ("neighbouring rows", self.columns),
        ];
        for (name, lag) in lags {
            if let Some(result) = self.lagged(lag) {
                checks.push(check(&format!("correlation of {name}"), result));
            }
        }
        if let Some(result) = self.between(|runs| pairs(runs.iter().flat_map(|run| run.windows(2))))
        {
            checks.push(check("correlation of consecutive iterations", result));
        }
        if let Some(result) = self.between(|runs| {
            let same_iteration = runs.windows(2).flat_map(|two| two[0].iter().zip(&two[1]));
            same_iteration
                .map(|(a, b)| (a.as_slice(), b.as_slice()))
                .collect()
        }) {
            checks.push(check("correlation of repeated runs", result));
        }
        checks
    }

    fn thinned(&self) -> Vec<f64> {
        let vectors = self.runs.iter().map(Vec::len).sum::<usize>().max(1);
        let each = (MOST_SAMPLES / vectors).max(1);
        self.runs
            .iter()
            .flatten()
            .flat_map(|noise| noise.iter().take(each))
            .copied()
            .collect()
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
    windows
        .map(|two| (two[0].as_slice(), two[1].as_slice()))
        .collect()
}

fn joined(pairs: Vec<(&[f64], &[f64])>) -> Option<(f64, f64)> {
    let (mut a, mut b) = (Vec::new(), Vec::new());
    let each = (MOST_SAMPLES / pairs.len().max(1)).max(1);
    for (x, y) in pairs {
        a.extend(x.iter().take(each));
        b.extend(y.iter().take(each));
    }
    (!a.is_empty()).then(|| correlation(&a, &b))
}

/// The algebra line: `gap` in units of what rounding can explain.
pub(super) fn algebra(gap: f64) -> Check {
    Check {
        kind: "algebra",
        name: "published - local - own noise, over rounding".to_owned(),
        statistic: gap,
        p_value: None,
        threshold: 1.0,
        passed: gap <= 1.0,
    }
}

/// The utility line: subspace errors of this engine against a curator with the same noise.
pub(super) fn utility(ours: &[f64], curated: &[f64], significance: f64) -> Check {
    let (statistic, p) = mann_whitney(ours, curated);
    Check {
        kind: "utility",
        name: "P(subspace error < curator's), same noise".to_owned(),
        statistic,
        p_value: Some(p),
        threshold: significance,
        passed: p >= significance,
    }
}

/// One line per view that the plan promises: spent ε against the target.
pub(super) fn spent(experiment: &Experiment, table: &mut Verification) {
    let privacy = experiment.config.privacy;
    // Root finding in the accountant stops at twelve digits.
    let threshold = privacy.epsilon * (1.0 + 1e-9);
    for view in &experiment.noise.views {
        if view.colluders > privacy.colluders {
            continue;
        }
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
    if experiment.noise.views.is_empty() {
        table
            .skipped
            .push("spent: the plan states no view".to_owned());
    }
}
