//! From a `[sweep]` table to cells, every one of them checked before the first runs.

use std::path::{Path, PathBuf};

use super::cells::{self, Cell};
use super::error::SweepError;
use super::measures::PredictionErrors;
use super::permutation;
use crate::config::{
    self, Config, EngineKind, MethodConfig, NoiseConfig, OverrideError, PrivacyConfig, SweepConfig,
};
use crate::linalg::Block;
use crate::plan::Memo;
use crate::privacy::{Adjacency, BudgetSplit, Calibration, OnDisconnect, Scheme, SensitivityRule};
use crate::recommender::RankingQuality;
use crate::run::References;
use crate::scenario::graph;
use crate::scenario::{Experiment, ExperimentError, HeldKey, Materials, MemoryPlan, Warning};

/// All that decides the references of a matrix: who holds what, degree floor, rank, exponent and shrinkage of P where there is one.
pub(super) type FixedKey = (HeldKey, u32, usize, Option<(f64, f64)>);

/// All that decides how good it is to recommend what is popular: who holds what, and the length of the lists.
type PopularKey = (HeldKey, usize);

/// A sweep whose cells are known to be valid experiments.
pub struct Sweep {
    pub(super) config: Config,
    pub(super) table: SweepConfig,
    pub(super) methods: Vec<MethodConfig>,
    /// The values of each grid point, one per key of `over`.
    pub(super) grid: Vec<Vec<toml::Value>>,
    pub(super) seeds: Vec<u64>,
    pub(super) cells: Vec<Cell>,
    /// Per method and grid point.
    pub(super) settings: Vec<Setting>,
    pub(super) warnings: Vec<String>,
    pub(super) materials: Materials,
    pub(super) fixed: Memo<FixedKey, References<'static>>,
    pub(super) plain: Memo<Config, Option<Block>>,
    pub(super) lines: Memo<Config, PredictionErrors>,
    pub(super) popular: Memo<PopularKey, Option<RankingQuality>>,
    pub(super) plain_lists: Memo<Config, Option<RankingQuality>>,
    /// The file that computes, if it is not the running program.
    pub(super) program: Option<PathBuf>,
}

/// A method at a grid point.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its configuration, under the first seed.
    pub(super) config: Config,
    /// The configuration of what it is measured against, likewise; its own where lists are measured, which need no other run.
    pub(super) reference: Config,
    /// Hash of the graphs.
    pub(super) graphs: [u8; 32],
    /// Bytes that a run of it needs.
    pub(super) memory: u64,
}

impl Sweep {
    /// Checks a configuration with a `[sweep]` whose relative paths start at `base`: every method at every grid
    /// point is resolved once.
    ///
    /// # Errors
    /// [`SweepError`] naming the method and grid point, the key and what to change.
    pub fn new(config: Config, base: &Path) -> Result<Self, SweepError> {
        Self::from_materials(config, Materials::new(base))
    }

