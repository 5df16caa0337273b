//! Studies: experiment files that compute a figure or a table without being one run.
//!
//! A file with a `[study]` table is a study. `kind` says which; the other keys are that kind's own. Each kind
//! is one file here, one variant of [`StudyKind`] and one line of its registry.

mod coherence;
mod cost;
mod laws;
mod result;
mod start_ratio;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use coherence::{Coherence, Dataset};
pub use cost::Cost;
pub use result::{Figure, Series, StudyResult};
pub use start_ratio::{Ranks, StartRatio};

use super::error::ExperimentError;
use super::output::{self, OutputError};
use super::run::RunError;
use super::{overrides, resolve};
use crate::data::DataError;
use crate::engine::Observer;
use crate::linalg::NotFullRank;
use crate::vocabulary::Seed;

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
    fn study(&self) -> &dyn Study {
        match self {
            Self::StartRatio(study) => study,
            Self::Coherence(study) => study,
            Self::Cost(study) => study,
        }
    }

    fn study_mut(&mut self) -> &mut dyn Study {
        match self {
            Self::StartRatio(study) => study,
            Self::Coherence(study) => study,
            Self::Cost(study) => study,
        }
    }
}

/// What every kind does.
trait Study {
    /// Checks the keys; what needs no data is refused here.
    fn check(&self) -> Result<(), StudyError>;

    /// Every path among the keys.
    fn paths(&mut self) -> Vec<&mut PathBuf> {
        Vec::new()
    }

    /// Computes the tables.
    fn run(
        &self,
        seed: &Seed,
        base: &Path,
        observer: &mut dyn Observer,
    ) -> Result<StudyResult, StudyError>;
}

/// Why a study cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file, or an experiment the study runs, cannot be used.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A dataset that is there cannot be read.
    #[error("[[study.datasets]] {name}: {source}")]
    Dataset {
        /// The dataset.
        name: String,
        /// What is wrong with it.
        source: DataError,
    },
    /// A key outside what can be computed.
    #[error("[study] {key} = {found} is not possible: expected {expected}")]
    Key {
        /// The key.
        key: &'static str,
        /// What was found.
        found: String,
        /// What would do.
        expected: String,
    },
    /// A block without a unique basis.
    #[error(transparent)]
    NotFullRank(#[from] NotFullRank),
}

impl StudyError {
    fn key(key: &'static str, found: impl std::fmt::Display, expected: impl Into<String>) -> Self {
        Self::Key {
            key,
            found: found.to_string(),
            expected: expected.into(),
        }
    }
}

impl StudyConfig {
    /// Reads a file and applies `key=value` overrides; `None` if it has no `[study]` table or is no TOML, so
    /// that it is for [`Experiment`](super::Experiment) to read or refuse.
    ///
    /// # Errors
    /// [`ExperimentError`] naming the file and the key.
    pub fn load(path: &Path, set: &[String]) -> Result<Option<Self>, ExperimentError> {
        let Ok(text) = std::fs::read_to_string(path) else {
            return Ok(None);
        };
        let Ok(table) = toml::from_str::<toml::Table>(&text) else {
            return Ok(None);
        };
        if !table.contains_key("study") {
            return Ok(None);
        }
        resolve::check_path(path)?;
        let as_written: Result<Self, _> = toml::from_str(&text);
        let written = as_written.map_err(|source| ExperimentError::Parse {
            path: path.to_path_buf(),
            source: Box::new(source),
        })?;
        let config = if set.is_empty() {
            written
        } else {
            overrides::apply(table, set)?
        };
        resolve::check_identity(&config.name, config.seed)?;
        Ok(Some(config))
    }

    /// Does the study; relative paths start at `base`.
    ///
    /// # Errors
    /// [`StudyError`] naming the key, the dataset or the run that failed.
    pub fn run(&self, base: &Path, observer: &mut dyn Observer) -> Result<StudyResult, StudyError> {
        let study = self.study.study();
        study.check()?;
        let mut result = study.run(&Seed::from_u64(self.seed), base, observer)?;
        result.name.clone_from(&self.name);
        Ok(result)
    }

    /// Checks the keys without computing anything.
    ///
    /// # Errors
    /// [`StudyError::Key`].
    pub fn check(&self) -> Result<(), StudyError> {
        self.study.study().check()
    }

    /// The configuration with absolute paths, so that it runs from any folder.
    #[must_use]
    pub fn portable(&self, base: &Path) -> Self {
        let mut config = self.clone();
        for path in config.study.study_mut().paths() {
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

    /// Writes `TABLE.csv` for every table, and `config.toml`, into `directory`, creating it.
    ///
    /// # Errors
    /// [`OutputError`] with the path that failed.
    pub fn write(
        &self,
        directory: &Path,
        base: &Path,
        result: &StudyResult,
    ) -> Result<(), OutputError> {
        output::create(directory)?;
        let config = self.portable(base).resolved();
        output::put(directory, "config.toml", config.as_bytes())?;
        for table in &result.tables {
            let name = format!("{}.csv", table.name);
            output::put(directory, &name, &table.to_csv())?;
        }
        Ok(())
    }
}
