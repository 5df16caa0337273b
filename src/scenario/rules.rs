//! What does not go together in an experiment file, as lists that can be read.

use super::error::{DataTableError, ExperimentError};
use crate::config::Config;

/// A key, when it is refused, and why, with what to change.
pub(super) type Rule = (&'static str, fn(&Config) -> bool, &'static str);

/// The first of these rules that a configuration breaks: the key, and why it is refused.
pub(super) fn broken(rules: &[Rule], config: &Config) -> Option<(&'static str, &'static str)> {
    let found = rules.iter().find(|(_, is_broken, _)| is_broken(config));
    found.map(|(key, _, why)| (*key, *why))
}

/// Refuses a configuration that breaks a rule about a key of `[data]`.
pub(super) fn keep(rules: &[Rule], config: &Config) -> Result<(), ExperimentError> {
    match broken(rules, config) {
        Some((key, why)) => Err(DataTableError::Key { key, why }.into()),
        None => Ok(()),
    }
}