    /// Does what [`Self::new`] does, with what these materials hold already.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_materials(mut config: Config, materials: Materials) -> Result<Self, SweepError> {
        let table = config.sweep.take().ok_or(SweepError::Missing)?;
        let seeds = cells::seeds(&table, config.seed)?;
        let methods = cells::methods(&table, &config.name)?;
        let cells = cells::cells(&table, methods.len(), &seeds)?;
        permutation::check(
            &table,
            cells.len() / (methods.len() * seeds.len()),
            seeds.len(),
        )?;
        let mut sweep = Self {
            grid: cells::grid(&table),
            table,
            methods,
            seeds,
            cells,
            config,
            settings: Vec::new(),
            warnings: Vec::new(),
            materials,
            fixed: Memo::default(),
            plain: Memo::default(),
            lines: Memo::default(),
            popular: Memo::default(),
            plain_lists: Memo::default(),
            program: None,
        };
        sweep.resolve_settings()?;
        Ok(sweep)
    }

    /// The same sweep, computed by this file and not by the running program: a library that another program has loaded. Cells that were
    /// finished by other code are not taken for its own.
    #[must_use]
    pub fn computed_by(mut self, program: &Path) -> Self {
        self.program = Some(program.to_path_buf());
        self
    }

    /// The configuration as it was given, with its `[sweep]`.
    pub(super) fn whole_config(&self) -> Config {
        Config {
            sweep: Some(self.table.clone()),
            ..self.config.clone()
        }
    }

    /// All cells, in the order of `sweep.csv`: methods, then grid points, then seeds.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The experiment of one cell.
    ///
    /// # Errors
    /// As [`Experiment::resolve`], for what only this seed does.
    pub fn experiment(&self, cell: Cell) -> Result<Experiment, ExperimentError> {
        let config = self.cell_config(cell);
        Experiment::resolve_from(config, &self.materials)
    }

    /// What every run warns of, per method.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    pub(super) fn setting(&self, cell: Cell) -> &Setting {
        &self.settings[cell.method * self.grid.len() + cell.point]
    }

    pub(super) fn cell_config(&self, cell: Cell) -> Config {
        let mut config = Config {
            seed: cell.seed,
            ..self.setting(cell).config.clone()
        };
        // Runs of one setting differ in what goes wrong as well, within what TOML can hold.
        if let Some(faults) = &mut config.faults {
            let place = self.seeds.iter().position(|seed| *seed == cell.seed);
            let next = faults.seed.saturating_add(place.unwrap_or(0) as u64);
            faults.seed = next.min(i64::MAX as u64);
        }
        config
    }

    pub(super) fn reference_config(&self, cell: Cell) -> Config {
        Config {
            seed: cell.seed,
            ..self.setting(cell).reference.clone()
        }
    }

    /// A cell, for people.
    pub(super) fn cell_name(&self, cell: Cell) -> String {
        format!(
            "method {:?} at {}, seed {}",
            self.methods[cell.method].name,
            self.point_name(cell.point),
            cell.seed
        )
    }

    /// The values of a grid point, for people.
    pub(super) fn point_name(&self, point: usize) -> String {
        let values = self.table.over.0.iter().zip(&self.grid[point]);
        let parts: Vec<String> = values.map(|((key, _), v)| format!("{key} = {v}")).collect();
        parts.join(", ")
    }

    fn resolve_settings(&mut self) -> Result<(), SweepError> {
        let mut found = Vec::new();
        for method in 0..self.methods.len() {
            let mut overspending = Vec::new();
            for point in 0..self.grid.len() {
                let name = self.methods[method].name.clone();
                let whose = format!("method {name:?} at {}", self.point_name(point));
                let config = self.configured(Some(&self.methods[method]), point, &whose)?;
                let experiment = self.resolved(&config, &whose)?;
                let reference = match self.table.error.is_of_lists() {
                    true => {
                        self.check_held_out(&experiment, whose)?;
                        config.clone()
                    }
                    false => self.reference((&config, &experiment), point, whose)?,
                };
                if experiment.is_private() && experiment.calibrated().warning().is_some() {
                    overspending.push(self.grid[point][0].to_string());
                }
                for warning in experiment.warnings() {
                    if !matches!(warning, Warning::Calibration(_)) {
                        found.push((warning.to_string(), name.clone()));
                    }
                }
                self.settings.push(Setting {
                    graphs: experiment.graphs_digest(),
                    memory: MemoryPlan::of(&experiment).total(),
                    config,
                    reference,
                });
            }
            if !overspending.is_empty() {
                overspending.dedup();
                let warning = format!(
                    "the calibration spends more than was asked for at {} = {}; the column epsilon_spent says how much",
                    self.table.over.0[0].0,
                    overspending.join(", "),
                );
                found.push((warning, self.methods[method].name.clone()));
            }
        }
        self.warnings.extend(merged(found));
        Ok(())
    }

    fn resolved(&self, config: &Config, whose: &str) -> Result<Experiment, SweepError> {
        let experiment = Experiment::resolve_from(config.clone(), &self.materials);
        experiment.map_err(|source| SweepError::Experiment {
            whose: whose.to_owned(),
            source: Box::new(source),
        })
    }

    /// Refuses to measure lists against nothing.
    fn check_held_out(&self, experiment: &Experiment, whose: String) -> Result<(), SweepError> {
        match experiment.held_out() {
            Some(_) if experiment.rating_test().is_none() => Ok(()),
            _ => Err(SweepError::NothingHeldOut { whose }),
        }
    }

    /// What the bases of a method at a grid point are measured against.
    fn reference(
        &mut self,
        (config, experiment): (&Config, &Experiment),
        point: usize,
        whose: String,
    ) -> Result<Config, SweepError> {
        let mut reference = neutral(self.configured(None, point, &whose)?);
        // What a method finds of P A P is measured against P A P.
        let weights = config.algorithm.weights();
        let algorithm = reference.algorithm.with_weights(weights);
        reference.algorithm = algorithm.map_err(|why| SweepError::Invalid {
            whose: whose.clone(),
            source: Box::new(OverrideError::Invalid {
                text: String::new(),
                reason: why.message().to_owned(),
            }),
        })?;
        let measured_on = self.resolved(&reference, &whose)?;
        let expected = measured_on.user_rows().dimension();
        if let Some(why) = References::out_of_reach(&measured_on)
            && !self.warnings.contains(&why)
        {
            self.warnings.push(why);
        }
        let found = experiment.user_rows().dimension();
        match found == expected {
            true => Ok(reference),
            false => Err(SweepError::Dimension {
                whose,
                found,
                expected,
            }),
        }
    }

    /// The experiment file with this method's values, then the grid point's.
    fn configured(
        &self,
        method: Option<&MethodConfig>,
        point: usize,
        whose: &str,
    ) -> Result<Config, SweepError> {
        let own = method.into_iter().flat_map(|m| &m.set.0);
        let over = self.table.over.0.iter().zip(&self.grid[point]);
        let all = own
            .map(|(key, value)| (key, value))
            .chain(over.map(|((key, _), value)| (key, value)));
        let mut config = self.config.clone();
        config.seed = self.seeds[0];
        config::with(&config, all).map_err(|source| SweepError::Invalid {
            whose: whose.to_owned(),
            source: Box::new(source),
        })
    }
}

