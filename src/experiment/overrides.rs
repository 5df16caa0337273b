//! `--set section.key=value`: changes one key of an experiment file.

use serde::Deserialize;

use super::config::Config;

/// An override that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// Not of the form key=value.
    #[error("--set {text}: expected key=value, for example --set privacy.epsilon=1.0")]
    Form {
        /// What was given.
        text: String,
    },
    /// The key goes through something that is not a table.
    #[error("--set {text}: `{part}` is not a table, so nothing can be set inside it")]
    NotATable {
        /// What was given.
        text: String,
        /// The part of the key that is no table.
        part: String,
    },
    /// The file with all overrides applied is not a valid experiment.
    #[error("--set {text}: {source}")]
    Invalid {
        /// All overrides.
        text: String,
        /// The key, what was found and what was expected.
        source: Box<toml::de::Error>,
    },
}

/// Applies `key=value` overrides in order and reads the result.
///
/// A key is a dotted path; a value is TOML, or a plain string where it is not valid TOML
/// (`engine.kind=event`). Setting one of `generator`/`file` or `tolerance`/`rounds` removes the other.
///
/// # Errors
/// [`OverrideError`] naming the override.
pub(super) fn apply(mut table: toml::Table, set: &[String]) -> Result<Config, OverrideError> {
    for text in set {
        let (key, value) = parse_set(text)?;
        let (parents, last) = match key.rsplit_once('.') {
            Some((parents, last)) => (parents.split('.').collect(), last),
            None => (Vec::new(), key.as_str()),
        };
        let mut target = &mut table;
        for part in parents {
            let entry = target
                .entry(part.to_owned())
                .or_insert_with(|| toml::Value::Table(toml::Table::new()));
            target = entry
                .as_table_mut()
                .ok_or_else(|| OverrideError::NotATable {
                    text: text.clone(),
                    part: part.to_owned(),
                })?;
        }
        for (one, other) in [("tolerance", "rounds"), ("generator", "file")] {
            if last == one {
                target.remove(other);
            } else if last == other {
                target.remove(one);
            }
        }
        target.insert(last.to_owned(), value);
    }
    Config::deserialize(table).map_err(|source| OverrideError::Invalid {
        text: set.join(" --set "),
        source: Box::new(source),
    })
}

/// Splits `key=value`; the key is a dotted path without empty parts, the value TOML or a plain string.
///
/// # Errors
/// [`OverrideError::Form`] if there is no `=` or a part of the key is empty.
pub fn parse_set(text: &str) -> Result<(String, toml::Value), OverrideError> {
    let form = || OverrideError::Form {
        text: text.to_owned(),
    };
    let (key, value) = text.split_once('=').ok_or_else(form)?;
    let key = key.trim();
    if key.split('.').any(str::is_empty) {
        return Err(form());
    }
    Ok((key.to_owned(), parse_value(value.trim())))
}

fn parse_value(text: &str) -> toml::Value {
    toml::from_str::<toml::Table>(&format!("value = {text}"))
        .ok()
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| toml::Value::String(text.to_owned()))
}
