//! Item degrees that decide what is published: stated where they do, and in no file that may be published.

use serde_json::Value;
use undertone::engine::Silent;
use undertone::run::receipt::Receipt;
use undertone::run::run;
use undertone::scenario::Experiment;

use super::{experiment, log};

const SOME: &[&str] = &["recommender={method=\"auto\",items=5}"];
const FLOOR: &[&str] = &["recommender={method=\"auto\",items=15,degree_floor=\"auto\"}"];

fn receipt(log: &[(usize, usize)], set: &[&str]) -> Receipt {
    let report = run(&experiment(log, set), &mut Silent).expect("runs");
    report.receipt
}

/// As it is written to its file.
fn json(receipt: &Receipt) -> Value {
    serde_json::to_value(receipt).expect("writable")
}

/// Which findings fail of a receipt that is read from this.
fn failures(receipt: &Value) -> Vec<String> {
    let read: Receipt = serde_json::from_value(receipt.clone()).expect("readable");
    let findings = read.check().expect("checkable");
    let failed = findings.into_iter().filter(|finding| !finding.agrees);
    failed.map(|finding| finding.what).collect()
}

/// What data decide: the items, and the floor.
fn decided(experiment: &Experiment) -> (Vec<String>, u32) {
    let items = experiment.interactions();
    let names = (0..items.items()).map(|item| items.item_name(item).to_owned());
    (names.collect(), experiment.config().data.degree_floor())
}

/// Takes interactions with the fifth most rated item away until one more decides other items, or another floor: two neighbours.
fn neighbours(mut log: Vec<(usize, usize)>, set: &[&str]) -> [Receipt; 2] {
    let decided = |log: &[(usize, usize)]| decided(&experiment(log, set));
    let before = decided(&log);
    loop {
        let mut degrees = [0; 15];
        log.iter().for_each(|line| degrees[line.1] += 1);
        let mut order: Vec<usize> = (0..15).collect();
        order.sort_by_key(|&item| std::cmp::Reverse(degrees[item]));
        let last = log.iter().rposition(|line| line.1 == order[4]);
        let mut less = log.clone();
        less.remove(last.expect("taken by somebody"));
        if decided(&less) != before {
            return [log, less].map(|log| receipt(&log, set));
        }
        log = less;
    }
}

/// Users with 12 to 15 items: floors above the least.
fn dense() -> Vec<(usize, usize)> {
    let of_user = |user: usize| (0..12 + user % 4).map(move |item| (user, (item + user) % 15));
    (0..40).flat_map(of_user).collect()
}

#[test]
fn a_receipt_does_not_deny_that_the_data_chose_items_and_floor() {
    for (log, set) in [(log(), SOME), (dense(), FLOOR)] {
        let [before, after] = neighbours(log, set);
        let decided = |one: &Receipt| (one.item_list.clone(), one.promise.bounds.degree_floor());
        assert_ne!(decided(&before), decided(&after), "{set:?}");
        for receipt in [before, after] {
            let list = receipt.item_list.as_ref().expect("stated");
            let source = serde_json::to_value(list.source).expect("a name");
            assert_eq!(source, "most-rated-of-file");
            let said = receipt.assumptions.join("\n");
            assert!(!said.contains("had no part"), "{said}");
            assert!(said.contains("the scores of the recommender"), "{said}");
            assert!(said.contains("assumed public"), "{said}");
            assert_eq!(failures(&json(&receipt)), Vec::<String>::new());
        }
    }
}

#[test]
fn every_use_of_degrees_is_an_assumption_that_a_check_insists_on() {
    let power = ["algorithm.kind=power", "algorithm.iterations=2"];
    let popular = [power[0], power[1], "algorithm.start=popularity"];
    let weighted = [power[0], power[1], "algorithm.precondition=items"];
    for (set, sentences) in [
        (&[][..], 2),
        (SOME, 3),
        (FLOOR, 3),
        (&popular, 3),
        (&weighted, 3),
    ] {
        let honest = json(&receipt(&log(), set));
        assert_eq!(failures(&honest), Vec::<String>::new(), "{set:?}");
        let stated = honest["assumptions"].as_array().expect("a list");
        assert_eq!(stated.len(), sentences, "{stated:?}");
        for gone in 0..sentences {
            let mut less = honest.clone();
            less["assumptions"]
                .as_array_mut()
                .expect("a list")
                .remove(gone);
            let found = failures(&less);
            assert!(!found.is_empty() && found.iter().all(|what| what.starts_with("assumptions[")));
        }
        let mut more = honest.clone();
        let list = more["assumptions"].as_array_mut().expect("a list");
        list.push("the moon is public".into());
        let last = honest["assumptions"].as_array().expect("a list").len();
        assert_eq!(failures(&more), [format!("assumptions[{last}]")]);
    }
}

#[test]
fn what_calls_for_an_assumption_cannot_be_changed_alone() {
    let popular = ["algorithm.kind=power", "algorithm.start=popularity"];
    for (set, key, wrong) in [
        (SOME, "/assumed/recommender", Value::Bool(false)),
        (SOME, "/item_list/source", "file".into()),
        (SOME, "/item_list/source", "data".into()),
        (&popular, "/assumed/start", "random".into()),
        (&[], "/assumed/start", "popularity".into()),
        (&[], "/item_list/source", "most-rated-of-file".into()),
    ] {
        let mut receipt = json(&receipt(&log(), set));
        *receipt.pointer_mut(key).expect("stated") = wrong.clone();
        assert!(!failures(&receipt).is_empty(), "{key} = {wrong}");
    }
}

#[test]
fn files_with_exact_degrees_are_not_for_publication() {
    let report = run(&experiment(&log(), SOME), &mut Silent).expect("runs");
    let files = report.summary.not_for_publication.files;
    for name in ["items.csv", "catalogue.csv"] {
        assert!(files.contains(&name), "{name}");
    }
}
