//! A source file with comments and literals blanked out, and the module paths it names.

use std::fs;

use super::blanked::blanked;
use crate::support::repository;

/// One file.
pub(super) struct Source {
    /// Relative to the repository, with forward slashes.
    pub(super) path: String,
    /// The code, comments and the insides of literals removed.
    pub(super) code: String,
    /// Lines as written.
    pub(super) lines: usize,
}

/// Names of modules that hold tests only, as files or folders.
pub(super) const TEST_FOLDERS: [&str; 3] = ["tests", "testing", "attacks"];

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            code: blanked(text),
            lines: text.lines().count(),
        }
    }

    /// The layer it belongs to: `src/LAYER/…`.
    pub(super) fn layer(&self) -> Option<&str> {
        let (layer, _) = self.path.strip_prefix("src/")?.split_once('/')?;
        Some(layer)
    }

    /// Whether the whole file is compiled for tests only, by the names this repository uses.
    pub(super) fn is_test_file(&self) -> bool {
        let names = TEST_FOLDERS;
        let parts = self.path.trim_end_matches(".rs").split('/');
        parts.skip(1).any(|part| names.contains(&part)) || TEST_ONLY.contains(&self.path.as_str())
    }

    /// The same without items under `#[cfg(test)]`.
    pub(super) fn without_tests(&self) -> Self {
        let mut code = self.code.clone();
        while let Some(start) = code.find("#[cfg(test)]") {
            let end = item_end(&code, start);
            code.replace_range(start..end, " ");
        }
        Self {
            path: self.path.clone(),
            code,
            lines: self.lines,
        }
    }

    /// Modules from the crate's root to this file.
    fn depth(&self) -> usize {
        let inner = self.path.trim_start_matches("src/").trim_end_matches(".rs");
        inner.split('/').filter(|part| *part != "mod").count()
    }
}

/// Files that a `#[cfg(test)] mod …;` elsewhere compiles for tests only.
const TEST_ONLY: [&str; 4] = [
    "src/privacy/accountant/account_tests.rs",
    "src/privacy/accountant/bounds/scale.rs",
    "src/topology/collection.rs",
    "src/topology/files/zoo.rs",
];

/// Every `.rs` file below a folder of the repository; none if it does not exist.
pub(super) fn read_all(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut open = vec![repository(folder)];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                let name = path
                    .strip_prefix(repository(""))
                    .expect("inside")
                    .to_string_lossy();
                let text = fs::read_to_string(&path).expect("readable");
                sources.push(Source::new(&name.replace('\\', "/"), &text));
            }
        }
    }
    sources
}

/// Identifiers.
pub(super) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
}

/// The paths below the crate's root that a source names, each from the layer on: `crate::a::b`,
/// `undertone::a`, groups `crate::{a, b::c}`, and chains of `super` that reach the root.
pub(super) fn layers_named(source: &Source) -> Vec<Vec<String>> {
    let tokens = tokens(&source.code);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let supers = tokens[at..]
            .chunks(2)
            .take_while(|pair| *pair == ["super", "::"])
            .count();
        let next =
            if ["crate", "undertone"].contains(&tokens[at]) && tokens.get(at + 1) == Some(&"::") {
                at + 2
            } else if supers >= source.depth() {
                // Modules inside the file may add levels; then this is the root or above one of them.
                at + 2 * supers
            } else {
                at += (2 * supers).max(1);
                continue;
            };
        at = tree(&tokens, next, &mut Vec::new(), &mut found);
    }
    found
}

/// Reads one use-tree at `at`; pushes each of its leaves below `prefix`; returns where it ends.
fn tree(
    tokens: &[&str],
    mut at: usize,
    prefix: &mut Vec<String>,
    found: &mut Vec<Vec<String>>,
) -> usize {
    let length = prefix.len();
    loop {
        match tokens.get(at) {
            Some(&"{") => {
                at += 1;
                while at < tokens.len() && tokens[at] != "}" {
                    at = tree(tokens, at, prefix, found).max(at + 1);
                    // What follows a leaf: a comma, or `as name`.
                    while at < tokens.len() && tokens[at - 1] != "," && tokens[at] != "}" {
                        at += 1;
                    }
                }
                at += 1;
                break;
            }
            Some(word) if is_word(word) => {
                prefix.push((*word).to_owned());
                at += 1;
                if tokens.get(at) == Some(&"::") {
                    at += 1;
                    continue;
                }
                found.push(prefix.clone());
                break;
            }
            _ => {
                if prefix.len() > length {
                    found.push(prefix.clone());
                }
                break;
            }
        }
    }
    prefix.truncate(length);
    at
}

fn is_word(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || c == '_')
}

/// Words, `::`, and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_'))
            .unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            length => length,
        };
        tokens.push(&rest[..length]);
        rest = rest[length..].trim_start();
    }
    tokens
}

/// Where the item after an attribute at `start` ends: behind its `;`, `,` or matching brace.
fn item_end(code: &str, start: usize) -> usize {
    let mut depth = 0_usize;
    let body = start + "#[cfg(test)]".len();
    for (offset, c) in code[body..].char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' if depth == 0 => return body + offset,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return body + offset + 1;
                }
            }
            ')' | ']' => depth -= 1,
            ';' | ',' if depth == 0 => return body + offset + 1,
            _ => {}
        }
    }
    code.len()
}

#[test]
fn use_trees_are_read_to_their_leaves() {
    let source = Source::new(
        "src/a/b.rs",
        "use crate::{x::{y, z::*}, w as v}; use super::super::q::{r};",
    );
    let named: Vec<String> = layers_named(&source)
        .iter()
        .map(|path| path.join("::"))
        .collect();
    assert_eq!(named, ["x::y", "x::z", "w", "q::r"]);
}
