//! What rows of interactions are divided by.

use std::num::NonZeroU32;

use crate::config::Config;
use crate::data::Interactions;
use crate::linalg::SparseRows;
use crate::privacy::SensitivityRule;

/// What every user's row is divided by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Divisor {
    floor: NonZeroU32,
    is_root: bool,
}

impl Divisor {
    /// That of an experiment, with this degree floor: a root floor where the bound is one of such rows, and a plain one otherwise.
    ///
    /// That one key, `privacy.sensitivity`, decides both: rows and a bound that is not theirs cannot be combined.
    pub(crate) fn new(config: &Config, floor: NonZeroU32) -> Self {
        let is_root = config.privacy.sensitivity() == SensitivityRule::RootFloor;
        Self { floor, is_root }
    }

    /// The rows of these users.
    pub(crate) fn rows(self, interactions: &Interactions) -> SparseRows {
        match self.is_root {
            true => interactions.root_floored_rows(self.floor),
            false => interactions.normalised_rows(self.floor),
        }
    }
}
