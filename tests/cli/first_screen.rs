//! The first screen of every file in `sims`: twelve lines, and one for each point of a sweep; every word is in the glossary.

use std::fs;
use std::path::Path;

use crate::support::command::undertone;
use crate::support::glossary::{Glossary, names_in, parts_in};
use crate::support::{repository, skipped};

/// Files that run for over ten seconds, in an optimised build.
const SLOW: [&str; 3] = [
    "preconditioned-gowalla",
    "recommender-gowalla",
    "recommender-gowalla-private",
];

/// Sweeps and studies that run for over five seconds with the seeds that are tried, in an optimised build.
const SLOW_OF_MANY: [&str; 9] = [
    "bytes-jester",
    "completion-jester",
    "fig1-jester",
    "fig2-jester",
    "fig3",
    "frontier-jester",
    "frontier-movielens",
    "recommender-gowalla-epsilon",
    "table2",
];

/// Files that are one run, or sweeps and studies, by name.
fn sims(of_many: bool) -> Vec<String> {
    let entries = fs::read_dir(repository("sims")).expect("readable");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let files = paths.filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    let mut names: Vec<String> = files
        .filter(|path| {
            let text = fs::read_to_string(path).expect("readable");
            let table: toml::Table = text.parse().expect("TOML");
            (table.contains_key("sweep") || table.contains_key("study")) == of_many
        })
        .filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    names
}

/// The first file of the experiment's data that is missing.
fn missing(name: &str) -> Option<String> {
    let text = fs::read_to_string(repository(&format!("sims/{name}.toml"))).expect("readable");
    let table: toml::Table = text.parse().expect("TOML");
    let paths = [("data", "path"), ("evaluation", "test")];
    let paths = paths
        .iter()
        .filter_map(|(part, key)| table.get(*part)?.get(*key)?.as_str());
    let mut paths = paths.map(str::to_owned);
    paths.find(|path| !repository("sims").join(path).exists())
}

/// Whether the data of a file are here, and its engine is compiled; says so if not.
fn can_run(name: &str) -> bool {
    let file = format!("sims/{name}.toml");
    if let Some(path) = missing(name) {
        skipped(format_args!("{file}: {path} is missing"));
        return false;
    }
    let text = fs::read_to_string(repository(&file)).expect("readable");
    let needs_node = text.contains("\"swarm\"");
    if needs_node && !cfg!(feature = "node") {
        skipped(format_args!("{file} needs the feature `node`"));
        return false;
    }
    true
}

/// Runs these arguments and checks what is printed; `out` is a folder for the results.
fn check(what: &str, arguments: &[&str], out: &Path) {
    let folder = out.to_str().expect("text");
    let ran = undertone(&[&["run"], arguments, &["--out", folder]].concat());
    assert_eq!(ran.code, Some(0), "{what}: {}", ran.stderr);
    let written = fs::read_to_string(out.join("config.toml")).expect("written");
    let mut names = names_in(&written);
    names.push(out.join("report.html").display().to_string());
    // What was chosen is named by its algorithm and its parameters.
    if let Ok(advice) = fs::read_to_string(out.join("advice.json")) {
        let advice: serde_json::Value = serde_json::from_str(&advice).expect("JSON");
        let chosen = advice["recommended"]["name"].as_str().expect("a name");
        names.extend(chosen.split([' ', ',']).map(str::to_owned));
    }
    Glossary::read().assert_first_screen(what, &ran.stdout, &names);
}

fn check_sims(of_interest: impl Fn(&str) -> bool) {
    for name in sims(false).iter().filter(|name| of_interest(name)) {
        if !can_run(name) {
            continue;
        }
        let out = tempfile::tempdir().expect("a temporary folder");
        check(name, &[&format!("sims/{name}.toml")], out.path());
    }
}

#[test]
fn quick_sims_have_a_first_screen_of_words_that_are_explained() {
    check_sims(|name| !SLOW.contains(&name));
}

#[test]
#[ignore = "takes minutes, and needs Gowalla"]
fn all_sims_have_a_first_screen_of_words_that_are_explained() {
    check_sims(|_| true);
}

/// Runs sweeps and studies with few seeds, and checks what is printed but the headings of a study, which are columns of its file.
fn check_sweeps(of_interest: impl Fn(&str) -> bool) {
    for name in sims(true).iter().filter(|name| of_interest(name)) {
        if !can_run(name) {
            continue;
        }
        let file = format!("sims/{name}.toml");
        let text = fs::read_to_string(repository(&file)).expect("readable");
        let is_sweep = text.contains("[sweep]");
        let out = tempfile::tempdir().expect("a temporary folder");
        let folder = out.path().to_str().expect("text");
        // A comparison of laws takes more seeds: one file has it here.
        let set: &[&str] = match (is_sweep, name == "fig1-small") {
            (false, _) => &[],
            (true, true) => &["--set", "sweep.seeds=8"],
            (true, false) => &["--set", "sweep.seeds=2", "--set", "sweep.coincide=[]"],
        };
        let ran = undertone(&[&["run", &file, "--out", folder], set].concat());
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.stderr);
        let mut names = parts_in(&text);
        let report = out.path().join("report.html").display().to_string();
        names.extend([folder.to_owned(), report]);
        let printed = match is_sweep {
            true => ran.stdout,
            false => {
                let lines = ran.stdout.lines().filter(|line| !line.starts_with("  "));
                lines.collect::<Vec<_>>().join("\n")
            }
        };
        Glossary::read().assert_screen_of_many(&file, &printed, &names);
    }
}

#[test]
fn quick_sweeps_and_studies_have_a_screen_of_words_that_are_explained() {
    check_sweeps(|name| !SLOW_OF_MANY.contains(&name));
}

#[test]
#[ignore = "takes minutes, and needs Jester and Gowalla"]
fn all_sweeps_and_studies_have_a_screen_of_words_that_are_explained() {
    check_sweeps(|_| true);
}

/// Other settings have other lines.
#[test]
fn other_settings_have_a_first_screen_too() {
    let quickstart = [
        "sims/quickstart.toml",
        "--set",
        "peers.count=12",
        "--set",
        "topology.degree=4",
        "--set",
        "data.items=40",
    ];
    for set in [
        &[][..],
        &["noise.scheme=none"],
        &["noise.scheme=local"],
        &["engine.kind=central"],
        &["engine.kind=federated", "noise.scheme=independent"],
        &[
            "noise.distribution=laplace",
            "privacy.delta=0",
            "noise.scheme=independent",
            "engine.kind=federated",
        ],
        &["evaluation.holdout=0.2"],
        &["averaging.rounds=2", "averaging.scheme=linear"],
    ] {
        let mut arguments = quickstart.to_vec();
        arguments.extend(set.iter().flat_map(|set| ["--set", set]));
        let out = tempfile::tempdir().expect("a temporary folder");
        check(&format!("{set:?}"), &arguments, out.path());
    }
}
