//! Writes what a run produced: `summary.json`, `basis.npy`, `items.csv`, `metrics.csv`, `consensus.csv`,
//! `config.toml`, `receipt.json`, `trace/`; with `algorithm.output = "low-rank"` its two factors; of a run that predicts ratings what
//! predicts them; of a run that was chosen by advice `advice.json`; of one whose Gram matrix recommends what scores items; of a simulation on several hosts `simulation.toml`.
//!
//! A run whose peers tolerate losses also writes `faults.toml` and `faults.json`.
//!
//! All are written before the first takes its name, so that a full disk leaves the results of the run before.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::execute::Report;
use super::faults::{FaultsSummary, Faulty};
use super::predictor::{COMPLETION, DIRECTIONS, EIGENVALUES, Predictor};
use super::score_model::{CATALOGUE, RECOMMENDER, ScoreModel};
use crate::algorithm::Output;
use crate::config::{Config, faults_text, resolved};
use crate::writing::{Staged, Table, npy, replace, stage};

/// X of the low-rank approximation X Yᵀ, n × p.
const LEFT: &str = "low-rank-left.npy";

/// What was chosen of which candidates, where a run was chosen by advice.
const ADVICE: &str = "advice.json";

/// All that went wrong in a run whose peers tolerate losses, to be run again.
const FAULTS: &str = "faults.toml";

/// What came of it.
const FAULTS_SUMMARY: &str = "faults.json";

/// That a run was a simulation on several hosts, and on which.
const SIMULATION: &str = "simulation.toml";

/// Y of it, n × p.
const RIGHT: &str = "low-rank-right.npy";

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}; choose another directory with --out", path = path.display())]
pub struct OutputError {
    /// The file or directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

/// Writes all outputs into `directory`, creating it. With `trace`, also the public transcript.
///
/// # Errors
/// [`OutputError`] with the path that failed.
pub fn write(
    directory: &Path,
    config: &Config,
    report: &Report,
    trace: bool,
) -> Result<(), OutputError> {
    create(directory)?;
    let mut batch = Batch::default();
    let mut written = Vec::new();
    let summary = json("summary.json", serde_json::to_vec_pretty(&report.summary))?;
    for (name, bytes) in repeatable(report)? {
        batch.add(directory, name, &bytes)?;
    }
    batch.add(directory, "config.toml", resolved(config).as_bytes())?;
    if !report.rounds.is_empty() {
        batch.add(directory, "consensus.csv", &consensus(report).to_csv())?;
    }
    if report.faults.is_none() {
        forget(&directory.join(FAULTS))?;
        forget(&directory.join(FAULTS_SUMMARY))?;
    }
    let low_rank = (config.algorithm.output == Some(Output::LowRank))
        .then(|| report.outcome.records.last())
        .flatten();
    match low_rank {
        Some(last) => {
            batch.add(directory, LEFT, &npy(&last.query))?;
            batch.add(directory, RIGHT, &npy(&last.sum))?;
        }
        None => {
            forget(&directory.join(LEFT))?;
            forget(&directory.join(RIGHT))?;
        }
    }
    let predictor = report.predictor.as_ref().map(Predictor::files);
    let scores = report.score_model.as_ref().map(ScoreModel::files);
    for (name, bytes) in predictor.into_iter().chain(scores).flatten() {
        if let Some(bytes) = bytes {
            batch.add(directory, name, &bytes)?;
            written.push(name);
        }
    }
    for name in [DIRECTIONS, EIGENVALUES, COMPLETION, CATALOGUE, RECOMMENDER] {
        if !written.contains(&name) {
            forget(&directory.join(name))?;
        }
    }
    let folder = directory.join("trace");
    if trace {
        create(&folder)?;
        batch.add(&folder, "basis-0.npy", &npy(&report.start))?;
        let records = &report.outcome.records;
        for (at, record) in records.iter().enumerate() {
            let number = record.iteration.0;
            let later = records.get(at + 1);
            if later.is_some_and(|later| later.iteration == record.iteration) {
                // What is released before the product of an iteration: a mean, a histogram.
                let name = format!("sum-{number}-release-{}.npy", record.release.0);
                batch.add(&folder, &name, &npy(&record.sum))?;
                continue;
            }
            batch.add(&folder, &format!("basis-{number}.npy"), &npy(&record.basis))?;
            batch.add(&folder, &format!("sum-{number}.npy"), &npy(&record.sum))?;
        }
    }
    // Last: where it is, all of its run is.
    batch.add(directory, "summary.json", &summary)?;
    // What an earlier run left and this one does not write, or writes later: it would be taken for this run's.
    forget(&directory.join("report.html"))?;
    forget(&directory.join(ADVICE))?;
    forget(&directory.join(SIMULATION))?;
    if report.rounds.is_empty() {
        forget(&directory.join("consensus.csv"))?;
    }
    forget_trace(&folder)?;
    batch.commit()
}

/// The files of a run that every run of its file writes alike, byte by byte: what was released, what it cost, what went wrong, and how good it is.
///
/// # Errors
/// [`OutputError`] for what JSON cannot hold.
pub fn repeatable(report: &Report) -> Result<Vec<(&'static str, Vec<u8>)>, OutputError> {
    let receipt = json("receipt.json", serde_json::to_vec(&report.receipt))?;
    let mut files = vec![
        ("receipt.json", receipt),
        ("basis.npy", npy(report.outcome.basis())),
        ("items.csv", report.items.to_csv()),
        ("metrics.csv", metrics(report).to_csv()),
    ];
    if let Some(faulty) = &report.faults {
        let said = json(FAULTS_SUMMARY, serde_json::to_vec_pretty(&said(faulty)))?;
        files.push((FAULTS, faults_text(&faulty.schedule).into_bytes()));
        files.push((FAULTS_SUMMARY, said));
    }
    Ok(files)
}

/// A document with a line end.
fn json(name: &str, bytes: serde_json::Result<Vec<u8>>) -> Result<Vec<u8>, OutputError> {
    let mut bytes = bytes.map_err(|source| OutputError {
        path: PathBuf::from(name),
        source: source.into(),
    })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// `faults.json`: the `faults` of a summary, and what happened to whom.
#[derive(Serialize)]
struct Said<'a> {
    #[serde(flatten)]
    summary: &'a FaultsSummary,
    moments: Vec<SaidMoment<'a>>,
}

#[derive(Serialize)]
struct SaidMoment<'a> {
    milliseconds: f64,
    peer: &'a str,
    what: String,
}

