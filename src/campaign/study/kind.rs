//! What every kind of study does.

use std::path::Path;

use super::error::StudyError;
use super::result::StudyResult;
use crate::engine::Observer;
use crate::vocabulary::Seed;

/// What every kind does.
pub(super) trait Study {
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
