//! An algorithm that is still to be chosen, by a public rule after a pilot.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements};
use super::{Algorithm, AlgorithmError, Program, Start};

/// `[algorithm]` with `kind = "auto"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
}

impl AlgorithmTable for AutoTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        0
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let _ = facts;
        Err(AlgorithmError::Unchosen)
    }

    fn sketch(&self) -> Option<Program> {
        None
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
    }
}
