//! Studies: experiment files that compute a figure or a table without being one run.
//!
//! A file with a `[study]` table is a study. `kind` says which; the other keys are that kind's own. Each kind
//! is one file here, and its table and one variant of `StudyKind` in the file's schema.

mod coherence;
mod cost;
mod error;
mod kind;
mod laws;
mod result;
mod start_ratio;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use error::StudyError;
pub use result::StudyResult;

#[cfg(feature = "report")]
pub(crate) use result::StudyFigure;

use kind::Study;

use crate::config::{StudyConfig, StudyKind};
use crate::engine::Observer;
use crate::run::output::{self, OutputError};
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
