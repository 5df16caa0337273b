//! A folder with a small experiment of its own, gone when dropped.

use std::fs;
use std::path::PathBuf;

use super::command::{Finished, undertone_in};
use super::repository;

/// A temporary folder with `sims/sim.toml`, its ratings, and some topologies.
pub(crate) struct Scratch {
    folder: tempfile::TempDir,
}

/// 40 users, 30 items, 8 peers on a random 4-regular graph; every section is spelt out.
pub(crate) const SIM: &str = r#"name = "small"
seed = 3

[data]
path = "ratings.csv"
format = "csv-triples"
items = 20
degree_floor = 5

[peers]
count = 8

[topology]
generator = "random-regular"
degree = 4
seed = 1

[algorithm]
kind = "power"
rank = 3
iterations = 2

[privacy]
epsilon = 2.0
delta = 1e-5
adjacency = "interaction"

[averaging]
scheme = "chebyshev"
tolerance = 1e-9
"#;

impl Scratch {
    /// The folder, filled.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let scratch = Self { folder };
        fs::create_dir(scratch.path("sims")).expect("writable");
        scratch.write("sims/sim.toml", SIM);
        scratch.write("sims/ratings.csv", &ratings());
        scratch.write("sims/pieces.edges", "0 1\n1 2\n3 4\n4 5\n5 6\n6 7\n");
        for name in ["karate.toml", "karate.edges"] {
            let from = repository("topologies").join(name);
            fs::copy(from, scratch.path("sims").join(name)).expect("a readable topology");
        }
        scratch
    }

    /// A path inside.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file inside.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a writable folder");
    }

    /// Reads a file inside.
    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs `undertone` in this folder with space-separated arguments.
    pub(crate) fn undertone(&self, arguments: &str) -> Finished {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        undertone_in(self.folder.path(), &arguments)
    }
}

/// Every user rates eight items of thirty, spread by a fixed rule; some items are popular.
fn ratings() -> String {
    let mut csv = String::from("user,item,rating\n");
    for user in 0..40_usize {
        let mut items: Vec<usize> = (0..8)
            .map(|k| (user * 7 + k * k * (1 + user % 3)) % 30)
            .collect();
        items.sort_unstable();
        items.dedup();
        for item in items {
            csv.push_str(&format!("u{user},i{item},{}\n", 1 + (user + item) % 5));
        }
    }
    csv
}
