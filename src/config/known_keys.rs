//! Finds keys of experiment files by their last part, for messages on mistyped keys.

use super::algorithms::KINDS;
use super::data::Family;
use super::elsewhere::has_key;
use super::reader::ReadTable;
use super::schema::Config;
use super::table_keys::keys_of;

/// A key that no table has.
const UNKNOWN: &str = "0";

/// The keys `table.name` that an experiment file may have, in the order of the tables.
///
/// The tables and keys are those that the parser of [`Config`] accepts: there is no second list of them.
pub(crate) fn keys_called(name: &str) -> Vec<String> {
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_lowercase() || c == '_') {
        return Vec::new();
    }
    let has = |table: &str, key: &str| {
        match table {
            "algorithm" => return KINDS.iter().any(|(kind, _)| has_key(kind, key)),
            "data" => {
                let mut families = Family::ALL.iter();
                return families.any(|family| family.keys().contains(&key));
            }
            _ => {}
        }
        let inner = toml::Table::from_iter([(key.to_owned(), toml::Value::Integer(1))]);
        let whole = toml::Table::from_iter([(table.to_owned(), toml::Value::Table(inner))]);
        let refusal = refusal(whole);
        !refusal.contains(&format!("unknown field `{key}`"))
            && !refusal.contains("invalid type: map")
    };
    // A table that takes any key says nothing about this one.
    let is_table_with = |table: &&&str| !has(table, UNKNOWN) && has(table, name);
    let tables = keys_of::<Config>().iter().filter(is_table_with);
    tables.map(|table| format!("{table}.{name}")).collect()
}

/// Why this is no experiment file; nothing if it is one.
fn refusal(table: toml::Table) -> String {
    let read = Config::of_table(table);
    read.err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_by_their_last_part() {
        assert_eq!(keys_called("epsilon"), ["privacy.epsilon"]);
        assert_eq!(keys_called("iterations"), ["algorithm.iterations"]);
        assert_eq!(keys_called("items"), ["data.items", "recommender.items"]);
        for unknown in ["epsilom", "privacy", "", "privacy.epsilon", "0"] {
            assert!(keys_called(unknown).is_empty(), "{unknown}");
        }
    }
}
