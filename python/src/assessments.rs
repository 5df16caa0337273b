//! Whether an experiment keeps what it promises: `verify`, `audit`, `privacy`, and checks of receipts. All answer as JSON.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::Serialize;
use undertone::assess::audit::{AuditOptions, audit as audited};
use undertone::assess::verification::{
    Check, Verification, VerifyOptions, verify as verified, verify_pair,
};
use undertone::assess::{Forecast, ForecastOptions};
use undertone::run::items::ItemList;
use undertone::run::receipt::{FieldStanding, Finding, ON_TRUST, Receipt, Trusted};
use undertone::topology::TopologySummary;

use crate::runs::settled;
use crate::source::Source;
use crate::supervised::{Watching, supervised};

/// A table of checks, for Python.
#[derive(Serialize)]
pub(crate) struct Verified<'a> {
    name: &'a str,
    engine: &'static str,
    passed: bool,
    runs: u32,
    checks: &'a [Check],
    skipped: &'a [String],
    warnings: Vec<String>,
    text: String,
}

impl<'a> Verified<'a> {
    pub(crate) fn of(
        name: &'a str,
        engine: &'static str,
        table: &'a Verification,
        warnings: Vec<String>,
    ) -> Self {
        Self {
            name,
            engine,
            passed: table.passed(),
            runs: table.runs,
            checks: &table.checks,
            skipped: &table.skipped,
            warnings,
            text: table.to_string(),
        }
    }
}

/// The statistical test that an experiment is what its plan says.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, runs, significance, progress))]
pub(crate) fn verify(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    runs: u32,
    significance: f64,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = Source::of(sim, set, memory, None)?;
    supervised(py, progress, move |watch| {
        let options = VerifyOptions { runs, significance };
        let settled = settled(&source, watch)?;
        let experiment = &settled.experiment;
        let mut observer = Watching(Arc::clone(watch));
        let pilot = settled.chosen.as_ref().and_then(|one| one.pilot.as_ref());
        let table = match pilot {
            Some(pilot) => verify_pair(&pilot.experiment, experiment, options, &mut observer)?,
            None => verified(experiment, options, &mut observer)?,
        };
        let warnings = experiment.warnings().iter();
        let config = experiment.config();
        Ok(serde_json::to_string(&Verified::of(
            &config.name,
            config.engine.kind.name(),
            &table,
            warnings.map(ToString::to_string).collect(),
        ))?)
    })
}

/// The distinguishing game, of a run and of the pilot before it, if there is one.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, trials, significance, coalition, victim, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn audit(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    trials: u32,
    significance: f64,
    coalition: Vec<String>,
    victim: Option<String>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, Option<String>)> {
    let source = Source::of(sim, set, memory, None)?;
    supervised(py, progress, move |watch| {
        let settled = settled(&source, watch)?;
        let options = AuditOptions {
            trials,
            significance,
            coalition,
            victim,
        };
        let mut observer = Watching(Arc::clone(watch));
        let pilot = settled.chosen.as_ref().and_then(|one| one.pilot.as_ref());
        let before = match pilot {
            Some(pilot) => Some(audited(&pilot.experiment, &options, &mut observer)?),
            None => None,
        };
        let own = audited(&settled.experiment, &options, &mut observer)?;
        let before = before.as_ref().map(serde_json::to_string).transpose()?;
        Ok((serde_json::to_string(&own)?, before))
    })
}

#[derive(Serialize)]
struct Forecasted {
    topology: TopologySummary,
    privacy: Forecast,
    warnings: Vec<String>,
}

/// What an experiment costs before it runs.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, peers, coalition, target_gap, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn privacy(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    peers: bool,
    coalition: Vec<String>,
    target_gap: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = Source::of(sim, set, memory, None)?;
    supervised(py, progress, move |watch| {
        let experiment = &source.experiment()?;
        watch.pass();
        let options = ForecastOptions {
            peers,
            coalition,
            target_gap,
        };
        let warnings = experiment.warnings().iter();
        Ok(serde_json::to_string(&Forecasted {
            topology: experiment.topology().summary(),
            privacy: Forecast::of(experiment, &options)?,
            warnings: warnings.map(ToString::to_string).collect(),
        })?)
    })
}

#[derive(Serialize)]
struct Checked {
    holds: bool,
    findings: Vec<Finding>,
    taken_on_trust: [Trusted; ON_TRUST.len()],
    fields: Vec<FieldStanding>,
}

/// Computes a receipt's promises again.
#[pyfunction]
#[pyo3(signature = (path, text))]
pub(crate) fn check_receipt(
    py: Python<'_>,
    path: PathBuf,
    text: Option<String>,
) -> PyResult<String> {
    supervised(py, None, move |_| {
        let bytes = match text {
            Some(text) => text.into_bytes(),
            None => Receipt::read_bytes(&path)?,
        };
        let receipt = Receipt::parse(&path, &bytes)?;
        let mut findings = receipt.check()?;
        let items = path.with_file_name("items.csv");
        if receipt.preconditioning.is_some() && items.exists() {
            findings.extend(receipt.check_items(&ItemList::read(&items)?));
        }
        let holds = findings.iter().all(|finding| finding.agrees);
        Ok(serde_json::to_string(&Checked {
            holds,
            findings,
            taken_on_trust: ON_TRUST,
            fields: Receipt::standings(),
        })?)
    })
}
