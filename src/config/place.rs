//! Where an experiment file says what a refusal is about.

use std::fmt;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Characters of a line that are shown.
const MOST_SHOWN: usize = 60;

/// A line of an experiment file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    number: usize,
    text: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, `{}`", self.number, self.text)
    }
}

impl Place {
    /// The line of the key that this refusal names first, as `table.key` or as `[table] key`; where the file has none of the keys that are named, the
    /// head of the first table that is. Keys that overrides set stand in no line.
    pub(crate) fn of(refusal: &str, file: &str, set: &[String]) -> Option<Self> {
        let whole = DeTable::parse(file).ok()?;
        let mut named = named(refusal);
        let is_set = |key: &str| set.iter().any(|text| text.split('=').next() == Some(key));
        named.retain(|key| !is_set(&key.path));
        let mut keys = named.iter();
        let of_key = keys.find_map(|key| start(whole.get_ref(), &key.path));
        // A key that is written out says more of what is missing than the table of what it is about.
        named.sort_by_key(|key| key.is_implied);
        let mut tables = named.iter().filter_map(|key| key.path.split_once('.'));
        let of_table = || tables.find_map(|(table, _)| start(whole.get_ref(), table));
        let start = of_key.or_else(of_table)?;
        let line = file[start..].lines().next()?.trim_end();
        let mut text: String = line.chars().take(MOST_SHOWN).collect();
        if text.len() < line.len() {
            text.push('…');
        }
        let number = 1 + file[..start].matches('\n').count();
        Some(Self { number, text })
    }
}

/// A key that a refusal may name.
struct Named {
    path: String,
    /// Whether its table stands before it in brackets, so that any word may be meant.
    is_implied: bool,
}

/// The keys that a refusal names, in order.
fn named(refusal: &str) -> Vec<Named> {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "_.[]".contains(c);
    let words = refusal
        .split(|c| !is_of_key(c))
        .filter(|word| !word.is_empty());
    let mut table: Option<&str> = None;
    let mut keys = Vec::new();
    for (place, word) in words.enumerate() {
        let inner = word
            .strip_prefix('[')
            .and_then(|word| word.strip_suffix(']'));
        let word = word.trim_end_matches('.');
        let mut push = |path: String, is_implied| keys.push(Named { path, is_implied });
        match (inner, table) {
            (Some(inner), _) => table = Some(inner),
            _ if word.contains('.') => push(word.to_owned(), false),
            (None, Some(table)) => push(format!("{table}.{word}"), true),
            // `name = …` and `seed = …` stand in no table.
            (None, None) if place == 0 => push(word.to_owned(), false),
            (None, None) => {}
        }
    }
    keys
}

/// Where this key of the file starts.
fn start(whole: &DeTable<'_>, key: &str) -> Option<usize> {
    let mut parts = key.split('.');
    let mut entry = whole.get_key_value(parts.next()?)?;
    for part in parts {
        let DeValue::Table(table) = entry.1.get_ref() else {
            return None;
        };
        entry = table.get_key_value(part)?;
    }
    let is_head = matches!(entry.1.get_ref(), DeValue::Table(_));
    let (key, value): (&Spanned<_>, &Spanned<_>) = entry;
    // The head of a table begins with its bracket.
    Some(match is_head {
        true => key.span().start.min(value.span().start),
        false => key.span().start,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "name = \"x\"\n[data]\npath = \"a.csv\"\nitems = 6\n\n[privacy]\nepsilon = 2.0\ncolluders = 9\n[topology]\ngenerator = \"ring\"\n";

    #[test]
    fn refusals_are_traced_to_their_line() {
        for (refusal, expected) in [
            ("data.items is 6, and no more", "line 4, `items = 6`"),
            (
                "[privacy] colluders = 9 of 4 peers",
                "line 8, `colluders = 9`",
            ),
            (
                "leave out data.items_file or data.items.",
                "line 4, `items = 6`",
            ),
            // A key that is missing belongs into its table.
            ("set data.row_clip to a length", "line 2, `[data]`"),
            (
                "a.csv has no line, set privacy.delta",
                "line 6, `[privacy]`",
            ),
            ("name = \"x\" is too short", "line 1, `name = \"x\"`"),
            (
                "topology.generator: too few peers",
                "line 10, `generator = \"ring\"`",
            ),
        ] {
            let found = Place::of(refusal, FILE, &[]).map(|place| place.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{refusal}");
        }
        for (refusal, set) in [
            ("nothing is named", ""),
            ("noise.bits is 5", ""),
            ("data.items is 7", "data.items=7"),
        ] {
            let set = [set.to_owned()];
            let found = Place::of(refusal, FILE, &set);
            assert!(found.is_none_or(|place| place.number == 2), "{refusal}");
        }
        assert_eq!(Place::of("data.items", "no file [", &[]), None);
        let long = format!("[data]\nitems = 1 # {}", "é".repeat(100));
        let place = Place::of("data.items", &long, &[]).expect("is there");
        assert_eq!(place.text.chars().count(), MOST_SHOWN + 1);
    }
}
