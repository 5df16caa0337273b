//! Many runs: sweeps, studies, advice. All answer as JSON.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use undertone::campaign::advise::{AdviseOptions, Guess, advise as advised};
use undertone::campaign::auto::Auto;
use undertone::campaign::sweep::{Advance, Shard, Shards, Sweep, SweepResult};
use undertone::config::{StudyConfig, SweepConfig, resolved};
use undertone::report;
use undertone::run::output;
use undertone::scenario::Materials;

use crate::failure::Failure;
use crate::memory::Memory;
use crate::source::{Configured, Source};
use crate::supervised::{Watching, supervised};

/// A sweep and the words of it that its page repeats.
struct Opened {
    sweep: Sweep,
    table: SweepConfig,
    written: String,
}

impl Opened {
    /// The sweep of this source. `program` is the file that computes it: this library, and not the interpreter that has loaded it.
    fn of(source: &Source, program: &Path) -> Result<Self, Failure> {
        let Configured { config, materials } = source.read()?;
        let Some(table) = config.sweep.clone() else {
            return Err(Failure::Value(format!(
                "{} has no [sweep]: it is one run. Use undertone.run, or add the table \"sweep\" with lists under \"over\"",
                config.name
            )));
        };
        let written = resolved(&config);
        let sweep =
            Sweep::from_materials(config, materials).map_err(|error| source.named(error))?;
        Ok(Self {
            sweep: sweep.computed_by(program),
            table,
            written,
        })
    }
}

/// Writes the page beside the results. Gives the summary as text and whether what was to be checked holds.
fn concluded(
    result: &SweepResult,
    table: &SweepConfig,
    written: &str,
    directory: &Path,
) -> Result<(String, bool), Failure> {
    let page = report::sweep_page(&report::SweepReport::of(result, table, written))?;
    report::write(directory, &page)?;
    Ok((serde_json::to_string(result)?, result.holds()))
}

/// Runs a sweep into a folder; cells that an earlier call finished there are not run again. With `shard`, `i/n`, every n-th cell, from the i-th on,
/// and nothing is concluded.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, directory, shard, program, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn sweep(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    directory: PathBuf,
    shard: Option<&str>,
    program: PathBuf,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<(String, bool)>> {
    let source = Source::of(sim, set, memory, None)?;
    let shard = shard.map(str::parse::<Shard>).transpose();
    let shard = shard.map_err(|error| PyValueError::new_err(error.to_string()))?;
    supervised(py, progress, move |watch| {
        let opened = Opened::of(&source, &program)?;
        watch.pass();
        let mut told = |advance: Advance| watch.tell(advance.done as u64, advance.total as u64);
        if let Some(shard) = shard {
            opened.sweep.run_shard(shard, &directory, &mut told)?;
            return Ok(None);
        }
        let result = opened.sweep.run(&directory, &mut told)?;
        concluded(&result, &opened.table, &opened.written, &directory).map(Some)
    })
}

/// How many runs a sweep has; refuses what cannot be swept.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, program))]
pub(crate) fn cells(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    program: PathBuf,
) -> PyResult<usize> {
    let source = Source::of(sim, set, memory, None)?;
    supervised(py, None, move |_| {
        Ok(Opened::of(&source, &program)?.sweep.cells().len())
    })
}

/// Puts the shards of a sweep together. Relative paths of the experiment start at `base`, or where they started for the first shard; `memory` is what the
/// shards had in memory.
#[pyfunction]
#[pyo3(signature = (folders, base, memory, directory, program))]
pub(crate) fn merge(
    py: Python<'_>,
    folders: Vec<PathBuf>,
    base: Option<PathBuf>,
    memory: Option<&Bound<'_, PyDict>>,
    directory: PathBuf,
    program: PathBuf,
) -> PyResult<(String, bool)> {
    let memory = memory.map(Memory::of).transpose()?;
    supervised(py, None, move |watch| {
        let materials = |written: &Path| {
            let mut materials = Materials::new(base.as_deref().unwrap_or(written));
            if let Some(memory) = &memory {
                memory.make_known(&mut materials);
            }
            materials
        };
        let shards = Shards::open(&folders, materials)?.computed_by(&program);
        watch.pass();
        let result = shards.merge(&directory)?;
        let written = resolved(shards.config());
        concluded(&result, shards.table(), &written, &directory)
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
        let Configured {
            mut config,
            materials,
        } = source.read()?;
        config.sweep = None;
        let told = |done, total| watch.tell(done, total);
        let advice = if pilot.is_some() || Auto::is_meant(&config) {
            let mut config = Auto::opened(config, pilot).map_err(|error| Failure::value(&error))?;
            let mut table = config.pilot.unwrap_or_default();
            table.bytes = limit.or(table.bytes);
            config.pilot = Some(table);
            let open = Auto::from_materials(config, materials);
            let open = open.map_err(|error| source.named(error))?;
            open.choose(&guesses, &told)?.advice
        } else {
            let experiment = source.resolved(config, &materials)?;
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
