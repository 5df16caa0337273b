//! Receipts of schema 3 that were written once and are kept in `tests/receipts`: of every kind of algorithm, every noise, rows in memory, an algorithm of one's
//! own, a pilot and a node's session.
//!
//! Every one holds, one broken field of each group is found in each, and hostile numbers are refused.
//! Who changes the layout on purpose writes all but those of nodes again with `UNDERTONE_RECEIPTS=write cargo test --test main -- receipts::`, and copies
//! `member-0/result/receipt.json` of a session of nodes by hand.

mod broken;
mod own;
mod written;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use undertone::privacy::OwnRules;
use undertone::run::receipt::{Finding, Receipt, ReceiptError};

use crate::support::receipts::{general, numbers, standing};
use crate::support::repository;
use broken::broken;

/// Where they are.
const FOLDER: &str = "tests/receipts/stored";

/// How many there are, at least.
const STORED: usize = 24;

/// The receipts by the names of their files, in that order.
fn stored() -> Vec<(String, Value)> {
    let folder = fs::read_dir(repository(FOLDER)).expect("a folder");
    let mut paths: Vec<PathBuf> = folder
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy();
        let text = fs::read(path).expect("readable");
        let value = serde_json::from_slice(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        (name.into_owned(), value)
    };
    paths.iter().map(read).collect()
}

/// What a check with the bound of the one algorithm of one's own says.
fn checked(receipt: &Value) -> Result<Vec<Finding>, ReceiptError> {
    let bytes = receipt.to_string().into_bytes();
    let read = Receipt::parse(Path::new("a receipt"), &bytes)?;
    read.check_with(&OwnRules::none().with::<own::OnePerPerson>())
}

