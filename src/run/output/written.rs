//! Makes the files of a run, and writes them.

use std::borrow::Cow;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::execute::Report;
use super::super::faults::{FaultsSummary, Faulty};
use super::super::predictor::{COMPLETION, DIRECTIONS, EIGENVALUES, Predictor};
use super::super::score_model::{CATALOGUE, RECOMMENDER, ScoreModel};
use crate::algorithm::Output;
use crate::config::{Config, faults_text, resolved};
use crate::engine::ReleaseRecord;
use crate::linalg::Block;
use crate::writing::{Staged, Table, npy, replace, stage};

/// X of the low-rank approximation X Yᵀ, n × p.
const LEFT: &str = "low-rank-left.npy";

/// What the run found, spent and cost.
pub(crate) const SUMMARY: &str = "summary.json";

/// The configuration with all defaults and absolute paths.
pub(crate) const CONFIG: &str = "config.toml";

/// Folder of the public transcript.
pub(crate) const TRACE: &str = "trace";

/// How far the peers are apart after every averaging round.
const CONSENSUS: &str = "consensus.csv";

/// What was chosen of which candidates, where a run was chosen by advice.
const ADVICE: &str = "advice.json";

/// All that went wrong in a run whose peers tolerate losses, to be run again.
const FAULTS: &str = "faults.toml";

/// What came of it.
const FAULTS_SUMMARY: &str = "faults.json";

/// That a run was a simulation on several hosts, and on which.
pub(crate) const SIMULATION: &str = "simulation.toml";

/// Figures and tables of a run, which are drawn after its other files are written.
pub(crate) const PAGE: &str = "report.html";

/// Y of it, n × p.
const RIGHT: &str = "low-rank-right.npy";

/// Files that some runs write and others do not.
const NAMES: [&str; 13] = [
    FAULTS,
    FAULTS_SUMMARY,
    CONSENSUS,
    LEFT,
    RIGHT,
    DIRECTIONS,
    EIGENVALUES,
    COMPLETION,
    CATALOGUE,
    RECOMMENDER,
    PAGE,
    ADVICE,
    SIMULATION,
];

/// A file that could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {path}: {source}; choose another folder", path = path.display())]
pub struct OutputError {
    /// The file or directory.
    pub path: PathBuf,
    /// What the system said.
    pub source: std::io::Error,
}

/// One file of a run's results.
#[derive(Debug)]
pub(crate) struct ResultFile<'a> {
    /// Its name in the folder of the results, such as `trace/sum-1.npy`.
    pub(crate) name: String,
    content: Content<'a>,
}

#[derive(Debug)]
enum Content<'a> {
    Bytes(Vec<u8>),
    Array(&'a Block),
}

impl<'a> ResultFile<'a> {
    /// A file of these bytes.
    #[must_use]
    pub(crate) fn new(name: &str, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            content: Content::Bytes(bytes),
        }
    }

    fn array(name: impl Into<String>, block: &'a Block) -> Self {
        Self {
            name: name.into(),
            content: Content::Array(block),
        }
    }

    /// What the file holds.
    #[must_use]
    pub(crate) fn bytes(&self) -> Cow<'_, [u8]> {
        match &self.content {
            Content::Bytes(bytes) => Cow::Borrowed(bytes),
            Content::Array(block) => Cow::Owned(npy(block)),
        }
    }
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
    let folder = directory.join(TRACE);
    if trace {
        create(&folder)?;
    }
    let files = files(config, report, trace)?;
    let mut batch = Batch::default();
    for file in &files {
        batch.add(directory, &file.name, &file.bytes())?;
    }
    // What an earlier run left and this one does not write, or writes later: it would be taken for this run's.
    for name in NAMES {
        if !files.iter().any(|file| file.name == name) {
            forget(&directory.join(name))?;
        }
    }
    forget_trace(&folder)?;
    batch.commit()
}

