//! The text that plans are stored as, and where two such texts differ.
//!
//! A block starts with the setting's name in brackets; its lines follow, and an empty line ends it.

use std::collections::BTreeMap;
use std::fs;

use crate::support::repository;

/// Where plans are stored.
pub(super) const PATH: &str = "tests/plans/stored.txt";

/// Settings with their lines, as text.
pub(super) fn in_text(all: &[(String, Vec<String>)]) -> String {
    let blocks = all
        .iter()
        .map(|(name, lines)| format!("[{name}]\n{}\n", lines.join("\n")));
    blocks.collect::<Vec<_>>().join("\n")
}

/// The blocks of a text by name.
fn blocks(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut all = BTreeMap::new();
    let mut open = "before the first block";
    for line in text.lines().filter(|line| !line.is_empty()) {
        match line
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            Some(name) => {
                open = name;
                assert!(all.insert(name, Vec::new()).is_none(), "{name} twice");
            }
            None => all.entry(open).or_default().push(line),
        }
    }
    all
}

/// For every setting the first line that differs.
pub(super) fn differences(stored: &str, found: &str) -> Vec<String> {
    let (stored, found) = (blocks(stored), blocks(found));
    let mut all: Vec<String> = stored
        .keys()
        .filter(|name| !found.contains_key(*name))
        .map(|name| format!("[{name}] is stored and there is no such setting"))
        .collect();
    for (name, lines) in &found {
        let Some(before) = stored.get(name) else {
            all.push(format!("[{name}] is not stored"));
            continue;
        };
        let length = lines.len().max(before.len());
        let at = |lines: &[&str], place: usize| {
            lines.get(place).map_or("nothing", |line| *line).to_owned()
        };
        let first = (0..length).find(|place| before.get(*place) != lines.get(*place));
        all.extend(first.map(|place| {
            let (before, after) = (at(before, place), at(lines, place));
            format!("[{name}]\n  stored: {before}\n  found:  {after}")
        }));
    }
    all
}

/// What is stored.
pub(super) fn read() -> String {
    fs::read_to_string(repository(PATH)).expect(PATH)
}

/// Whether what is found is to be stored.
pub(super) fn is_written() -> bool {
    std::env::var("UNDERTONE_PLANS").is_ok_and(|asked| asked == "write")
}

/// The check finds a number whose last digit is another, a line or a block that is missing, and one that is new.
#[test]
fn a_changed_number_is_found() {
    if is_written() {
        return;
    }
    let text = read();
    let text = text.as_str();
    assert!(differences(text, text).is_empty());
    let mut numbers = 0;
    for (place, line) in text.lines().enumerate() {
        let Some((key, value)) = line.split_once(" = ") else {
            continue;
        };
        let Some(last) = value.chars().last().filter(char::is_ascii_digit) else {
            continue;
        };
        if !key.starts_with("sigma") && key != "charge" {
            continue;
        }
        numbers += 1;
        // Each comparison reads the whole file.
        if numbers % 11 != 1 {
            continue;
        }
        let other = if last == '1' { '2' } else { '1' };
        let other = format!("{}{other}", &line[..line.len() - 1]);
        let lines = text.lines().enumerate();
        let lines: Vec<&str> = lines
            .map(|(at, line)| if at == place { &other } else { line })
            .collect();
        let found = differences(text, &lines.join("\n"));
        assert_eq!(found.len(), 1, "{line}: {found:?}");
        assert!(
            found[0].contains(line) && found[0].contains(&other),
            "{found:?}"
        );
    }
    assert!(numbers > 300, "{numbers}");
    let (first, rest) = text.split_once("\n\n").expect("blocks");
    assert_eq!(differences(text, rest).len(), 1);
    assert_eq!(differences(rest, text).len(), 1);
    let shorter = first.rsplit_once('\n').expect("lines").0;
    let found = differences(text, &format!("{shorter}\n\n{rest}"));
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("found:  nothing"), "{found:?}");
}
