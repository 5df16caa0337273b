//! What every candidate did on a set, kept in files, so that a rule of choice can be changed without running candidates again.
//!
//! `UNDERTONE_ADVICE_TABLES=FOLDER` names the folder; without it nothing is kept. A table is of one set, rank, ε and share of the budget. It holds no rows of the
//! data, but exact errors on them: nothing that is private in earnest goes in. Whoever changes what candidates do (`ground.rs`, the algorithms) empties the folder.

use std::io::Write;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Candidates of a cell with the errors of every run.
#[derive(Serialize, Deserialize)]
pub(super) struct Table {
    /// What they are called.
    pub(super) names: Vec<String>,
    /// What the busiest peer sends.
    pub(super) bytes: Vec<u64>,
    /// Of every candidate, run by run.
    pub(super) errors: Vec<Vec<f64>>,
}

/// What was predicted of the candidates of a cell.
#[derive(Serialize, Deserialize)]
pub(super) struct Predictions {
    /// Of every candidate stand-in by stand-in, in the order of the table; none of those that were not near the best.
    pub(super) errors: Vec<Vec<f64>>,
}

fn folder() -> Option<PathBuf> {
    std::env::var_os("UNDERTONE_ADVICE_TABLES").map(PathBuf::from)
}

/// A name for a file.
pub(super) fn key(set: &str, rank: usize, epsilon: f64, what: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let set: String = set.chars().map(plain).collect();
    format!("{set}.{rank}.{epsilon}.{what}")
}

/// What was kept under this name, if it can be read.
pub(super) fn kept<T: for<'a> Deserialize<'a>>(key: &str) -> Option<T> {
    let bytes = std::fs::read(folder()?.join(format!("{key}.json"))).ok()?;
    serde_json::from_slice(&bytes).ok()
}

/// Keeps it.
pub(super) fn keep<T: Serialize>(key: &str, what: &T) {
    let Some(folder) = folder() else { return };
    std::fs::create_dir_all(&folder).expect("a folder");
    let bytes = serde_json::to_vec(what).expect("JSON");
    let path = folder.join(format!("{key}.json"));
    let part = folder.join(format!("{key}.part"));
    std::fs::write(&part, bytes).expect("written");
    std::fs::rename(part, path).expect("renamed");
}

/// A line under what has been measured so far, so that a run that is cut short leaves all that it finished.
pub(super) fn line(text: &str) {
    println!("{text}");
    let Some(folder) = folder() else { return };
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut file = std::fs::OpenOptions::new();
    let file = file
        .create(true)
        .append(true)
        .open(folder.join("cases.txt"));
    writeln!(file.expect("a file"), "{text}").expect("written");
}