/// All files that [`write()`] writes, `summary.json` last: where it is, all of its run is. Every run of the same file gives the same bytes, but for
/// `timing` in `summary.json`.
///
/// # Errors
/// [`OutputError`] for what JSON cannot hold.
pub(crate) fn files<'a>(
    config: &Config,
    report: &'a Report,
    trace: bool,
) -> Result<Vec<ResultFile<'a>>, OutputError> {
    let receipt = json("receipt.json", serde_json::to_vec(&report.receipt))?;
    let mut files = vec![
        ResultFile::new("receipt.json", receipt),
        ResultFile::array("basis.npy", report.outcome.basis()),
        ResultFile::new("items.csv", report.items.to_csv()),
        ResultFile::new("metrics.csv", metrics(report).to_csv()),
        ResultFile::new(CONFIG, resolved(config).into_bytes()),
    ];
    if let Some(faulty) = &report.faults {
        let text = faults_text(&faulty.schedule).into_bytes();
        files.push(ResultFile::new(FAULTS, text));
        let said = json(FAULTS_SUMMARY, serde_json::to_vec_pretty(&said(faulty)))?;
        files.push(ResultFile::new(FAULTS_SUMMARY, said));
    }
    if !report.rounds.is_empty() {
        files.push(ResultFile::new(CONSENSUS, consensus(report).to_csv()));
    }
    let records = &report.outcome.records;
    if config.algorithm.table().requirements().output == Output::LowRank
        && let Some(last) = records.last()
    {
        files.push(ResultFile::array(LEFT, &last.query));
        files.push(ResultFile::array(RIGHT, &last.sum));
    }
    let predictor = report.predictor.as_ref().map(Predictor::files);
    let scores = report.score_model.as_ref().map(ScoreModel::files);
    for (name, bytes) in predictor.into_iter().chain(scores).flatten() {
        files.push(ResultFile::new(name, bytes));
    }
    if trace {
        files.extend(transcript(records));
    }
    let summary = json(SUMMARY, serde_json::to_vec_pretty(&report.summary))?;
    files.push(ResultFile::new(SUMMARY, summary));
    Ok(files)
}

/// The public transcript: queries, sums, and estimates where they are not the next query.
///
/// `sum-L.npy` is the noisy sum of iteration L, and `basis-(L−1).npy` the query that it was made for. After the last sum `basis-L.npy` is the estimate,
/// as `basis.npy`.
fn transcript(records: &[ReleaseRecord]) -> Vec<ResultFile<'_>> {
    let array = |name: String, block| ResultFile::array(format!("{TRACE}/{name}.npy"), block);
    let mut files = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let number = record.iteration.0;
        let later = records.get(at + 1);
        if later.is_some_and(|later| later.iteration == record.iteration) {
            // What is released before the product of an iteration: a mean, a histogram.
            let name = format!("sum-{number}-release-{}", record.release.0);
            files.push(array(name, &record.sum));
            continue;
        }
        files.push(array(format!("basis-{}", number - 1), &record.query));
        files.push(array(format!("sum-{number}"), &record.sum));
        match later {
            None => files.push(array(format!("basis-{number}"), &record.basis)),
            // The query of the next sum, which may come after a mean or a histogram of its own.
            Some(later) if later.query != record.basis => {
                files.push(array(format!("estimate-{number}"), &record.basis));
            }
            Some(_) => {}
        }
    }
    files
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
            let parts = ["basis-", "sum-", "estimate-"];
            name.ends_with(".npy") && parts.iter().any(|part| name.starts_with(part))
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
    put(directory, ADVICE, &advice_file(advice)?.bytes())
}

/// `advice.json`: the candidates, what was predicted of each, and which was chosen.
///
/// # Errors
/// [`OutputError`] for what JSON cannot hold.
pub(crate) fn advice_file(advice: &impl Serialize) -> Result<ResultFile<'static>, OutputError> {
    let bytes = json(ADVICE, serde_json::to_vec_pretty(advice))?;
    Ok(ResultFile::new(ADVICE, bytes))
}

/// Writes beside a run's results that it was a simulation, on these hosts, and hides nothing.
///
/// # Errors
/// [`OutputError`].
#[cfg(all(feature = "cli", feature = "node"))]
pub(crate) fn write_simulation<'a>(
    directory: &Path,
    mode: &str,
    hosts: impl Iterator<Item = &'a str>,
) -> Result<(), OutputError> {
    let mut table = toml::Table::new();
    table.insert("mode".to_owned(), mode.into());
    table.insert("hosts".to_owned(), hosts.collect::<Vec<_>>().into());
    put(directory, SIMULATION, table.to_string().as_bytes())
}

/// Whether a table is one that `write_simulation` writes: a mode and names of hosts, nothing else.
#[cfg(feature = "cli")]
#[must_use]
pub(crate) fn names_hosts(table: &toml::Table) -> bool {
    let hosts = table.get("hosts").and_then(toml::Value::as_array);
    table.len() == 2
        && table.get("mode").is_some_and(toml::Value::is_str)
        && hosts.is_some_and(|hosts| hosts.iter().all(toml::Value::is_str))
}

/// Writes one file into a folder, whole or not at all.
pub(crate) fn put(directory: &Path, name: &str, bytes: &[u8]) -> Result<(), OutputError> {
    let path = directory.join(name);
    replace(&path, bytes).map_err(|source| OutputError { path, source })
}
