//! `--set section.key=value`: changes one key of an experiment file.

use super::known_keys::keys_called;
use super::reader::{ReadTable, USUAL};
use super::remedy::remedy;
use super::schema::Config;

/// An override that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum OverrideError {
    /// Not of the form key=value.
    #[error("set {text}: expected key=value, for example privacy.epsilon=1.0")]
    Form {
        /// What was given.
        text: String,
    },
    /// The key goes through something that is not a table.
    #[error("set {text}: `{part}` is not a table, so nothing can be set inside it")]
    NotATable {
        /// What was given.
        text: String,
        /// The part of the key that is no table.
        part: String,
    },
    /// The file with all overrides applied is not a valid experiment.
    #[error("{}{reason}", shown(text))]
    Invalid {
        /// All overrides; empty where there are none.
        text: String,
        /// The key, what was found and what was expected.
        reason: String,
    },
}

/// The overrides before what is wrong with them.
fn shown(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("set {text}: "),
    }
}

/// Applies `key=value` overrides in order and reads the result.
///
/// A key is a dotted path; a value is TOML, or a plain string where it is not valid TOML
/// (`engine.kind=event`). Setting `tolerance` removes `rounds` and the other way round; setting another
/// `generator` or a `file` starts that table afresh, so its parameters come after it.
///
/// # Errors
/// [`OverrideError`] naming the override.
pub fn apply<T: ReadTable>(mut table: toml::Table, set: &[String]) -> Result<T, OverrideError> {
    let mut keys = Vec::new();
    for text in set {
        let (key, value) = parse_set(text)?;
        insert(&mut table, &key, value, text)?;
        keys.push(key);
    }
    read(table, || set.join(" and ")).map_err(|error| match error {
        OverrideError::Invalid { text, reason } => OverrideError::Invalid {
            text,
            reason: with_hint(reason, &keys),
        },
        other => other,
    })
}

/// Most keys that a hint names.
const MOST_HINTS: usize = 3;

/// The reason; if a key lacks the name of its table, the keys that were meant instead of the list of all tables.
fn with_hint(reason: String, keys: &[String]) -> String {
    let Some(key) = keys
        .iter()
        .find(|key| reason.contains(&format!("unknown field `{key}`")))
    else {
        return reason;
    };
    let mut found = keys_called(key);
    // A file with a study has none of an experiment's tables.
    found.retain(|key| {
        let table = key.split('.').next().unwrap_or_default();
        reason.contains(&format!("`{table}`"))
    });
    match (1..=MOST_HINTS).contains(&found.len()) {
        true => format!("unknown key `{key}`; did you mean {}?", found.join(" or ")),
        false => reason,
    }
}

/// The configuration with these keys set to these values, in order, by the rules of [`apply`].
///
/// # Errors
/// [`OverrideError`] naming the key and value.
pub(crate) fn with<'a>(
    config: &Config,
    values: impl Iterator<Item = (&'a String, &'a toml::Value)> + Clone,
) -> Result<Config, OverrideError> {
    let shown = |(key, value): (&String, &toml::Value)| format!("{key}={value}");
    let invalid = |reason: String| OverrideError::Invalid {
        text: values.clone().map(shown).collect::<Vec<_>>().join(" and "),
        reason,
    };
    let mut table = toml::Table::try_from(config).map_err(|error| invalid(error.to_string()))?;
    for (key, value) in values.clone() {
        let text = shown((key, value));
        if key.split('.').any(str::is_empty) {
            return Err(OverrideError::Form { text });
        }
        insert(&mut table, key, value.clone(), &text)?;
    }
    read(table, || {
        values.map(shown).collect::<Vec<_>>().join(" and ")
    })
}

/// Sets one key; `text` is the override as errors show it.
fn insert(
    table: &mut toml::Table,
    key: &str,
    value: toml::Value,
    text: &str,
) -> Result<(), OverrideError> {
    let (parents, last) = match key.rsplit_once('.') {
        Some((parents, last)) => (parents.split('.').collect(), last),
        None => (Vec::new(), key),
    };
    let mut target = table;
    let section = parents.first().copied().unwrap_or_default();
    for (depth, part) in parents.into_iter().enumerate() {
        let entry = target.entry(part.to_owned()).or_insert_with(|| {
            toml::Value::Table(match depth {
                0 => usual(part),
                _ => toml::Table::new(),
            })
        });
        target = entry
            .as_table_mut()
            .ok_or_else(|| OverrideError::NotATable {
                text: text.to_owned(),
                part: part.to_owned(),
            })?;
    }
    make_room(target, section, last, &value);
    target.insert(last.to_owned(), value);
    Ok(())
}

