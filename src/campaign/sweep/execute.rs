//! Runs the cells that are not finished, on all cores.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::cells::Cell;
use super::error::SweepRunError;
use super::grid::{self, Sweep};
use super::journal::{CellOutcome, Journal};
use super::measures::{Figures, Losses, Measures, PredictionErrors};
use super::output;
use super::result::SweepResult;
use crate::config::resolved;
use crate::engine::central::{self, SumNoise};
use crate::engine::{Session, Silent};
use crate::linalg::Block;
use crate::plan::Memo;
use crate::run::completion::{self, Baselines};
use crate::run::faults::FaultsError;
use crate::run::{References, RunError, run_tolerant};
use crate::scenario::{Experiment, ExperimentError, HeldKey, memory};
use crate::vocabulary::Seed;

/// What the cells of one seed are measured against: the exact eigenvectors and the run without noise, where there is one.
type CellReferences = (Arc<References<'static>>, Arc<Option<Block>>);

/// How far a sweep is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advance {
    /// Cells finished by this call.
    pub done: usize,
    /// Cells this call has to do.
    pub total: usize,
    /// Cells that an earlier call had finished.
    pub resumed: usize,
}

/// How often the results so far are written while cells still run.
const PARTIAL_EVERY: Duration = Duration::from_secs(10);

