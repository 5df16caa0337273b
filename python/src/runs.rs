//! One experiment run: `run` and what it leaves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use undertone::campaign::advise::Guess;
use undertone::campaign::auto::{Auto, Chosen};
use undertone::config::Config;
use undertone::linalg::Block;
use undertone::report;
use undertone::run::faults::FaultsError;
use undertone::run::{Report, RunError, output, run as run_experiment};
use undertone::scenario::Experiment;

use crate::failure::Failure;
use crate::source::{Configured, Source};
use crate::supervised::{Watch, Watching, supervised};

/// A release: iteration, rows, columns, sensitivity, σ's of its blocks, quantity of each block.
type Released = (u32, usize, usize, f64, Vec<f64>, Vec<String>);

/// Everything one run left.
#[pyclass(frozen, module = "undertone._undertone")]
pub(crate) struct Run {
    experiment: Experiment,
    chosen: Option<Chosen>,
    report: Report,
}

/// A dense array of a block: one copy, the array's own.
fn array<'py>(py: Python<'py>, block: &Block) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, block.values()).reshape([block.rows(), block.columns()])
}

#[pymethods]
impl Run {
    /// `summary.json`, as text.
    fn summary(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.report.summary).map_err(Failure::from)?)
    }

    /// `receipt.json`, as text.
    fn receipt(&self) -> PyResult<String> {
        Ok(serde_json::to_string(&self.report.receipt).map_err(Failure::from)?)
    }

    /// `advice.json` of a run whose algorithm was chosen, as text.
    fn advice(&self) -> PyResult<Option<String>> {
        let advice = self.chosen.as_ref().map(|chosen| &chosen.advice);
        let text = advice.map(serde_json::to_string).transpose();
        Ok(text.map_err(Failure::from)?)
    }

    /// The basis that peer 0 ended with, n × p.
    fn basis<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        array(py, self.report.outcome.basis())
    }

    /// Every release.
    fn releases(&self) -> Vec<Released> {
        let declared = self.experiment.releases();
        let records = self.report.outcome.records.iter();
        records
            .map(|record| {
                let blocks = declared.get(record.release.index());
                let quantities = blocks.map_or_else(Vec::new, |release| {
                    let blocks = release.blocks.iter();
                    blocks.map(|block| block.quantity.to_string()).collect()
                });
                (
                    record.iteration.0,
                    record.sum.rows(),
                    record.sum.columns(),
                    record.sensitivity,
                    record.sigmas.to_vec(),
                    quantities,
                )
            })
            .collect()
    }

    /// The noisy sum that peer 0 has of a release, from 0.
    fn sum<'py>(&self, py: Python<'py>, release: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let records = &self.report.outcome.records;
        match records.get(release) {
            Some(record) => array(py, &record.sum),
            None => Err(PyIndexError::new_err(format!(
                "release {release} of {}",
                records.len()
            ))),
        }
    }

    /// `metrics.csv`.
    fn metrics<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &output::metrics(&self.report).to_csv())
    }

    /// `items.csv`.
    fn items<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.report.items.to_csv())
    }

    /// The names of the peers, as the graph calls them.
    fn peers(&self) -> Vec<String> {
        let graph = self.experiment.topology().graph();
        (0..graph.nodes()).map(|peer| graph.name(peer)).collect()
    }

    /// Writes the files of a run into a folder.
    fn write(&self, py: Python<'_>, directory: PathBuf, trace: bool) -> PyResult<()> {
        py.detach(|| self.written(&directory, trace))?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("<run of {:?}>", self.report.summary.name)
    }
}

impl Run {
    fn written(&self, directory: &Path, trace: bool) -> Result<(), Failure> {
        let config = match &self.chosen {
            Some(chosen) => chosen.portable_config(),
            None => self.experiment.portable_config(),
        };
        output::write(directory, &config, &self.report, trace)?;
        if let Some(chosen) = &self.chosen {
            output::write_advice(directory, &chosen.advice)?;
        }
        let page = report::run_page(&self.experiment, &self.report)?;
        report::write(directory, &page)?;
        Ok(())
    }
}

/// An experiment whose algorithm, where that is left open, has been chosen.
pub(crate) struct Settled {
    pub(crate) experiment: Experiment,
    pub(crate) chosen: Option<Chosen>,
}

/// Resolves a source, with the pilot and the choice of one that leaves its algorithm open.
pub(crate) fn settled(source: &Source, watch: &Arc<Watch>) -> Result<Settled, Failure> {
    let Configured { config, materials } = source.read()?;
    refuse_sweeps(&config)?;
    if !Auto::is_meant(&config) {
        let experiment = source.resolved(config, &materials)?;
        let chosen = None;
        return Ok(Settled { experiment, chosen });
    }
    let open = Auto::from_materials(config, materials).map_err(|error| source.named(error))?;
    let chosen = open.choose(&Guess::DEFAULTS, &|done, total| watch.tell(done, total))?;
    Ok(Settled {
        experiment: chosen.experiment.clone(),
        chosen: Some(chosen),
    })
}

fn refuse_sweeps(config: &Config) -> Result<(), Failure> {
    match &config.sweep {
        None => Ok(()),
        Some(_) => Err(Failure::Value(format!(
            "{} has a [sweep]: many runs and not one. Use undertone.sweep",
            config.name
        ))),
    }
}

/// Runs one experiment; `out` is created before anything is computed, and the files written there if it is named.
#[pyfunction]
#[pyo3(signature = (sim, set, memory, faults, out, trace, progress))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn run(
    py: Python<'_>,
    sim: &Bound<'_, PyAny>,
    set: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, PyDict>>,
    faults: Option<PathBuf>,
    out: Option<PathBuf>,
    trace: bool,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<Run> {
    let source = Source::of(sim, set, memory, faults)?;
    if trace && out.is_none() {
        return Err(PyValueError::new_err(
            "trace is written among the other files: name a folder with out",
        ));
    }
    supervised(py, progress, move |watch| {
        if let Some(out) = &out {
            output::create(out)?;
        }
        let settled = settled(&source, watch)?;
        watch.pass();
        let mut observer = Watching(Arc::clone(watch));
        let report = match &settled.chosen {
            Some(chosen) => chosen.run(&mut observer)?,
            None => match run_experiment(&settled.experiment, &mut observer) {
                Err(RunError::Faults(FaultsError::NoResult(none))) => {
                    if let Some(out) = &out {
                        output::write_no_result(out, &none.faulty)?;
                    }
                    return Err(RunError::Faults(FaultsError::NoResult(none)).into());
                }
                other => other?,
            },
        };
        let run = Run {
            experiment: settled.experiment,
            chosen: settled.chosen,
            report,
        };
        if let Some(out) = &out {
            run.written(out, trace)?;
        }
        Ok(run)
    })
}