/// What does not hold.
fn failures(receipt: &Value) -> Vec<String> {
    let findings = checked(receipt).unwrap_or_else(|error| panic!("{error}"));
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

#[test]
fn receipts_are_written_as_they_are_stored() {
    if std::env::var("UNDERTONE_RECEIPTS").is_ok_and(|asked| asked == "write") {
        for (name, receipt) in written::all() {
            let text = serde_json::to_string(&receipt).expect("writable") + "\n";
            fs::write(repository(FOLDER).join(name + ".json"), text).expect("writable");
        }
    }
    let stored = stored();
    assert!(stored.len() >= STORED, "{}", stored.len());
    // One of files and one of rows in memory are written anew: the rest is what every run makes.
    for (name, receipt) in [written::of_file("power"), written::own()] {
        let kept = stored.iter().find(|one| one.0 == name).expect("stored");
        let made = serde_json::to_value(&receipt).expect("writable");
        let keys = |value: &Value| -> Vec<String> {
            value
                .as_object()
                .expect("a table")
                .keys()
                .cloned()
                .collect()
        };
        assert_eq!(keys(&made), keys(&kept.1), "{name}");
        assert_eq!(made["program"], kept.1["program"], "{name}");
        assert_eq!(made["promise"], kept.1["promise"], "{name}");
    }
}

#[test]
fn every_stored_receipt_holds_and_every_field_of_it_has_a_line() {
    for (name, receipt) in stored() {
        assert_eq!(failures(&receipt), Vec::<String>::new(), "{name}");
        for path in numbers(&receipt, "") {
            assert!(standing(&general(&path)).is_some(), "{name}: {path}");
        }
        let size = receipt.to_string().len();
        assert!(size < 32_000, "{name}: {size} bytes");
    }
}

#[test]
fn one_broken_field_of_each_group_is_found_in_each() {
    let mut groups = std::collections::BTreeMap::<&str, usize>::new();
    for (name, receipt) in stored() {
        for (group, path, changed) in broken(&receipt) {
            assert_ne!(changed, receipt, "{name}, {group}: nothing changed");
            let failed = failures(&changed);
            let named = failed.iter().any(|what| what.starts_with(path));
            assert!(named, "{name}, {group}: {path} is not among {failed:?}");
            *groups.entry(group).or_default() += 1;
        }
    }
    for group in [
        "assumed",
        "assumptions",
        "guarantee",
        "item_list",
        "partners",
        "pilot",
        "preconditioning",
        "program",
        "promise",
        "realised",
        "releases",
        "runner",
        "statement",
        "choice",
    ] {
        assert!(
            groups.get(group).is_some_and(|found| *found > 0),
            "{group}: {groups:?}"
        );
    }
}

#[test]
fn schemas_of_development_builds_are_refused_by_name() {
    let (_, receipt) = stored().swap_remove(0);
    for schema in [1, 2] {
        let mut older = receipt.clone();
        older["schema"] = schema.into();
        // Whatever else they had.
        for older in [
            older,
            json!({"schema": schema, "request": {"algorithm": "power"}}),
        ] {
            let refused = checked(&older).expect_err("refused").to_string();
            for words in [
                format!("schema {schema}"),
                "made by a development build; run the experiment again".to_owned(),
            ] {
                assert!(refused.contains(&words), "{refused}");
            }
        }
    }
    for schema in [0, 4, u32::MAX] {
        let mut other = receipt.clone();
        other["schema"] = schema.into();
        let refused = checked(&other).expect_err("refused").to_string();
        assert!(
            refused.contains(&format!("schema {schema}; this build checks schema 3")),
            "{refused}"
        );
    }
}

#[test]
fn a_quantity_of_one_s_own_is_refused_in_words_without_its_bound() {
    let all = stored();
    let (_, receipt) = all.iter().find(|one| one.0 == "own").expect("stored");
    let read: Receipt = serde_json::from_value(receipt.clone()).expect("readable");
    let refused = read
        .check()
        .expect_err("nobody here has its bound")
        .to_string();
    for words in [
        "program: releases[0].first.blocks[1].quantity",
        "the number of rows that are not empty",
        "Receipt::check_with",
    ] {
        assert!(refused.contains(words), "{refused}");
    }
    // A bound of another adjacency, or half the bound, is found.
    let of_others = OwnRules::none().with::<own::OnePerReplaced>();
    let refused = read
        .check_with(&of_others)
        .expect_err("of another adjacency");
    assert!(refused.to_string().contains("own"), "{refused}");
}

/// Receipts of which every number is replaced: of every law, with all that a receipt can have.
const REPLACED: [&str; 8] = [
    "chosen",
    "graph",
    "laplace-holders",
    "own",
    "private-mean",
    "raked",
    "ring",
    "wishart",
];

/// Every number that decides anything is replaced by numbers that none has: it is found or refused, or nothing depends on it, in little time and without much memory.
#[test]
fn hostile_numbers_are_refused_or_found_without_making_anything_of_their_size() {
    let hostile = [
        json!(1e300),
        json!(-1e300),
        json!(1e-300),
        json!(0),
        json!(-1),
        json!(u32::MAX),
        json!(u64::MAX),
        json!("NaN"),
        Value::Null,
        json!([]),
    ];
    let mut tried = 0;
    for (name, receipt) in stored() {
        if !REPLACED.contains(&name.as_str()) {
            continue;
        }
        // One number of every field, and of what is compared and never planned from, none.
        let mut paths = numbers(&receipt, "");
        paths.retain(|path| !path.contains("/guarantee/"));
        paths.dedup_by_key(|path| general(path));
        for path in paths {
            for value in &hostile {
                let mut changed = receipt.clone();
                *changed.pointer_mut(&path).expect("a leaf") = value.clone();
                let begun = Instant::now();
                drop(checked(&changed));
                let taken = begun.elapsed();
                assert!(
                    taken < Duration::from_secs(10),
                    "{name}: {path} = {value}: {taken:?}"
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 1_000, "{tried}");
    // What is only announced is refused before it is made.
    let all = stored();
    let (_, power) = all.iter().find(|one| one.0 == "power").expect("stored");
    for (path, value, words) in [
        (
            "/partners/nodes",
            json!(4_000_000_000_u64),
            "takes on 1 to 100000",
        ),
        ("/partners/nodes", json!(99_999), "cannot be connected"),
        (
            "/program/releases/0/count",
            json!(u64::MAX),
            "a check takes on",
        ),
        (
            "/program/releases/0/count",
            json!(100_001),
            "a check takes on",
        ),
        ("/program/items", json!(u64::MAX), "a check takes on"),
        ("/program/items", json!(-3), "invalid value"),
        ("/promise/epsilon", json!("NaN"), "invalid type"),
        ("/promise/epsilon", json!(-1.0), "epsilon"),
        ("/promise/delta", json!(1e300), "delta"),
        (
            "/promise/losses",
            json!({"tolerate": 1, "retries": 4_000_000}),
            "a session has at most",
        ),
        ("/promise/part", json!(1.0), "above 0 and below 1"),
        ("/releases", json!([]), "takes on 1 to 100000"),
    ] {
        let mut changed = power.clone();
        match changed.pointer_mut(path) {
            Some(leaf) => *leaf = value,
            None => {
                let (table, key) = path.rsplit_once('/').expect("a path");
                changed.pointer_mut(table).expect("a table")[key] = value;
            }
        }
        let refused = checked(&changed).expect_err(path).to_string();
        let source = format!("{refused}{}", sources(&changed));
        assert!(source.contains(words), "{path}: {source}");
    }
}

/// The causes of an error, in words.
fn sources(receipt: &Value) -> String {
    let Err(error) = checked(receipt) else {
        return String::new();
    };
    let mut words = String::new();
    let mut source = std::error::Error::source(&error);
    while let Some(cause) = source {
        words += &format!(": {cause}");
        source = cause.source();
    }
    words
}
