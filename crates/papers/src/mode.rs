//! Constants of ours, or of a paper.

use serde::{Deserialize, Serialize};

/// Whose constants a completion algorithm runs with: `algorithm.mode` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionMode {
    /// Ours: contributions are shortened to what is charged.
    #[default]
    Tight,
    /// Those in print, for comparison with its figures.
    Paper,
}
