//! What does not go together in an experiment file, as lists that can be read.

use super::error::{DataTableError, ExperimentError};
use crate::config::Config;

/// A key, when it is refused, and why, with what to change.
pub(super) type Rule = (&'static str, fn(&Config) -> bool, &'static str);

/// Refuses a configuration by the first of these rules that it breaks; `refusal` makes the error of the key and the reason.
pub(super) fn keep<E>(
    rules: &[Rule],
    config: &Config,
    refusal: impl FnOnce(&'static str, &'static str) -> E,
) -> Result<(), E> {
    match rules.iter().find(|(_, is_broken, _)| is_broken(config)) {
        Some((key, _, why)) => Err(refusal(key, why)),
        None => Ok(()),
    }
}

/// The same of rules about keys of `[data]`.
pub(super) fn keep_data(rules: &[Rule], config: &Config) -> Result<(), ExperimentError> {
    keep(rules, config, |key, why| {
        DataTableError::Key { key, why }.into()
    })
}