fn said(faulty: &Faulty) -> Said<'_> {
    let moments = faulty.moments.iter();
    Said {
        summary: &faulty.summary,
        moments: moments
            .map(|(micros, peer, what)| SaidMoment {
                milliseconds: *micros as f64 / 1e3,
                peer,
                what: what.clone(),
            })
            .collect(),
    }
}

/// Writes what went wrong in a run of which nobody has a result, and removes what an earlier one left.
///
/// # Errors
/// [`OutputError`] with the path that failed.
pub fn write_no_result(directory: &Path, faulty: &Faulty) -> Result<(), OutputError> {
    create(directory)?;
    for stale in [
        "summary.json",
        "receipt.json",
        "basis.npy",
        "metrics.csv",
        "report.html",
    ] {
        forget(&directory.join(stale))?;
    }
    let text = faults_text(&faulty.schedule);
    put(directory, FAULTS, text.as_bytes())?;
    let mut bytes = serde_json::to_vec_pretty(&said(faulty)).map_err(|error| OutputError {
        path: directory.join(FAULTS_SUMMARY),
        source: error.into(),
    })?;
    bytes.push(b'\n');
    put(directory, FAULTS_SUMMARY, &bytes)
}

/// Files that are written and take their names one after the other at the end.
#[derive(Default)]
struct Batch(Vec<(PathBuf, Staged)>);

impl Batch {
    fn add(&mut self, directory: &Path, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
        let path = directory.join(name);
        match stage(&path, |out| out.write_all(bytes)) {
            Ok(staged) => {
                self.0.push((path, staged));
                Ok(())
            }
            Err(source) => Err(OutputError { path, source }),
        }
    }

    fn commit(self) -> Result<(), OutputError> {
        for (path, staged) in self.0 {
            staged
                .commit()
                .map_err(|source| OutputError { path, source })?;
        }
        Ok(())
    }
}

/// Removes a file that an earlier run may have left and this one does not write.
fn forget(path: &Path) -> Result<(), OutputError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(OutputError {
            path: path.to_path_buf(),
            source,
        }),
        _ => Ok(()),
    }
}