/// The table that a key is set in where a file has none: what is computed there without one.
fn usual(table: &str) -> toml::Table {
    match table {
        "algorithm" => toml::from_str(USUAL).unwrap_or_default(),
        _ => toml::Table::new(),
    }
}

/// What this table says.
fn read<T: ReadTable>(
    table: toml::Table,
    text: impl FnOnce() -> String,
) -> Result<T, OverrideError> {
    T::of_table(table).map_err(|source| {
        let remedy = remedy(source.message()).map_or_else(String::new, |text| format!("; {text}"));
        OverrideError::Invalid {
            text: text(),
            // toml says where on lines of its own.
            reason: format!("{source}{remedy}")
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .replace(" ; ", "; "),
        }
    })
}

/// Removes what the new value excludes: `tolerance` and `rounds` exclude each other, and another
/// `generator` or a `file` makes the old generator's parameters meaningless.
fn make_room(target: &mut toml::Table, section: &str, key: &str, value: &toml::Value) {
    match (section, key) {
        ("averaging", "tolerance") => drop(target.remove("rounds")),
        ("averaging", "rounds") => drop(target.remove("tolerance")),
        ("topology" | "noise_topology", "generator" | "file") if target.get(key) != Some(value) => {
            target.clear();
        }
        _ => {}
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    const POWER: &str = include_str!("../../tests/power.toml");

    fn changed(set: &[&str]) -> Result<toml::Table, OverrideError> {
        let table = toml::from_str(POWER).expect("the file is valid");
        let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
        let config: Config = apply(table, &set)?;
        Ok(toml::Table::try_from(config).expect("configurations are tables"))
    }

    #[test]
    fn values_are_toml_or_plain_words() {
        let table = changed(&[
            "privacy.epsilon=0.5",
            "engine.kind=event",
            "name=\"a b\"",
            "seed = 9",
        ]);
        let table = table.expect("valid");
        assert_eq!(table["privacy"]["epsilon"].as_float(), Some(0.5));
        assert_eq!(table["engine"]["kind"].as_str(), Some("event"));
        assert_eq!(
            (table["name"].as_str(), table["seed"].as_integer()),
            (Some("a b"), Some(9))
        );
    }

    #[test]
    fn what_a_value_excludes_goes() {
        let table = changed(&["averaging.rounds=30", "topology.file=a.edges"]).expect("valid");
        assert!(table["averaging"].get("tolerance").is_none());
        assert!(table["topology"].get("degree").is_none());
        let table = changed(&["topology.generator=random-regular"]).expect("the same generator");
        assert_eq!(table["topology"]["degree"].as_integer(), Some(10));
        let table = changed(&[
            "topology.generator=k-out",
            "topology.k=3",
            "topology.seed=2",
        ]);
        assert_eq!(table.expect("valid")["topology"]["k"].as_integer(), Some(3));
    }

    #[test]
    fn a_table_without_overrides_is_not_called_one() {
        let mut table: toml::Table = toml::from_str(POWER).expect("the file is valid");
        table.remove("privacy");
        let refused = apply::<Config>(table, &[]).expect_err("no privacy");
        assert!(
            refused.to_string().starts_with("missing field `privacy`"),
            "{refused}"
        );
    }

    #[test]
    fn mistakes_name_the_override_and_the_key() {
        for (set, needle) in [
            ("privacy", "expected key=value"),
            ("=3", "expected key=value"),
            ("privacy..epsilon=1", "expected key=value"),
            ("seed.x=1", "`seed` is not a table"),
            ("privacy.epsilom=1", "unknown field `epsilom`"),
            ("privacy.epsilon=many", "invalid type"),
            ("engine.kind=warp", "unknown variant `warp`"),
            (
                "epsilon=1",
                "unknown key `epsilon`; did you mean privacy.epsilon?",
            ),
            (
                "epsilom=1",
                "unknown field `epsilom`, expected one of `name`",
            ),
        ] {
            let message = changed(&[set]).expect_err(set).to_string();
            assert!(
                message.contains(set) && message.contains(needle),
                "{message}"
            );
            assert!(!message.contains('\n'));
        }
    }
}
