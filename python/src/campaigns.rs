//! Many runs: sweeps, studies, advice. All answer as JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone::campaign::advise::{AdviseOptions, Guess, advise as advised};
use undertone::campaign::auto::Auto;
use undertone::campaign::sweep::Sweep;
use undertone::config::{StudyConfig, resolved};
use undertone::report;
use undertone::run::output;

use crate::failure::Failure;
use crate::source::{Configured, Source};
use crate::supervised::{Watching, supervised};

/// Runs a sweep into a folder; cells that an earlier call finished there are not run again.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, directory, progress))]
pub(crate) fn sweep(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    directory: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<(String, bool)> {
    let source = Source::of(sim, set, memory, None)?;
    supervised(py, progress, move |watch| {
        let Configured { config, base } = source.read()?;
        let Some(table) = config.sweep.clone() else {
            return Err(Failure::Value(format!(
                "{} has no [sweep]: it is one run. Use undertone.run, or add the table \"sweep\" with lists under \"over\"",
                config.name
            )));
        };
        let written = resolved(&config);
        let sweep = Sweep::new(config, &base).map_err(|error| source.named(error))?;
        watch.pass();
        let result = sweep.run(&directory, &mut |advance| {
            watch.tell(advance.done as u64, advance.total as u64);
        })?;
        let page = report::sweep_page(&report::SweepReport::of(&result, &table, &written))?;
        report::write(&directory, &page)?;
        Ok((serde_json::to_string(&result)?, result.holds()))
    })
}

/// Does a study: a file with a `[study]` table, which computes figures or tables without being one run.
#[pyfunction]
#[pyo3(signature = (path, set, out, progress))]
pub(crate) fn study(
    py: Python<'_>,
    path: PathBuf,
    set: Option<&Bound<'_, PyAny>>,
    out: Option<PathBuf>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = Source::of(path.clone().into_pyobject(py)?.as_any(), set, None, None)?;
    supervised(py, progress, move |watch| {
        let Some(study) = StudyConfig::load(&path, source.set())? else {
            // Says what is wrong with the file, if it is none of either.
            source.read()?;
            return Err(Failure::Value(format!(
                "{} has no [study]: use undertone.run or undertone.sweep",
                path.display()
            )));
        };
        study.check()?;
        if let Some(out) = &out {
            output::create(out)?;
        }
        let base = path.parent().unwrap_or(Path::new("."));
        let result = study.run(base, &mut Watching(Arc::clone(watch)))?;
        if let Some(out) = &out {
            study.write(out, base, &result)?;
            let page = report::study_page(&result, &study.resolved())?;
            report::write(out, &page)?;
        }
        Ok(serde_json::to_string(&result)?)
    })
}

/// Recommends an algorithm, its degree floor and an averaging scheme. `assume` are tastes, decays and spreads; `pilot` a share.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, limit, assume, pilot, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn advise(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    limit: Option<u64>,
    assume: Option<Vec<(f64, f64, f64)>>,
    pilot: Option<f64>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<String> {
    let source = Source::of(sim, set, memory, None)?;
    if assume.as_ref().is_some_and(Vec::is_empty) {
        return Err(PyValueError::new_err(
            "at least one guess at the data is needed, found none",
        ));
    }
    supervised(py, progress, move |watch| {
        let guesses = match assume {
            None => Guess::DEFAULTS.to_vec(),
            Some(all) => all
                .into_iter()
                .map(|(t, d, s)| Guess::new(t, d, s))
                .collect(),
        };
        let Configured { mut config, base } = source.read()?;
        config.sweep = None;
        let told = |done, total| watch.tell(done, total);
        let advice = if pilot.is_some() || Auto::is_meant(&config) {
            let mut config = Auto::opened(config, pilot);
            let mut table = config.pilot.unwrap_or_default();
            table.bytes = limit.or(table.bytes);
            config.pilot = Some(table);
            let open = Auto::new(config, &base).map_err(|error| source.named(error))?;
            open.choose(&guesses, &told)?.advice
        } else {
            let experiment = source.resolved(config, &base)?;
            let options = AdviseOptions {
                bytes: limit,
                guesses,
                pilot: None,
            };
            advised(&experiment, &options, &told)?
        };
        Ok(serde_json::to_string(&advice)?)
    })
}
