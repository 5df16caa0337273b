//! Is this decentralised run equal to central differential privacy?
//!
//! Four kinds of check over repeated runs with independent seeds:
//!
//! | | statement | how |
//! | --- | --- | --- |
//! | algebra | published inputs sum to Σ local products + Σ own noise | recomputed from the plan, not read from the run |
//! | law | the noise in the sum is N(0, σ²), independent across coordinates, iterations and runs | Kolmogorov–Smirnov, χ², correlations |
//! | utility | subspace errors are those of a curator with the same noise | Wilcoxon–Mann–Whitney |
//! | spent | every view that the plan promises costs at most the target ε | the accountant |
//!
//! The law is tested on what a peer computes (its estimate of the sum minus the true sum of local
//! products), so noise that is wrong and averaging that is too short both show.

mod checks;
pub mod statistics;

#[cfg(test)]
mod tests;

use serde::Serialize;

use super::resolve::Experiment;
use super::run::{RunError, run_engine};
use crate::engine::central::SumNoise;
use crate::engine::{Observer, Outcome, Session, Silent, central};
use crate::experiment::config::EngineKind;
use crate::linalg::{Block, subspace_distance, top_eigenvectors};
use crate::noise::{Assignment, PeerNoise};
use crate::vocabulary::{PeerIndex, Seed};
use checks::Samples;

/// How thorough to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VerifyOptions {
    /// Repeated runs with independent seeds.
    pub runs: u32,
    /// A check fails if its p-value is below this: the probability, per check, that a correct run fails.
    /// The whole table fails a correct run with at most nine times that (Bonferroni).
    pub significance: f64,
}

impl Default for VerifyOptions {
    fn default() -> Self {
        Self {
            runs: 20,
            significance: 1e-4,
        }
    }
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Which kind: `algebra`, `law`, `utility` or `spent`.
    pub kind: &'static str,
    /// What is checked.
    pub name: String,
    /// The statistic, in the unit the name says.
    pub statistic: f64,
    /// Its p-value, where it is a test.
    pub p_value: Option<f64>,
    /// What the statistic (or the p-value, if there is one) is held against.
    pub threshold: f64,
    /// The verdict.
    pub passed: bool,
}

/// The table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verification {
    /// Every check made.
    pub checks: Vec<Check>,
    /// Checks that do not apply, with the reason.
    pub skipped: Vec<String>,
    /// Repeated runs.
    pub runs: u32,
}

impl Verification {
    /// Whether every check passed. A table without checks has not.
    #[must_use]
    pub fn passed(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|check| check.passed)
    }

    /// The checks that failed.
    pub fn failures(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|check| !check.passed)
    }
}

/// Verifies an experiment on the engine it names.
///
/// For an integration test of your own graph, build the experiment with
/// [`Experiment::on_topology`] and assert [`Verification::passed`].
///
/// # Errors
/// [`RunError`] if a run fails.
///
/// # Cost
/// `runs` runs of the engine and as many of the curator.
pub fn verify(
    experiment: &Experiment,
    options: VerifyOptions,
    observer: &mut dyn Observer,
) -> Result<Verification, RunError> {
    verify_sessions(experiment, options, &|session| session, observer)
}

/// The same with a chance to change each session before it runs; test builds break it on purpose.
fn verify_sessions(
    experiment: &Experiment,
    options: VerifyOptions,
    prepare: &dyn Fn(Session) -> Session,
    observer: &mut dyn Observer,
) -> Result<Verification, RunError> {
    let root = Seed::from_u64(experiment.config.seed);
    let exact = top_eigenvectors(&experiment.user_rows, experiment.config.algorithm.rank);
    let total_sigma = total_sigma(experiment);
    let mut samples = Samples::default();
    let mut algebra = 0.0_f64;
    let (mut ours, mut curated) = (Vec::new(), Vec::new());
    for run in 0..options.runs.max(1) {
        let seed = root.repetition(run);
        let honest = experiment.session(&seed);
        let session = prepare(honest.clone());
        let outcome = run_engine(experiment, &session, &mut Silent)?;
        if total_sigma > 0.0 {
            samples.push_run(&outcome, total_sigma);
        }
        algebra = algebra.max(algebra_gap(experiment, &honest, &outcome));
        if let Ok(top) = &exact {
            let matched = Session {
                sigma_central: total_sigma,
                ..honest
            };
            let curator = central::run(&matched, SumNoise::Curator, &mut Silent)?;
            ours.push(subspace_distance(outcome.basis(), &top.vectors));
            curated.push(subspace_distance(curator.basis(), &top.vectors));
        }
        observer.progress(u64::from(run) + 1, u64::from(options.runs.max(1)));
    }
    let mut table = Verification {
        checks: Vec::new(),
        skipped: Vec::new(),
        runs: options.runs.max(1),
    };
    if experiment.config.engine.kind == EngineKind::Central {
        table
            .skipped
            .push("algebra: a trusted curator has no published inputs".to_owned());
    } else {
        table.checks.push(checks::algebra(algebra));
    }
    if total_sigma > 0.0 {
        table.checks.extend(samples.law(options.significance));
        checks::spent(experiment, &mut table);
    } else {
        table.skipped.push(
            "law, spent: noise.scheme = \"none\" adds no noise and protects nobody".to_owned(),
        );
    }
    match exact {
        Ok(_) if experiment.config.engine.kind == EngineKind::Central => {
            table
                .skipped
                .push("utility: this run is the curator's own".to_owned());
        }
        Ok(_) => table
            .checks
            .push(checks::utility(&ours, &curated, options.significance)),
        Err(error) => table.skipped.push(format!("utility: {error}")),
    }
    Ok(table)
}

/// Standard deviation, per unit sensitivity, of the noise that should remain in the sum.
fn total_sigma(experiment: &Experiment) -> f64 {
    if !experiment.is_private() {
        0.0
    } else if experiment.config.engine.kind == EngineKind::Central {
        experiment.calibrated.z
    } else {
        experiment.noise.sigma_own * (experiment.topology.graph().nodes() as f64).sqrt()
    }
}

/// The largest |Σ published − Σ local − Σ own noise| over iterations and coordinates, in units of what
/// rounding can explain. Own noise is drawn again from the untouched plan.
fn algebra_gap(experiment: &Experiment, honest: &Session, outcome: &Outcome) -> f64 {
    let noise = &experiment.noise;
    let assignment = Assignment::new(&honest.seed, noise.sigma_own, noise.sigma_pairwise);
    let peers = honest.peers();
    let own = PeerNoise {
        terms: (0..peers)
            .map(|u| assignment.own(PeerIndex::from_index(u)))
            .collect(),
    };
    let degree = honest.noise_graph().max_degree() as f64;
    let mut worst = 0.0_f64;
    for record in &outcome.records {
        let mut expected = Block::zeros(record.sum.rows(), record.sum.columns());
        own.add_to(record.iteration, record.sensitivity, expected.values_mut());
        expected.add_scaled(1.0, &record.totals.local);
        // Each of s additions rounds values of at most a few standard deviations of one input.
        let input =
            record.sensitivity * (noise.sigma_own + noise.sigma_pairwise * degree.sqrt()) + 1.0;
        let rounding = 16.0 * f64::EPSILON * peers as f64 * input;
        for (a, b) in record
            .totals
            .published
            .values()
            .iter()
            .zip(expected.values())
        {
            worst = worst.max((a - b).abs() / rounding);
        }
    }
    worst
}