/// Removes the transcript an earlier run left, so that files of two runs never mix.
fn forget_trace(folder: &Path) -> Result<(), OutputError> {
    let failed = |path: &Path, source| OutputError {
        path: path.to_path_buf(),
        source,
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let path = entry.map_err(|source| failed(folder, source))?.path();
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        let ours = |name: String| {
            name.ends_with(".npy") && (name.starts_with("basis-") || name.starts_with("sum-"))
        };
        if name.is_some_and(ours) {
            fs::remove_file(&path).map_err(|source| failed(&path, source))?;
        }
    }
    Ok(())
}

/// What `metrics.csv` holds: one row per iteration.
#[must_use]
pub fn metrics(report: &Report) -> Table {
    let columns = [
        "iteration",
        "statistic",
        "sensitivity",
        "sigma_central",
        // What schema 1 called it before; `sigma_own` at the end is the same.
        "sigma_independent",
        "sigma_pairwise",
        "rounds",
        "disagreement",
        "guaranteed_disagreement",
        "subspace_error",
        "relative_error",
        "relative_error_non_private",
        "sigma_own",
    ];
    // Where losses are tolerated: who takes part in each sum.
    let faults = report
        .faults
        .as_ref()
        .map(|faulty| &faulty.summary.releases);
    let more = ["participants", "inherited", "attempts", "retries"];
    let more = more.iter().filter(|_| faults.is_some());
    let columns: Vec<(&str, &str)> = columns.iter().chain(more).map(|name| (*name, "")).collect();
    let mut table = Table::new("metrics", &columns);
    for (place, row) in report.rows.iter().enumerate() {
        let mut cells = vec![
            row.noise.iteration.into(),
            row.statistic.into(),
            row.noise.sensitivity.into(),
            row.noise.sigma_central.into(),
            row.noise.sigma_independent.into(),
            row.noise.sigma_pairwise.into(),
            row.rounds.into(),
            row.disagreement.into(),
            row.guaranteed.into(),
            row.utility.subspace_error.into(),
            row.utility.relative_error.into(),
            row.utility.relative_error_non_private.into(),
            row.noise.sigma_own.into(),
        ];
        if let Some(release) = faults.and_then(|releases| releases.get(place)) {
            cells.extend([
                release.participants.into(),
                release.inherited.len().into(),
                release.attempts.into(),
                release.retries.into(),
            ]);
        }
        table.push(cells);
    }
    table
}

/// One row per iteration and averaging round.
fn consensus(report: &Report) -> Table {
    let columns = ["iteration", "round", "relative_spread", "guaranteed"];
    let mut table = Table::new("consensus", &columns.map(|name| (name, "")));
    for (iteration, spreads) in (1_usize..).zip(&report.rounds) {
        let start = spreads.first().copied().unwrap_or_default();
        for (round, spread) in spreads.iter().enumerate() {
            let factor = report.contractions.get(round);
            let guaranteed = factor.map(|factor| factor * start);
            table.push(vec![
                iteration.into(),
                round.into(),
                (*spread).into(),
                guaranteed.into(),
            ]);
        }
    }
    table
}

/// Makes a folder that results can be written into, so that a long run does not end without one.
///
/// # Errors
/// [`OutputError`] with its path.
pub fn create(directory: &Path) -> Result<(), OutputError> {
    fs::create_dir_all(directory).map_err(|source| OutputError {
        path: directory.to_path_buf(),
        source,
    })
}

/// Writes the advice by which a run was chosen, beside its other files.
///
/// # Errors
/// [`OutputError`] with the path that failed.
pub fn write_advice(directory: &Path, advice: &impl Serialize) -> Result<(), OutputError> {
    let mut bytes = serde_json::to_vec_pretty(advice).map_err(|error| OutputError {
        path: directory.join(ADVICE),
        source: error.into(),
    })?;
    bytes.push(b'\n');
    put(directory, ADVICE, &bytes)
}

/// Writes beside a run's results that it was a simulation, on these hosts, and hides nothing.
///
/// # Errors
/// [`OutputError`].
pub fn write_simulation<'a>(
    directory: &Path,
    mode: &str,
    hosts: impl Iterator<Item = &'a str>,
) -> Result<(), OutputError> {
    let mut table = toml::Table::new();
    table.insert("mode".to_owned(), mode.into());
    table.insert("hosts".to_owned(), hosts.collect::<Vec<_>>().into());
    put(directory, SIMULATION, table.to_string().as_bytes())
}

/// Writes one file into a folder, whole or not at all.
pub(crate) fn put(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
    let path = directory.join(name);
    replace(&path, bytes).map_err(|source| OutputError { path, source })
}
