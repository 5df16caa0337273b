//! Studies: experiment files that compute a figure or a table without being one run.
//!
//! A file with a `[study]` table is a study. `kind` says which; the other keys are that kind's own. Each kind
//! is one file here, and its table and one variant of [`StudyKind`] in the file's schema.

mod coherence;
mod cost;
mod laws;
mod result;
mod start_ratio;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use result::{Figure, Series, StudyResult};

use crate::config::{ConfigError, StudyConfig, StudyKind};
use crate::data::DataError;
use crate::engine::Observer;
use crate::linalg::NotFullRank;
use crate::run::RunError;
use crate::run::output::{self, OutputError};
use crate::scenario::ExperimentError;
use crate::vocabulary::Seed;

impl StudyKind {
    fn study(&self) -> &dyn Study {
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
    /// A file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
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
