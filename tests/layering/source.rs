//! A source file with comments and literals blanked out.

use std::fs;

use super::blanked::blanked;
use crate::support::repository;

/// One file.
pub(super) struct Source {
    /// Relative to the repository, with forward slashes.
    pub(super) path: String,
    place: String,
    /// The code, comments and the insides of literals removed.
    pub(super) code: String,
    /// Lines as written.
    pub(super) lines: usize,
    /// Lines as written up to the file's own test module.
    pub(super) lines_before_tests: usize,
}

/// Names of modules that hold tests only, as files or folders.
pub(super) const TEST_FOLDERS: [&str; 4] = ["tests", "testing", "attacks", "hostile"];

/// `src/…` of this file. The crate of papers is one layer, and so a folder.
fn place(path: &str) -> String {
    match path.strip_prefix("crates/papers/src/") {
        Some("lib.rs") => "src/papers/mod.rs".to_owned(),
        Some(file) => format!("src/papers/{file}"),
        None => {
            let inner = path.strip_prefix("crates/");
            let inner = inner.and_then(|path| path.split_once('/'));
            inner.map_or(path, |(_, place)| place).to_owned()
        }
    }
}

impl Source {
    pub(super) fn new(path: &str, text: &str) -> Self {
        Self {
            path: path.to_owned(),
            place: place(path),
            code: blanked(text),
            lines: text.lines().count(),
            lines_before_tests: lines_before_tests(text),
        }
    }

    /// Where it is in its crate: `src/…`. A layer has one name, whichever crate it is in.
    pub(super) fn place(&self) -> &str {
        &self.place
    }

    /// The layer it belongs to: `src/LAYER/…`.
    pub(super) fn layer(&self) -> Option<&str> {
        let (layer, _) = self.place().strip_prefix("src/")?.split_once('/')?;
        Some(layer)
    }

    /// Whether the whole file is compiled for tests only, by the names this repository uses.
    pub(super) fn is_test_file(&self) -> bool {
        let names = TEST_FOLDERS;
        let parts = self.place().trim_end_matches(".rs").split('/');
        // `undertone::testing` is for tests of others, behind a feature.
        let is_public = self.path == "src/testing.rs";
        !is_public
            && (parts.skip(1).any(|part| names.contains(&part))
                || TEST_ONLY.contains(&self.place()))
    }

    /// The same without items under `#[cfg(test)]`.
    pub(super) fn without_tests(&self) -> Self {
        self.without("#[cfg(test)]")
    }

    /// This source without items that only builds for tests have, of this crate or, by the feature `testing`, of another.
    pub(super) fn without_testing(&self) -> Self {
        // The name of the feature is blanked.
        self.without_tests()
            .without("#[cfg(any(test, feature =  ))]")
    }

    /// This source without items under this attribute.
    fn without(&self, attribute: &str) -> Self {
        let mut code = self.code.clone();
        while let Some(start) = code.find(attribute) {
            let end = item_end(&code, start + attribute.len());
            code.replace_range(start..end, " ");
        }
        Self {
            path: self.path.clone(),
            place: self.place.clone(),
            code,
            lines: self.lines,
            lines_before_tests: self.lines_before_tests,
        }
    }

    /// The modules from the crate's root to this file, by name.
    pub(super) fn module(&self) -> Vec<String> {
        let inner = self
            .place()
            .trim_start_matches("src/")
            .trim_end_matches(".rs");
        let parts = inner
            .split('/')
            .filter(|part| !["mod", "lib"].contains(part));
        parts.map(str::to_owned).collect()
    }
}

/// Lines before the module of tests that ends a file.
fn lines_before_tests(text: &str) -> usize {
    let own = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    text[..own].lines().count()
}

/// Files that a `#[cfg(test)] mod …;` elsewhere compiles for tests only.
const TEST_ONLY: [&str; 4] = [
    "src/privacy/accountant/account_tests.rs",
    "src/privacy/accountant/bounds/scale.rs",
    "src/topology/collection.rs",
    "src/topology/files/zoo.rs",
];

/// Every source of the workspace's crates, but for the roots of those that others stand on: they name the layers in them.
pub(super) fn read_crates() -> Vec<Source> {
    let mut sources = read_all("src");
    let below = read_all("crates").into_iter();
    sources.extend(below.filter(|source| source.layer().is_some()));
    sources
}

/// Every `.rs` file below a folder of the repository but what cargo has built; none if it does not exist.
pub(super) fn read_all(folder: &str) -> Vec<Source> {
    let mut sources = Vec::new();
    let mut open = vec![repository(folder)];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(&next).into_iter().flatten() {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                if !path.ends_with("target") {
                    open.push(path);
                }
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

/// Where the item at `body`, behind an attribute, ends: behind its `;`, `,` or matching brace.
fn item_end(code: &str, body: usize) -> usize {
    let mut depth = 0_usize;
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
