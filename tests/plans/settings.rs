//! Plans of experiment files, and of the two sessions of an experiment whose algorithm is chosen.

use std::fs;
use std::path::Path;

use undertone::campaign::auto::Auto;
use undertone::config::{Config, read_config};

use super::facts::of_experiment;
use super::lists::{BASES, Base};
use crate::support::experiments::{resolve, sims};
use crate::support::repository;

/// The word that a setting names a file by, the file's name, and what is in it.
type NamedFile = (&'static str, &'static str, fn() -> String);

/// Files that settings name.
const FILES: [NamedFile; 3] = [
    ("TABLE", "table.csv", table),
    ("ITEMS", "items.txt", || {
        "i4\ni1\ni0\ni2\nnobody\n".to_owned()
    }),
    ("USERS", "users.txt", || {
        "u7\nu0\nu2\nu1\nu3\nnobody\n".to_owned()
    }),
];

/// Eight users with some of six items, at four peers.
fn table() -> String {
    let mut text = "user,item,rating,peer\n".to_owned();
    for user in 0..8 {
        for item in (0..6).filter(|item| (user + item * item + user * item) % 3 != 1) {
            text += &format!(
                "u{user},i{item},{},{}\n",
                1 + (3 * user + item) % 5,
                user % 4
            );
        }
    }
    text
}

fn config(base: &Base, set: &str, folder: &Path) -> Config {
    let named = |key: &str| {
        FILES.iter().fold(key.to_owned(), |key, (word, file, _)| {
            key.replace(word, &format!("\"{}\"", folder.join(file).display()))
        })
    };
    let keys = base.set.split(';').chain(set.split(';'));
    let keys: Vec<String> = keys.filter(|key| !key.is_empty()).map(named).collect();
    let mut config = read_config(&repository(base.file), &keys)
        .unwrap_or_else(|error| panic!("{}, {set}: {error}", base.name));
    config.sweep = None;
    config
}

/// A folder with the files that settings name.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (_, file, text) in FILES {
        fs::write(folder.path().join(file), text()).expect("writable");
    }
    folder
}

/// The configuration of a setting of this name, with further keys.
#[cfg(feature = "cli")]
pub(crate) fn named(name: &str, more: &str) -> Config {
    let of_base = |base: &&Base| name.starts_with(&format!("{}: ", base.name));
    let base = BASES.iter().find(of_base).expect("a base");
    let of_change = |one: &&(&str, &str)| name == format!("{}: {}", base.name, one.0);
    let change = base.changes.iter().find(of_change).expect("a change");
    config(base, &format!("{};{more}", change.1), folder().path())
}

pub(super) fn found() -> Vec<(String, Vec<String>)> {
    let folder = folder();
    let (mut all, mut refused) = (Vec::new(), Vec::new());
    for base in &BASES {
        for (name, set) in base.changes {
            let name = format!("{}: {name}", base.name);
            match resolve(config(base, set, folder.path())) {
                Ok(experiment) => all.push((name, of_experiment(&experiment))),
                Err(error) => refused.push(format!("{name}: {error}")),
            }
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    let open = "algorithm={kind=\"auto\",rank=2};pilot={share=0.1}";
    let auto = Auto::new(config(&BASES[0], open, folder.path()), &sims()).expect("valid");
    let pilot = auto.pilot().expect("of a tenth");
    all.push(("auto: pilot".to_owned(), of_experiment(pilot)));
    all.push(("auto: the rest".to_owned(), of_experiment(auto.ground())));
    all
}
