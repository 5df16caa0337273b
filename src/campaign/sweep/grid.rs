//! From a `[sweep]` table to cells, every one of them checked before the first runs.

use std::path::{Path, PathBuf};

use super::error::{MOST_CELLS, SweepError};
use super::permutation;
use super::references::Fixed;
use crate::config::{
    self, Config, EngineKind, MethodConfig, NoiseConfig, Ordered, PrivacyConfig, Seeds, SweepConfig,
};
use crate::linalg::Block;
use crate::privacy::{Adjacency, BudgetSplit, Calibration, OnDisconnect, Scheme, SensitivityRule};
use crate::run::References;
use crate::scenario::{Experiment, ExperimentError, Materials, Memo, MemoryPlan};

/// One run of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Index of the method.
    pub method: usize,
    /// Index of the grid point; the last key of `over` moves fastest.
    pub point: usize,
    /// The seed.
    pub seed: u64,
}

/// A sweep whose cells are known to be valid experiments.
pub struct Sweep {
    pub(super) config: Config,
    pub(super) table: SweepConfig,
    pub(super) base: PathBuf,
    pub(super) methods: Vec<MethodConfig>,
    /// The values of each grid point, one per key of `over`.
    pub(super) grid: Vec<Vec<toml::Value>>,
    pub(super) seeds: Vec<u64>,
    pub(super) cells: Vec<Cell>,
    /// Per method and grid point.
    pub(super) settings: Vec<Setting>,
    pub(super) warnings: Vec<String>,
    pub(super) materials: Materials,
    pub(super) fixed: Memo<Fixed>,
    pub(super) plain: Memo<Option<Block>>,
}

/// A method at a grid point.
#[derive(Debug)]
pub(super) struct Setting {
    /// Its configuration, under the first seed.
    pub(super) config: Config,
    /// The configuration of what it is measured against, likewise.
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
    pub fn new(mut config: Config, base: &Path) -> Result<Self, SweepError> {
        let table = config.sweep.take().ok_or(SweepError::Missing)?;
        let seeds = seeds(&table, config.seed)?;
        let methods = methods(&table, &config.name)?;
        let cells = cells(&table, methods.len(), &seeds)?;
        permutation::check(
            &table,
            cells.len() / (methods.len() * seeds.len()),
            seeds.len(),
        )?;
        let mut sweep = Self {
            grid: grid(&table),
            table,
            base: base.to_path_buf(),
            methods,
            seeds,
            cells,
            config,
            settings: Vec::new(),
            warnings: Vec::new(),
            materials: Materials::default(),
            fixed: Memo::default(),
            plain: Memo::default(),
        };
        sweep.resolve_settings()?;
        Ok(sweep)
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
        Experiment::resolve_from(config, &self.base, &self.materials)
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
        Config {
            seed: cell.seed,
            ..self.setting(cell).config.clone()
        }
    }

    pub(super) fn reference_config(&self, cell: Cell) -> Config {
        Config {
            seed: cell.seed,
            ..self.setting(cell).reference.clone()
        }
    }

    /// The values of a grid point, for people.
    pub(super) fn point_name(&self, point: usize) -> String {
        let values = self.table.over.0.iter().zip(&self.grid[point]);
        let parts: Vec<String> = values.map(|((key, _), v)| format!("{key} = {v}")).collect();
        parts.join(", ")
    }

