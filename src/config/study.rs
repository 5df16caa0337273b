//! Study files: the `[study]` table of every kind of study.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::error::ConfigError;
use super::file::{check_identity, check_path};
use super::overrides;
use super::reader::ReadTable;
use super::schema::EngineKind;
use crate::data::Format;
use crate::protocol::averaging::AveragingKind;

/// A study file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyConfig {
    /// A short name for reports.
    pub name: String,
    /// Every random stream of the study derives from it.
    pub seed: u64,
    /// What is computed.
    pub study: StudyKind,
}

/// The studies there are, with their keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum StudyKind {
    /// How much larger the earlier sensitivity bound is at a random start (P1 Fig. 3).
    StartRatio(StartRatio),
    /// Coherences and sensitivities of datasets (P1 Table 2).
    Coherence(Coherence),
    /// What one iteration costs (P1 Table 1).
    Cost(Cost),
}

impl StudyKind {
    /// Every path among the keys.
    fn paths(&mut self) -> Vec<&mut PathBuf> {
        match self {
            Self::StartRatio(_) => Vec::new(),
            Self::Coherence(study) => {
                let datasets = study.datasets.iter_mut();
                datasets.map(|dataset| &mut dataset.path).collect()
            }
            Self::Cost(study) => vec![&mut study.experiment],
        }
    }
}

impl ReadTable for StudyConfig {
    fn of_table(table: toml::Table) -> Result<Self, toml::de::Error> {
        Self::deserialize(table)
    }
}

impl StudyConfig {
    /// Reads a file and applies `key=value` overrides; `None` if it has no `[study]` table or is no TOML, so
    /// that it is for [`read_config`](super::read_config) to read or refuse.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file and the key.
    pub fn load(path: &Path, set: &[String]) -> Result<Option<Self>, ConfigError> {
        let Ok(text) = std::fs::read_to_string(path) else {
            return Ok(None);
        };
        let Ok(table) = toml::from_str::<toml::Table>(&text) else {
            return Ok(None);
        };
        if !table.contains_key("study") {
            return Ok(None);
        }
        check_path(path)?;
        let as_written: Result<Self, _> = toml::from_str(&text);
        let written = as_written.map_err(|source| ConfigError::Parse {
            path: path.to_path_buf(),
            source: Box::new(source),
        })?;
        let config = if set.is_empty() {
            written
        } else {
            overrides::apply(table, set)?
        };
        check_identity(&config.name, config.seed)?;
        Ok(Some(config))
    }

    /// The configuration with absolute paths, so that it runs from any folder.
    #[must_use]
    pub fn portable(&self, base: &Path) -> Self {
        let mut config = self.clone();
        for path in config.study.paths() {
            let joined = base.join(&*path);
            *path = std::path::absolute(&joined).unwrap_or(joined);
        }
        config
    }

    /// The study with all changes, as a file.
    #[must_use]
    pub fn resolved(&self) -> String {
        toml::to_string(self).expect("loading refused what TOML cannot hold")
    }
}

/// `[study] kind = "start-ratio"`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartRatio {
    /// The values of n.
    pub items: Vec<usize>,
    /// The values of k.
    pub ranks: Ranks,
    /// Independent Gaussian matrices per n.
    #[serde(default = "five")]
    pub runs: u32,
}

/// `from`, `from + step`, … up to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ranks {
    /// The first.
    pub from: usize,
    /// Nothing above this.
    pub to: usize,
    /// The distance.
    pub step: usize,
}

fn five() -> u32 {
    5
}

impl Ranks {
    /// All of them, ascending.
    pub(crate) fn values(self) -> Vec<usize> {
        (self.from..=self.to).step_by(self.step.max(1)).collect()
    }
}

/// `[study] kind = "coherence"`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coherence {
    /// p of the sensitivities.
    pub rank: usize,
    /// L: after that many non-private power steps the sensitivities at X^L are taken.
    pub iterations: u32,
    /// D of the last column.
    #[serde(default = "twenty")]
    pub degree_floor: u32,
    /// The largest matrix that is decomposed densely: all eigenvectors are needed, and that takes this number cubed.
    #[serde(default = "two_thousand")]
    pub dense_limit: usize,
    /// The rows of the table.
    pub datasets: Vec<Dataset>,
}

/// `[[study.datasets]]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dataset {
    /// What the row is called.
    pub name: String,
    /// The file, relative to this file; `.gz` is read directly.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// An interaction is a rating above this.
    #[serde(default)]
    pub threshold: f64,
    /// Keep the N most rated items; 0 keeps all.
    #[serde(default)]
    pub items: usize,
    /// Where to get the file; said where it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obtain: Option<String>,
}

fn twenty() -> u32 {
    20
}

fn two_thousand() -> usize {
    2000
}

/// `[study] kind = "cost"`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The experiment that is run, relative to this file.
    pub experiment: PathBuf,
    /// Changes to it, as after `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Numbers of peers s; the experiment's topology is made that large.
    pub sizes: Vec<usize>,
    /// Engines; a swarm exchanges over memory.
    pub engines: Vec<EngineKind>,
    /// Averaging schemes, for the engines that average.
    pub averaging: Vec<AveragingKind>,
    /// The largest s the swarm is run at: it is s libp2p nodes in one process.
    #[serde(default = "sixty_four")]
    pub largest_swarm: usize,
}

fn sixty_four() -> usize {
    64
}
