//! Finds the key of an experiment file that a refusal names first.
//!
//! Tables and keys are those that the parser of [`Config`] accepts: there is no second list of them.

use std::collections::BTreeMap;

use undertone::config::{Config, ReadTable as _};

/// A key that no table has.
const UNKNOWN: &str = "0";

/// The most words of a text that stand for it where it names no key.
const WORDS: usize = 6;

/// What the parser says of tables and keys, asked once each.
pub(super) struct Keys {
    tables: Vec<String>,
    known: BTreeMap<(String, String), bool>,
    texts: BTreeMap<String, String>,
}

impl Keys {
    /// The tables of an experiment file; nothing is known of their keys yet.
    pub(super) fn new() -> Self {
        let entry = (UNKNOWN.to_owned(), toml::Value::Integer(1));
        let refusal = refusal(toml::Table::from_iter([entry]));
        let listed = refusal
            .split_once("expected")
            .map_or("", |(_, listed)| listed);
        let names = listed.split('`').skip(1).step_by(2);
        Self {
            tables: names.map(str::to_owned).collect(),
            known: BTreeMap::new(),
            texts: BTreeMap::new(),
        }
    }

    /// The key `table.key` that a text names first, else the table that it names in brackets, else its first words after a question mark.
    ///
    /// Three forms are a key: `table.key`, `[table] key`, and `key = `, which is a key of the table in brackets before it, or of the only table that has it.
    pub(super) fn named(&mut self, text: &str) -> String {
        if let Some(known) = self.texts.get(text) {
            return known.clone();
        }
        let found = self.first_key(text).unwrap_or_else(|| slug(text));
        self.texts.insert(text.to_owned(), found.clone());
        found
    }

    fn first_key(&mut self, text: &str) -> Option<String> {
        let mut table: Option<String> = None;
        let mut first = None;
        let mut rest = text;
        let mut just_named = false;
        while let Some(next) = rest.chars().next() {
            if let Some(name) = bracketed(rest)
                && self.tables.iter().any(|one| one == name)
            {
                rest = &rest[name.len() + 2..];
                first.get_or_insert_with(|| format!("[{name}]"));
                table = Some(name.to_owned());
                just_named = true;
                continue;
            }
            let word = word_of(rest);
            if word.is_empty() {
                just_named &= next == ' ';
                rest = &rest[next.len_utf8()..];
                continue;
            }
            rest = &rest[word.len()..];
            if let Some((left, right)) = word.trim_end_matches('.').split_once('.') {
                let key = right.split('.').next().unwrap_or(right);
                if self.has(left, key) {
                    return Some(format!("{left}.{key}"));
                }
            } else {
                let key = word.trim_end_matches('.');
                if let Some(table) = table.clone()
                    && (just_named || rest.starts_with(" = "))
                    && self.has(&table, key)
                {
                    return Some(format!("{table}.{key}"));
                }
                if rest.starts_with(" = ")
                    && let Some(table) = self.only_table_with(key)
                {
                    return Some(format!("{table}.{key}"));
                }
            }
            just_named = false;
        }
        first
    }

    fn only_table_with(&mut self, key: &str) -> Option<String> {
        let tables = self.tables.clone();
        let mut having = tables.into_iter().filter(|table| self.has(table, key));
        let found = having.next()?;
        having.next().is_none().then_some(found)
    }

    /// Whether an experiment file can have this key in this table.
    fn has(&mut self, table: &str, key: &str) -> bool {
        let place = (table.to_owned(), key.to_owned());
        if !self.tables.contains(&place.0) {
            return false;
        }
        if let Some(known) = self.known.get(&place) {
            return *known;
        }
        // A table that takes any key says nothing about this one.
        let found = !accepts(table, UNKNOWN) && accepts(table, key);
        self.known.insert(place, found);
        found
    }
}

/// Whether the parser takes this key in this table, or no table at this place.
fn accepts(table: &str, key: &str) -> bool {
    let mut inner = toml::Table::from_iter([(key.to_owned(), toml::Value::Integer(1))]);
    if table == "algorithm" && key != "kind" {
        // Whichever kind: a key of another one is refused in other words than one that none has.
        let kind = toml::Value::String("power".to_owned());
        inner.insert("kind".to_owned(), kind);
    }
    let whole = toml::Table::from_iter([(table.to_owned(), toml::Value::Table(inner))]);
    let refusal = refusal(whole);
    !refusal.contains(&format!("unknown field `{key}`")) && !refusal.contains("invalid type: map")
}

/// Why this is no experiment file.
fn refusal(table: toml::Table) -> String {
    let read = Config::of_table(table);
    read.err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

/// The word in brackets that a text begins with.
fn bracketed(text: &str) -> Option<&str> {
    let inner = text.strip_prefix('[')?;
    let name = word_of(inner);
    inner[name.len()..].starts_with(']').then_some(name)
}

/// The longest beginning that can be a key: small letters, digits, `_`, `-` and dots.
fn word_of(text: &str) -> &str {
    let is_inner =
        |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '.' | '-');
    let end = text.find(|c| !is_inner(c)).unwrap_or(text.len());
    &text[..end]
}

/// The first words of a text, without numbers.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphabetic());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .take(WORDS)
        .map(str::to_ascii_lowercase)
        .collect();
    format!("?{}", words.join("-"))
}

#[test]
fn the_key_that_a_text_names_first_is_found() {
    let mut keys = Keys::new();
    for (text, key) in [
        ("privacy.budget has weights", "privacy.budget"),
        (
            "[algorithm] clip = \"histogram\" with kind = \"ppi\"",
            "algorithm.clip",
        ),
        ("[data] row_clip is missing: rows", "data.row_clip"),
        (
            "[dropouts] does not go with noise.scheme = \"ring\"",
            "noise.scheme",
        ),
        (
            "[privacy] independent shares: use noise.scheme",
            "noise.scheme",
        ),
        (
            "no bound is proved for adjacency = \"edge\" with sensitivity = \"exact\"",
            "privacy.adjacency",
        ),
        ("[pilot] counts how many users have", "[pilot]"),
        (
            "[a, b] is 3.5. Nothing in sections.of the file",
            "?a-b-is-nothing-in-sections",
        ),
    ] {
        assert_eq!(keys.named(text), key, "{text}");
    }
}