impl std::fmt::Debug for Sweep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sweep")
            .field("name", &self.config.name)
            .field("cells", &self.cells.len())
            .finish_non_exhaustive()
    }
}

/// Each warning once, after the methods that it is about.
fn merged(found: Vec<(String, String)>) -> Vec<String> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    for (warning, method) in found {
        match all.iter_mut().find(|(known, _)| *known == warning) {
            Some((_, methods)) if methods.contains(&method) => {}
            Some((_, methods)) => methods.push(method),
            None => all.push((warning, vec![method])),
        }
    }
    let lines = all.into_iter();
    lines
        .map(|(warning, methods)| format!("{}: {warning}", methods.join("; ")))
        .collect()
}

/// The same data and algorithm on the reference floor, with nothing that no reference depends on.
pub(super) fn neutral(mut config: Config) -> Config {
    let floor = config.data.degree_floor();
    config
        .data
        .set_degree_floor(config.evaluation.reference_floor.unwrap_or(floor));
    config.noise = NoiseConfig {
        scheme: Scheme::None,
        bits: None,
        ..NoiseConfig::default()
    };
    config.noise_topology = None;
    config.engine.kind = EngineKind::Central;
    (config.dropouts, config.faults) = (None, None);
    config.privacy = PrivacyConfig {
        epsilon: 1.0,
        delta: Some(1e-6),
        adjacency: Adjacency::Interaction,
        sensitivity: Some(SensitivityRule::Exact),
        calibration: Calibration::Analytic,
        budget: BudgetSplit::Even,
        colluders: 0,
        overhead: 0.01,
        on_disconnect: OnDisconnect::Refuse,
        participants_per_person: None,
    };
    if config.data.is_of_numbers() {
        config.privacy.adjacency = Adjacency::User;
        config.privacy.sensitivity = Some(SensitivityRule::UnitRow);
    }
    if let Some(adjacency) = graph::adjacency(&config) {
        config.privacy.adjacency = adjacency;
        config.privacy.sensitivity = Some(SensitivityRule::Exact);
    }
    if config.data.degree_cap().is_some() {
        // The only proofs that cover a cap.
        config.privacy.adjacency = Adjacency::User;
    }
    config
}
