//! What `cargo package` would publish: all that the crate needs, nothing that may not be passed on, and little enough.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::support::repository;

/// What a registry takes, in bytes, and what is left for headers and paths.
const LARGEST: usize = 10 << 20;

/// Terms under which data may be in a package of this crate's licence.
const FREE: &str = "Licensed under CC BY 4.0";

/// The files of this package of the workspace, or nothing where this is no repository; and what cargo warns of.
fn listed(package: &str) -> Option<(BTreeSet<String>, String)> {
    if !repository(".git").exists() {
        crate::support::skipped("this is no repository: what would be packaged is not known");
        return None;
    }
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let output = Command::new(cargo)
        .args(["package", "--list", "--allow-dirty", "--offline"])
        .args(["--package", package])
        .current_dir(repository(""))
        .output()
        .expect("cargo runs");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    let (files, warnings) = (text(output.stdout), text(output.stderr));
    assert!(output.status.success(), "{warnings}");
    Some((files.lines().map(str::to_owned).collect(), warnings))
}

/// Data sets whose terms this package's licence cannot pass on: their folders, with what lies in them besides the terms.
fn unfree() -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for folder in fs::read_dir(repository("sims/data")).expect("readable") {
        let folder = folder.expect("readable").path();
        let terms = fs::read_to_string(folder.join("README.txt"));
        let terms = terms
            .unwrap_or_else(|_| panic!("{}: README.txt says under which terms", folder.display()));
        // Lines break where they must.
        let words: Vec<&str> = terms.split_whitespace().collect();
        if words.join(" ").contains(FREE) {
            continue;
        }
        let name = folder
            .file_name()
            .expect("named")
            .to_string_lossy()
            .into_owned();
        let files = fs::read_dir(&folder).expect("readable");
        let files = files.map(|file| {
            file.expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        });
        let files = files.filter(|file| file != "README.txt").collect();
        found.push((name, files));
    }
    found
}

#[test]
fn the_package_is_complete_small_and_without_data_of_other_terms() {
    let Some((files, warnings)) = listed("undertone") else {
        return;
    };
    assert!(!warnings.contains("warning"), "{warnings}");
    let unfree = unfree();
    assert!(!unfree.is_empty(), "MovieLens has terms of its own");
    for (folder, names) in &unfree {
        for name in names {
            let path = format!("sims/data/{folder}/{name}");
            assert!(
                !files.contains(&path),
                "{path} may not be passed on under this crate's licence: exclude it in Cargo.toml"
            );
        }
        let terms = format!("sims/data/{folder}/README.txt");
        assert!(files.contains(&terms), "{terms} says where to get the data");
    }
    for needed in [
        "LICENSE",
        "README.md",
        "docs/README.md",
        "src/live/page.html",
        "src/guide/pictures/live.links",
        "sims/quickstart.toml",
        "sims/data/digits/digits.csv.gz",
        "topologies/ATTRIBUTION.md",
    ] {
        assert!(files.contains(needed), "{needed} is missing");
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    for file in &files {
        // Some are made by cargo.
        if let Ok(bytes) = fs::read(repository(file)) {
            packed.write_all(&bytes).expect("memory");
            // A header of an archive, and what fills its last block.
            packed.write_all(&[0; 1024]).expect("memory");
        }
    }
    let bytes = packed.finish().expect("memory").len();
    assert!(bytes < LARGEST, "{bytes} bytes packed");
    assert!(bytes > 1 << 20, "{bytes} bytes are not all of it");
}

/// The crates below are packages of their own, with licence and a page that says what they are for.
#[test]
fn the_packages_of_the_other_crates_are_complete() {
    for name in ["privacy", "core", "papers", "node"] {
        let Some((files, warnings)) = listed(&format!("undertone-{name}")) else {
            return;
        };
        assert!(!warnings.contains("warning"), "{warnings}");
        for needed in ["LICENSE", "README.md", "src/lib.rs"] {
            assert!(files.contains(needed), "{name}: {needed} is missing");
        }
        let licence =
            |folder: &str| fs::read(repository(folder).join("LICENSE")).expect("readable");
        assert_eq!(licence(&format!("crates/{name}")), licence(""), "{name}");
    }
}

/// Whoever has the package and not the repository is told where the data are.
#[cfg(feature = "cli")]
#[test]
fn a_run_without_the_data_says_where_they_are_from() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("sims")).expect("writable");
    let sims = fs::read_dir(repository("sims")).expect("readable");
    let mut tried = 0;
    for sim in sims {
        let path = sim.expect("readable").path();
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let left_out = unfree()
            .iter()
            .any(|(folder, _)| text.contains(&format!("path = \"data/{folder}/")));
        if path.extension().is_none_or(|ending| ending != "toml") || !left_out {
            continue;
        }
        let name = path
            .file_name()
            .expect("named")
            .to_string_lossy()
            .into_owned();
        // Studies leave out what is missing, and say so.
        if text.contains("[study]") {
            continue;
        }
        tried += 1;
        fs::write(folder.path().join("sims").join(&name), &text).expect("writable");
        let ran =
            crate::support::command::undertone_in(folder.path(), &["run", &format!("sims/{name}")]);
        assert_eq!(ran.code, Some(2), "{name}: {}", ran.stderr);
        for part in [
            "there is no file",
            "to obtain it: ",
            "grouplens.org/datasets/movielens/latest",
            "set data.path",
        ] {
            assert!(ran.stderr.contains(part), "{name}: {}", ran.stderr);
        }
    }
    assert!(tried > 10, "{tried}");
}