    fn resolve_settings(&mut self) -> Result<(), SweepError> {
        for method in 0..self.methods.len() {
            let mut overspending = Vec::new();
            for point in 0..self.grid.len() {
                let name = &self.methods[method].name;
                let whose = format!("method {name:?} at {}", self.point_name(point));
                let config = self.configured(Some(&self.methods[method]), point, &whose)?;
                let reference = neutral(self.configured(None, point, &whose)?);
                let failed = |source| SweepError::Experiment {
                    whose: whose.clone(),
                    source: Box::new(source),
                };
                let resolve = |config: &Config| {
                    Experiment::resolve_from(config.clone(), &self.base, &self.materials)
                };
                let experiment = resolve(&config).map_err(failed)?;
                let measured_on = resolve(&reference).map_err(failed)?;
                let expected = measured_on.user_rows().dimension();
                if let Some(why) = References::out_of_reach(&measured_on)
                    && !self.warnings.contains(&why)
                {
                    self.warnings.push(why);
                }
                let found = experiment.user_rows().dimension();
                if found != expected {
                    return Err(SweepError::Dimension {
                        whose,
                        found,
                        expected,
                    });
                }
                if experiment.is_private() && experiment.calibrated().warning().is_some() {
                    overspending.push(self.grid[point][0].to_string());
                }
                for warning in experiment.warnings() {
                    let calibration = experiment.calibrated().warning();
                    let line = format!("{name}: {warning}");
                    if calibration.is_none_or(|w| w.to_string() != *warning)
                        && !self.warnings.contains(&line)
                    {
                        self.warnings.push(line);
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
                self.warnings.push(format!(
                    "{}: its calibration spends more than was asked for at {} = {}; the column epsilon_spent says how much",
                    self.methods[method].name,
                    self.table.over.0[0].0,
                    overspending.join(", "),
                ));
            }
        }
        Ok(())
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

/// The same data and algorithm on the reference floor, with nothing that no reference depends on.
fn neutral(mut config: Config) -> Config {
    let floor = config.data.degree_floor;
    config.data.degree_floor = config.evaluation.reference_floor.unwrap_or(floor);
    config.noise = NoiseConfig {
        scheme: Scheme::None,
    };
    config.noise_topology = None;
    config.engine.kind = EngineKind::Central;
    config.privacy = PrivacyConfig {
        epsilon: 1.0,
        delta: 1e-6,
        adjacency: Adjacency::Interaction,
        sensitivity: SensitivityRule::Exact,
        calibration: Calibration::Analytic,
        budget: BudgetSplit::Even,
        colluders: 0,
        overhead: 0.01,
        on_disconnect: OnDisconnect::Refuse,
    };
    if config.data.degree_cap.is_some() {
        // The only proofs that cover a cap.
        config.privacy.adjacency = Adjacency::User;
    }
    config
}

fn seeds(table: &SweepConfig, first: u64) -> Result<Vec<u64>, SweepError> {
    let seeds: Vec<u64> = match &table.seeds {
        Seeds::Count(count) if *count as usize <= MOST_CELLS => (0..u64::from(*count))
            .map(|i| first.saturating_add(i))
            .collect(),
        Seeds::Count(count) => {
            let cells = u128::from(*count);
            return Err(SweepError::TooManyCells { cells });
        }
        Seeds::List(list) => list.clone(),
    };
    let mut sorted = seeds.clone();
    sorted.sort_unstable();
    if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(SweepError::DuplicateSeed { seed: twice[0] });
    }
    match sorted.last() {
        None => Err(SweepError::Empty {
            what: "seeds".to_owned(),
        }),
        Some(&seed) if i64::try_from(seed).is_err() => Err(SweepError::SeedTooLarge { seed }),
        Some(_) => Ok(seeds),
    }
}

fn methods(table: &SweepConfig, name: &str) -> Result<Vec<MethodConfig>, SweepError> {
    if let Some(target) = table.target
        && !(target.is_finite() && target > 0.0)
    {
        return Err(SweepError::Target { target });
    }
    let mut methods = table.methods.clone();
    if methods.is_empty() {
        methods.push(MethodConfig {
            name: name.to_owned(),
            set: Ordered::default(),
        });
    }
    for (i, method) in methods.iter().enumerate() {
        let name = &method.name;
        if name.trim().is_empty() {
            let what = "the name of a method".to_owned();
            return Err(SweepError::Empty { what });
        }
        if methods[..i].iter().any(|other| other.name == *name) {
            return Err(SweepError::DuplicateMethod { name: name.clone() });
        }
        for (key, _) in &method.set.0 {
            let whose = format!("method {name:?}");
            check_key(&whose, key, true)?;
            check_not_swept(table, &whose, key)?;
        }
    }
    let names: Vec<&str> = methods.iter().map(|m| m.name.as_str()).collect();
    let known = |key, name: &String| match names.contains(&name.as_str()) {
        true => Ok(()),
        false => Err(SweepError::UnknownMethod {
            key,
            name: name.clone(),
            known: format!("{names:?}"),
        }),
    };
    table
        .baseline
        .iter()
        .try_for_each(|name| known("baseline", name))?;
    let mut pairs = table.coincide.iter().flatten();
    pairs.try_for_each(|name| known("coincide", name))?;
    Ok(methods)
}

/// Refuses keys whose change would make cells incomparable or is the sweep's own.
fn check_key(whose: &str, key: &str, method: bool) -> Result<(), SweepError> {
    let first = key.split('.').next().unwrap_or_default();
    let why = match (first, key) {
        ("seed", _) => "is what every method and grid point repeats: use sweep.seeds",
        ("name", _) => "names the output folder, not a run",
        ("sweep", _) => "is the sweep itself",
        ("evaluation", _) if method => {
            "all methods are measured by alike: set it outside the sweep, or under [sweep.over]"
        }
        (_, "algorithm.rank") if method => {
            "would compare errors of another number of eigenvectors: set it outside the sweep, or under [sweep.over]"
        }
        (_, "data.degree_floor" | "data.degree_cap") => return Ok(()),
        ("data", _) if method => {
            "would measure this method on other data than the rest: set it outside the sweep, or under [sweep.over]"
        }
        _ => return Ok(()),
    };
    Err(SweepError::Key {
        whose: whose.to_owned(),
        key: key.to_owned(),
        why,
    })
}

/// Refuses a method's key that is swept, or holds or lies in one that is: the swept value would replace it.
fn check_not_swept(table: &SweepConfig, whose: &str, key: &str) -> Result<(), SweepError> {
    let inside = |inner: &str, outer: &str| {
        inner == outer
            || inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.starts_with('.'))
    };
    let swept = |other: &str| inside(key, other) || inside(other, key);
    if table.over.0.iter().any(|(other, _)| swept(other)) {
        return Err(SweepError::Key {
            whose: whose.to_owned(),
            key: key.to_owned(),
            why: "is swept under [sweep.over], which would replace the method's value: remove one of the two",
        });
    }
    Ok(())
}

/// Whether the first swept key is a number everywhere, so that a curve can cross a target on it.
fn is_an_axis(values: &[toml::Value]) -> bool {
    values
        .iter()
        .all(|value| value.is_integer() || value.is_float())
}

fn cells(table: &SweepConfig, methods: usize, seeds: &[u64]) -> Result<Vec<Cell>, SweepError> {
    if table.over.0.is_empty() {
        let what = "over".to_owned();
        return Err(SweepError::Empty { what });
    }
    let (x, values) = &table.over.0[0];
    if table.target.is_some() && !is_an_axis(values) {
        return Err(SweepError::NoAxis { key: x.clone() });
    }
    let mut points: u128 = 1;
    for (key, values) in &table.over.0 {
        check_key("over", key, false)?;
        if values.is_empty() {
            let what = format!("over.\"{key}\"");
            return Err(SweepError::Empty { what });
        }
        let mut sorted: Vec<String> = values.iter().map(ToString::to_string).collect();
        sorted.sort_unstable();
        if let Some(twice) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SweepError::DuplicateValue {
                key: key.clone(),
                value: twice[0].clone(),
            });
        }
        points = points.saturating_mul(values.len() as u128);
    }
    let all = points.saturating_mul((methods * seeds.len()) as u128);
    if all > MOST_CELLS as u128 {
        return Err(SweepError::TooManyCells { cells: all });
    }
    let mut cells = Vec::with_capacity(all as usize);
    for method in 0..methods {
        for point in 0..points as usize {
            cells.extend(seeds.iter().map(|&seed| Cell {
                method,
                point,
                seed,
            }));
        }
    }
    Ok(cells)
}

/// All combinations of values, the last key moving fastest.
fn grid(table: &SweepConfig) -> Vec<Vec<toml::Value>> {
    let mut grid = vec![Vec::new()];
    for (_, values) in &table.over.0 {
        grid = grid
            .iter()
            .flat_map(|point: &Vec<toml::Value>| {
                values.iter().map(move |value| {
                    let mut longer = point.clone();
                    longer.push(value.clone());
                    longer
                })
            })
            .collect();
    }
    grid
}
