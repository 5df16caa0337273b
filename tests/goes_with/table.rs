//! The table as text: rows of a section that are equal share a line, and every refusal is a letter.

use std::collections::{BTreeMap, BTreeSet};

/// What a cell says that is not refused.
pub(super) const ALLOWED: &str = "allowed";

/// Its letter.
const DOT: char = '.';

/// Letters of refusals, in the order in which they are given.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+*#@%&=!$~<>";

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
    for section in sections {
        text += &section.text(&legend);
    }
    text
}

impl Section {
    /// A heading, and a line for each pattern with the kinds that have it.
    fn text(&self, legend: &BTreeMap<String, char>) -> String {
        let mut lines: Vec<(String, Vec<&str>)> = Vec::new();
        for row in &self.rows {
            let pattern = row.pattern(legend);
            match lines.iter_mut().find(|(known, _)| *known == pattern) {
                Some((_, names)) => names.push(&row.name),
                None => lines.push((pattern, vec![&row.name])),
            }
        }
        let mut text = format!("\n{}\n", self.name);
        let all = lines.len() == 1;
        for (pattern, names) in lines {
            let names = match all {
                true => "every kind".to_owned(),
                false => names.join(" "),
            };
            text += &format!("{pattern}  {names}\n");
        }
        text
    }
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

/// The lines that only one of two tables has, under the headings of their sections.
pub(super) fn differences(found: &str, stored: &str) -> Vec<String> {
    let lines = |text: &str| {
        let mut section = "legend".to_owned();
        let mut lines = Vec::new();
        for block in text.split("\n\n").enumerate() {
            let mut of_block = block.1.lines();
            if block.0 > 0 {
                section = of_block.next().unwrap_or_default().to_owned();
            }
            lines.extend(of_block.map(|line| format!("{section}: {line}")));
        }
        lines
    };
    let (found, stored) = (lines(found), lines(stored));
    let only = |of: &[String], other: &[String], sign: &str| {
        let other: BTreeSet<&String> = other.iter().collect();
        let of = of.iter().filter(|line| !other.contains(line));
        of.map(|line| format!("{sign} {line}")).collect::<Vec<_>>()
    };
    let mut all = only(&stored, &found, "-");
    all.extend(only(&found, &stored, "+"));
    all
}
