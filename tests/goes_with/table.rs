//! The table as text: rows of a section that are equal share a line, equal sections share their lines, and every refusal is a letter.

use std::collections::{BTreeMap, BTreeSet};

use super::axes::GROUPS;

/// What a cell says that is not refused.
pub(super) const ALLOWED: &str = "allowed";

/// Its letter.
const DOT: char = '.';

/// What the name of a section begins with.
const HEADING: &str = "# ";

/// Letters of refusals, in the order in which they are given.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+*@%&!$~<>";

/// Rows with something in common.
#[derive(Clone)]
pub(super) struct Section {
    /// What they have in common.
    pub(super) name: String,
    /// The rows.
    pub(super) rows: Vec<Row>,
}

/// One kind.
#[derive(Clone)]
pub(super) struct Row {
    /// The kind.
    pub(super) name: String,
    /// What each cell says, in words of columns.
    pub(super) cells: Vec<Vec<String>>,
}

/// The letter of every refusal. One that a stored table knows already keeps its letter, so that a new one does not change all lines.
pub(super) fn legend(stored: &str, sections: &[Section]) -> BTreeMap<String, char> {
    let cells = sections
        .iter()
        .flat_map(|section| &section.rows)
        .flat_map(|row| row.cells.iter().flatten());
    let used: BTreeSet<&String> = cells.filter(|cell| *cell != ALLOWED).collect();
    let known = stored.lines().filter_map(|line| {
        let (letter, key) = line.strip_prefix("= ")?.split_once(' ')?;
        Some((key.to_owned(), letter.chars().next()?))
    });
    let mut legend: BTreeMap<String, char> = known.filter(|(key, _)| used.contains(key)).collect();
    let taken: BTreeSet<char> = legend.values().copied().collect();
    let mut free = LETTERS.chars().filter(|letter| !taken.contains(letter));
    for key in used {
        if !legend.contains_key(key) {
            let letter = free.next().expect("as many letters as refusals");
            legend.insert(key.clone(), letter);
        }
    }
    legend
}

/// The whole text: what the columns are, the legend, and the sections.
pub(super) fn text(head: &str, sections: &[Section], stored: &str) -> String {
    let legend = legend(stored, sections);
    let mut letters: Vec<(char, &String)> = legend.iter().map(|(key, at)| (*at, key)).collect();
    letters.sort_unstable();
    let mut text = head.to_owned();
    text += &format!("= {DOT} {ALLOWED}\n");
    for (letter, key) in letters {
        text += &format!("= {letter} {key}\n");
    }
    let mut blocks: Vec<(String, Vec<&str>)> = Vec::new();
    for section in sections {
        let lines = section.lines(&legend);
        match blocks.iter_mut().find(|(known, _)| *known == lines) {
            Some((_, names)) => names.push(&section.name),
            None => blocks.push((lines, vec![&section.name])),
        }
    }
    for (lines, names) in blocks {
        text += "\n";
        for name in names {
            text += &format!("{HEADING}{name}\n");
        }
        text += &lines;
    }
    text
}

impl Section {
    /// A line for each pattern with the kinds that have it.
    fn lines(&self, legend: &BTreeMap<String, char>) -> String {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let pattern = row.pattern(legend);
            match lines.iter_mut().find(|(known, _)| *known == pattern) {
                Some((_, names)) => names.push(&row.name),
                None => lines.push((pattern, vec![&row.name])),
            }
        }
        let all = lines.len() == 1;
        let line = |(pattern, names): (String, Vec<&str>)| match all {
            true => format!("{pattern}  every kind\n"),
            false => format!("{pattern}  {}\n", grouped(names).join(" ")),
        };
        lines.into_iter().map(line).collect()
    }
}

/// The kinds with the name of a group in the place of its members, where all of them are there.
fn grouped(mut names: Vec<&str>) -> Vec<&str> {
    for (group, members) in GROUPS {
        if members.iter().all(|member| names.contains(member)) {
            let first = names.iter().position(|name| members.contains(name));
            names[first.expect("a member")] = group;
            names.retain(|name| !members.contains(name));
        }
    }
    names
}

impl Row {
    /// The letters of all cells, or one where all are the same.
    fn pattern(&self, legend: &BTreeMap<String, char>) -> String {
        let letter = |cell: &String| match &cell[..] {
            ALLOWED => DOT,
            key => legend.get(key).copied().unwrap_or('?'),
        };
        let words = self.cells.iter().map(|word| word.iter().map(letter));
        let words: Vec<String> = words.map(Iterator::collect).collect();
        let words = words.join(" ");
        let mut cells = self.cells.iter().flatten();
        match cells.next() {
            Some(first) if cells.all(|cell| cell == first) => format!("all {}", letter(first)),
            _ => words,
        }
    }
}

/// The lines of each section that only one of two tables has, `-` for the second.
pub(super) fn differences(found: &str, stored: &str) -> Vec<String> {
    let (found, stored) = (by_section(found), by_section(stored));
    let names: BTreeSet<&String> = found.keys().chain(stored.keys()).collect();
    let none = BTreeSet::new();
    let mut all = Vec::new();
    for name in names {
        let of = |table: &'_ BTreeMap<String, BTreeSet<String>>| {
            table.get(name).unwrap_or(&none).clone()
        };
        let (found, stored) = (of(&found), of(&stored));
        all.extend(
            stored
                .difference(&found)
                .map(|line| format!("{name}: - {line}")),
        );
        all.extend(
            found
                .difference(&stored)
                .map(|line| format!("{name}: + {line}")),
        );
    }
    all
}

/// The lines of every section by its name; the legend has the name `legend`.
fn by_section(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut found = BTreeMap::new();
    for block in text.split("\n\n") {
        let (names, lines): (Vec<&str>, Vec<&str>) =
            block.lines().partition(|line| line.starts_with(HEADING));
        let lines: BTreeSet<String> = lines.into_iter().map(str::to_owned).collect();
        let names = names.iter().map(|name| name.trim_start_matches(HEADING));
        let names: Vec<&str> = names.collect();
        let names = if names.is_empty() {
            vec!["legend"]
        } else {
            names
        };
        found.extend(
            names
                .into_iter()
                .map(|name| (name.to_owned(), lines.clone())),
        );
    }
    found
}
