//! The `[evaluation]` table: what a run is measured against.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::data::DataError;
use crate::privacy::Adjacency;
use crate::recommender::SplitError;

/// `[evaluation]`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EvaluationConfig {
    /// The degree floor of the matrix whose exact eigenvectors, and whose non-private run from the same X⁰,
    /// errors are measured against; `data.degree_floor` where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference_floor: Option<u32>,
    /// Every interaction is kept from the peers, and recommended against, with this probability: one coin per user and
    /// item, by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdout: Option<f64>,
    /// Or the held-out interactions are in this file, relative to the experiment file, in the format and
    /// with the threshold of `[data]`; users and items are matched by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<PathBuf>,
    /// Length of the recommended lists.
    #[serde(default = "twenty")]
    pub top: usize,
    /// Whether a run of the power method also says what Hardt & Price's convergence theorem says of its noise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diagnostics: bool,
}

fn twenty() -> usize {
    20
}

impl Default for EvaluationConfig {
    fn default() -> Self {
        Self {
            reference_floor: None,
            holdout: None,
            test: None,
            top: twenty(),
            diagnostics: false,
        }
    }
}

/// What is wrong with `[evaluation]`.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// A floor of 0.
    #[error(
        "reference_floor must be at least 1 (1 divides each row by its own degree), found 0; \
         leave it out to measure against the run's own matrix"
    )]
    ReferenceFloor,
    /// Two sources of held-out interactions.
    #[error("give either holdout or test, not both")]
    HoldoutAndTest,
    /// Lists of no items.
    #[error("top must be at least 1, found 0; 20 is usual")]
    Top,
    /// A fraction out of range.
    #[error("holdout: {0}")]
    Holdout(#[from] SplitError),
    /// A test file that cannot be used.
    #[error("test: {0}")]
    Test(DataError),
    /// A test file about other people. Decided by the two lists of users, which are public.
    #[error(
        "test: none of its users is among the users of data.path, or of data.users_file; users are matched by name, give the test file of the same data"
    )]
    OtherUsers,
    /// A hold-out where a record is a change of the matrix.
    #[error(
        "holdout with privacy.adjacency = \"{adjacency}\": a record is a change of the matrix A, and what is held \
         out is no function of A, so that a small change of all data could be any change of what the peers hold; give \
         the held-out interactions in a file (evaluation.test), or use adjacency = \"interaction\""
    )]
    HoldoutOfMatrix {
        /// The adjacency asked for.
        adjacency: Adjacency,
    },
}

impl EvaluationConfig {
    /// Whether everything is at its default, so that the table says nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Checks what needs no data.
    ///
    /// # Errors
    /// [`EvaluationError`] naming the key.
    pub fn check(&self) -> Result<(), EvaluationError> {
        if self.reference_floor == Some(0) {
            return Err(EvaluationError::ReferenceFloor);
        }
        if self.holdout.is_some() && self.test.is_some() {
            return Err(EvaluationError::HoldoutAndTest);
        }
        if self.top == 0 {
            return Err(EvaluationError::Top);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_contradicts_itself_is_refused_by_key() {
        let check = |change: fn(&mut EvaluationConfig)| {
            let mut config = EvaluationConfig::default();
            change(&mut config);
            config.check().err().map(|error| error.to_string())
        };
        assert_eq!(check(|_| ()), None);
        let refused = |change, word: &str| {
            let message = check(change).expect("refused");
            assert!(message.contains(word), "{message}");
        };
        refused(|c| c.top = 0, "top");
        refused(|c| c.reference_floor = Some(0), "reference_floor");
        refused(
            |c| {
                c.holdout = Some(0.2);
                c.test = Some(PathBuf::from("x"));
            },
            "either holdout or test",
        );
    }
}
