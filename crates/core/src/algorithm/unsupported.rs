//! Refusal of a release by a part of the crate that cannot work with it.

use super::{Form, Program, ReleaseSpec, Text};

/// A part of the crate that does not go with what it met, and what to change.
///
/// Everything that is made for some releases and not for others has a function `supports(program, release)` with this error. It asks what is
/// released and what is [proved](super::Proved) of the program, and never for an algorithm's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{who} does not go with {what}: {change}")]
pub struct Unsupported {
    /// The part that cannot work with it: a key, a table, or a feature.
    pub who: Text,
    /// What it met.
    pub what: Text,
    /// The reason, and the setting that helps.
    pub change: &'static str,
}

impl Unsupported {
    /// This part, which met an algorithm, and what to change.
    #[must_use]
    pub fn algorithm(who: &'static str, program: &Program, change: &'static str) -> Self {
        let what = format!("algorithm.kind = \"{}\"", program.kind()).into();
        let who = Text::Borrowed(who);
        Self { who, what, change }
    }
}

impl Program {
    /// Whether `supports` accepts every release.
    ///
    /// # Errors
    /// [`Unsupported`] of the first release that it refuses.
    pub fn check_each(
        &self,
        supports: impl Fn(&Self, &ReleaseSpec) -> Result<(), Unsupported>,
    ) -> Result<(), Unsupported> {
        self.releases
            .iter()
            .try_for_each(|release| supports(self, release))
    }

    /// Whether this release is a sum over all rows that costs as much as every other one, of a program that is
    /// [proved of the matrix alone](super::Proved::matrix_only): no agreement, no ceiling, no batch, no share of its own.
    pub(super) fn is_plain_and_of_the_matrix(&self, release: &ReleaseSpec) -> bool {
        let even = self.releases.iter().all(|one| one.share == release.share);
        self.proved.matrix_only
            && release.form == Form::Sum
            && release.batch.is_none()
            && release.agreement.is_none()
            && release.ceiling.is_none()
            && even
    }
}