impl Sweep {
    /// Runs every cell that `directory/cells.jsonl` does not hold yet, and writes `sweep.csv`, `curves.csv`,
    /// `summary.json` and `config.toml` there.
    ///
    /// There are as many workers as rayon has threads; each runs one cell at a time on a single thread, so that
    /// memory is that of so many runs and the result is the same for any number. A cell that cannot go on
    /// (a sum without a unique basis) is a row with an error, not the end of the sweep.
    ///
    /// # Errors
    /// [`SweepRunError`] if a result cannot be written or a data file has gone.
    pub fn run(
        &self,
        directory: &Path,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<SweepResult, SweepRunError> {
        let outcomes = self.finish(directory, |_| true, progress)?;
        self.conclude(directory, outcomes)
    }

    /// Writes what follows from all cells.
    pub(super) fn conclude(
        &self,
        directory: &Path,
        outcomes: Vec<Option<CellOutcome>>,
    ) -> Result<SweepResult, SweepRunError> {
        output::write_cells(self, directory, &outcomes)?;
        let outcomes: Vec<CellOutcome> = outcomes.into_iter().flatten().collect();
        let result = SweepResult::of(self, &outcomes);
        output::write_result(&result, directory)?;
        Ok(result)
    }

    /// Runs the cells that are wanted and that `directory/cells.jsonl` does not hold yet, and writes `config.toml` and `sweep.csv`. Gives how
    /// cells ended, in order, where they have.
    pub(super) fn finish(
        &self,
        directory: &Path,
        is_wanted: impl Fn(usize) -> bool,
        progress: &mut dyn FnMut(Advance),
    ) -> Result<Vec<Option<CellOutcome>>, SweepRunError> {
        crate::run::output::create(directory)?;
        output::forget(directory)?;
        output::write_config(self, directory)?;
        let keys = self.keys()?;
        let mut journal = Journal::open(&directory.join("cells.jsonl"))?;
        let finished = |key: &String| journal.finished(key).cloned();
        let mut outcomes: Vec<Option<CellOutcome>> = keys.iter().map(finished).collect();
        let wanted: Vec<usize> = (0..keys.len()).filter(|&i| is_wanted(i)).collect();
        let is_pending = |&index: &usize| outcomes[index].is_none();
        let pending: Vec<usize> = wanted.iter().copied().filter(is_pending).collect();
        let mut advance = Advance {
            done: 0,
            total: pending.len(),
            resumed: wanted.len() - pending.len(),
        };
        progress(advance);
        let workers = rayon::current_num_threads()
            .min(self.runs_that_fit(&pending))
            .min(pending.len());
        let pools = (0..workers)
            .map(|_| rayon::ThreadPoolBuilder::new().num_threads(1).build())
            .collect::<Result<Vec<_>, _>>()?;
        let next = AtomicUsize::new(0);
        let mut last_partial = Instant::now();
        std::thread::scope(|scope| {
            let (sender, receiver) = mpsc::sync_channel(workers.max(1));
            for pool in &pools {
                let (sender, next, pending) = (sender.clone(), &next, &pending);
                scope.spawn(move || {
                    pool.install(|| {
                        while let Some(&index) = pending.get(next.fetch_add(1, Ordering::Relaxed)) {
                            let outcome = self.outcome(self.cells[index]);
                            // Nobody listens any more: a result could not be written.
                            if sender.send((index, outcome)).is_err() {
                                return;
                            }
                        }
                    });
                });
            }
            drop(sender);
            for (index, outcome) in receiver {
                let outcome = outcome?;
                journal.append(&keys[index], &outcome)?;
                outcomes[index] = Some(outcome);
                advance.done += 1;
                progress(advance);
                if last_partial.elapsed() > PARTIAL_EVERY {
                    output::write_cells(self, directory, &outcomes)?;
                    last_partial = Instant::now();
                }
            }
            Ok::<(), SweepRunError>(())
        })?;
        output::write_cells(self, directory, &outcomes)?;
        Ok(outcomes)
    }

    /// How many of these cells fit into the memory that is free, at least one.
    fn runs_that_fit(&self, cells: &[usize]) -> usize {
        let needs = cells
            .iter()
            .map(|&index| self.setting(self.cells[index]).memory);
        let most = needs.max().unwrap_or(1).max(1);
        memory::free_bytes().map_or(usize::MAX, |free| ((free / most) as usize).max(1))
    }

    /// What the journal keeps of a cell: its measures, or the error that it will have every time.
    fn outcome(&self, cell: Cell) -> Result<CellOutcome, SweepRunError> {
        match self.measure(cell) {
            Ok(measures) => Ok(Ok(measures)),
            Err(error) if returns_every_time(error.as_ref()) => Ok(Err(error.to_string())),
            Err(error) => Err(SweepRunError::Interrupted {
                whose: self.cell_name(cell),
                reason: error.to_string(),
            }),
        }
    }

    /// Runs one cell and measures it.
    fn measure(&self, cell: Cell) -> Result<Measures, Box<dyn std::error::Error>> {
        let experiment = self.experiment(cell)?;
        let session = experiment.session(&Seed::from_u64(cell.seed));
        let run = run_tolerant(&experiment, &session, &mut Silent)?;
        let losses = run
            .faults
            .as_ref()
            .map(|faulty| Losses::of(&faulty.summary));
        let (outcome, losses) = (run.outcome, losses.unwrap_or_default());
        let mut figures = Figures {
            losses,
            ..Figures::default()
        };
        if experiment.rating_test().is_some() {
            // Measured by its predictions, and not by its basis.
            let lines = self.prediction_lines(cell, &experiment, &session)?;
            let this_run = completion::rmse_of(&experiment, &session, &outcome);
            figures.rmse = PredictionErrors { this_run, ..*lines };
        } else if self.table.error.is_of_lists() {
            figures.lists = self.list_quality(&experiment, &session, &outcome);
        } else {
            let (fixed, plain) = self.references(cell)?;
            figures.utility = fixed.utility(outcome.basis(), Option::as_ref(&plain));
        }
        Ok(Measures::of(&experiment, &outcome, figures))
    }

    /// What the predictions of this cell are drawn beside: shared by all cells of this method and seed whose budgets alone differ.
    fn prediction_lines(
        &self,
        cell: Cell,
        experiment: &Experiment,
        session: &Session,
    ) -> Result<Arc<PredictionErrors>, Box<dyn std::error::Error>> {
        let config = grid::neutral(self.cell_config(cell));
        self.lines.get(config, || {
            let (user_mean, item_means) = Baselines::of(experiment)
                .map_or((None, None), |lines| (lines.user_mean, lines.item_means));
            let plain = central::run(session, SumNoise::Nothing, &mut Silent);
            Ok::<_, Box<dyn std::error::Error>>(PredictionErrors {
                this_run: None,
                user_mean,
                item_means,
                non_private: plain
                    .ok()
                    .and_then(|plain| completion::rmse_of(experiment, session, &plain)),
            })
        })
    }

    /// What this cell is measured against: shared by all methods of its grid point and seed, and by all grid
    /// points that do not move it.
    fn references(&self, cell: Cell) -> Result<CellReferences, Box<dyn std::error::Error>> {
        let config = self.reference_config(cell);
        let resolve = || Experiment::resolve_from(config.clone(), &self.materials);
        let key = (
            HeldKey::of(&config),
            config.data.degree_floor(),
            config.algorithm.table().rank(),
            (!config.algorithm.weights().source.is_none())
                .then(|| config.algorithm.weights().numbers()),
        );
        let fixed = self.fixed.get(key, || {
            Ok::<_, Box<dyn std::error::Error>>(References::of(&resolve()?).into_owned())
        })?;
        let plain = self.plain.get(config.clone(), || {
            Ok::<_, Box<dyn std::error::Error>>(non_private(&resolve()?))
        })?;
        Ok((fixed, plain))
    }

    /// A hash per cell of everything its numbers depend on: the program to the byte, both configurations in full,
    /// the content of the data files and the graphs.
    pub(super) fn keys(&self) -> Result<Vec<String>, SweepRunError> {
        let (files, known) = (Memo::default(), Memo::default());
        let content = |path: &PathBuf| {
            files.get(path.clone(), || {
                digest(path).map_err(|source| SweepRunError::Data {
                    path: path.clone(),
                    source,
                })
            })
        };
        let running = || {
            std::env::current_exe().map_err(|source| SweepRunError::Data {
                path: PathBuf::from("the running program"),
                source,
            })
        };
        let program = match &self.program {
            Some(program) => content(program)?,
            None => content(&running()?)?,
        };
        let of = |&cell: &Cell| {
            let (config, reference) = (self.cell_config(cell), self.reference_config(cell));
            let base = self.materials.base();
            let mut data = blake3::Hasher::new();
            let path = config.data.path().to_owned();
            let known = known.get(path.clone(), || {
                Ok::<_, SweepRunError>(self.materials.digest_in_memory(&config.data))
            })?;
            if let Some(known) = &*known {
                data.update(known.as_bytes());
            }
            let is_file = !path.as_os_str().is_empty() && known.is_none();
            let file = is_file.then(|| path.clone());
            for path in file.into_iter().chain(config.data.constants()) {
                data.update(content(&base.join(path))?.as_bytes());
            }
            let data = data.finalize();
            let test = match &config.evaluation.test {
                Some(path) => Some(content(&self.materials.base().join(path))?),
                None => None,
            };
            let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 sweep cell v2");
            for part in [
                program.as_bytes().as_slice(),
                resolved(&config).as_bytes(),
                resolved(&reference).as_bytes(),
                data.as_bytes(),
                test.as_ref().map_or(&[], |hash| hash.as_bytes().as_slice()),
                &self.setting(cell).graphs,
            ] {
                hasher.update(&(part.len() as u64).to_le_bytes());
                hasher.update(part);
            }
            Ok(hasher.finalize().to_hex().to_string())
        };
        self.cells.iter().map(of).collect()
    }
}

/// X^L of this experiment's matrix without any noise, from the X⁰ of its seed; `None` for data of rank below p, which
/// have none: the measures against it are then empty, and the cell stands.
fn non_private(experiment: &Experiment) -> Option<Block> {
    let session = experiment.session(&Seed::from_u64(experiment.config().seed));
    let outcome = References::non_private(experiment, &session).ok()?;
    Some(outcome.basis().clone())
}

/// Whether a cell that failed so would fail so again: a sum without a unique basis, values that overflow, so much that goes wrong that nobody has a result, or a
/// configuration that only this seed makes impossible. What the machine was short of need not return.
fn returns_every_time(error: &(dyn std::error::Error + 'static)) -> bool {
    let engine = error.downcast_ref::<RunError>().is_some_and(|error| {
        let is_lost = matches!(error, RunError::Faults(FaultsError::NoResult(_)));
        is_lost || matches!(error, RunError::Engine(_))
    });
    let configuration = error
        .downcast_ref::<ExperimentError>()
        .is_some_and(|error| !matches!(error, ExperimentError::Memory { .. }));
    engine || configuration
}

fn digest(path: &Path) -> std::io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(std::fs::File::open(path)?)?;
    Ok(hasher.finalize())
}
