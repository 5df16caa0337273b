//! Why a study cannot be done.

use crate::config::ConfigError;
use crate::data::DataError;
use crate::linalg::NotFullRank;
use crate::run::RunError;
use crate::scenario::ExperimentError;

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
    pub(super) fn key(
        key: &'static str,
        found: impl std::fmt::Display,
        expected: impl Into<String>,
    ) -> Self {
        Self::Key {
            key,
            found: found.to_string(),
            expected: expected.into(),
        }
    }
}
