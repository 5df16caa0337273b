//! Who is dealt to whom: by the order of the data, by a public list of users, by hashes of their names, or by a column of the data.

use std::collections::BTreeMap;

use nalgebra::DMatrix;
use undertone::engine::Silent;
use undertone::privacy::{Delta, gaussian};
use undertone::run::run;
use undertone::scenario::{Experiment, MemoryPlan};

use super::{ITEMS, config, experiment, folder, log};
use crate::support::told;

/// The ways to say who is dealt to whom.
const BY_DATA: &[&str] = &[];
const BY_FILE: &[&str] = &["data.users_file=users.txt"];
const BY_HASH: &[&str] = &["peers.partition=hashed"];
const BY_COLUMN: &[&str] = &[
    "data.format=table",
    "data.path=placed.csv",
    "data.columns={peer=\"peer\"}",
];

fn refused(set: &[&str]) -> String {
    let folder = folder(&log());
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    told(&Experiment::load(&folder.path().join("file.toml"), &set).expect_err("refused"))
}

/// The upper triangle of every peer's matrix: peers × values.
fn contributed(experiment: &Experiment) -> DMatrix<f64> {
    let peers = experiment.peer_rows().len();
    let mut out = DMatrix::zeros(peers, ITEMS * ITEMS);
    for (peer, rows) in experiment.peer_rows().iter().enumerate() {
        for row in 0..rows.len() {
            let (items, values) = rows.row(row);
            for (i, x) in items.iter().zip(values) {
                for (j, y) in items.iter().zip(values).filter(|(j, _)| *j >= i) {
                    out[(peer, *i as usize * ITEMS + *j as usize)] += x * y;
                }
            }
        }
    }
    out
}

/// What an outside observer of everything that peers publish learns of one line more: ε stated, and ε of these two logs.
fn losses(logs: [&[(usize, usize)]; 2], set: &[&str]) -> [f64; 2] {
    let [a, b] = logs.map(|log| experiment(log, set));
    let peers = a.peer_rows().len();
    let noise = a.noise();
    let (own, pairwise) = (noise.sigma_own().powi(2), noise.sigma_pairwise().powi(2));
    let mut covariance = DMatrix::identity(peers, peers) * own;
    for (u, v) in a.noise_topology().graph().edge_list() {
        let (u, v) = (u as usize, v as usize);
        covariance[(u, u)] += pairwise;
        covariance[(v, v)] += pairwise;
        covariance[(u, v)] -= pairwise;
        covariance[(v, u)] -= pairwise;
    }
    let moved = (contributed(&a) - contributed(&b)) / a.sensitivity().bound(1.0);
    let solved = covariance.cholesky().expect("positive").solve(&moved);
    let mu = moved.dot(&solved).sqrt();
    let delta = Delta::new(1e-5).expect("below 1");
    let outside = &a.noise().views()[0];
    assert_eq!(outside.colluders, 0);
    [outside.epsilon, gaussian::epsilon(mu, delta)]
}

#[test]
fn one_line_of_a_log_costs_what_is_stated_where_a_list_or_a_hash_deals_users() {
    let log = log();
    let logs = [&log[..], &log[1..]];
    // Numbered by the data, user 0 comes later in one of them and everybody else moves to another peer: an assumption says so.
    let [stated, lost] = losses(logs, BY_DATA);
    eprintln!("by the data: {lost} where {stated} is stated");
    assert!(lost > 1.3 * stated, "{lost} {stated}");
    let each = ["peers.count=users", BY_FILE[0]];
    let listed_and_hashed = [BY_FILE[0], BY_HASH[0]];
    for set in [BY_FILE, BY_HASH, BY_COLUMN, &each, &listed_and_hashed] {
        let [stated, lost] = losses(logs, set);
        eprintln!("{set:?}: {lost} where {stated} is stated");
        assert!(lost > 0.0 && lost <= stated, "{set:?}: {lost} {stated}");
    }
}

#[test]
fn receipts_say_what_is_assumed_of_users() {
    let mut said = BTreeMap::new();
    for (name, set) in [
        ("data", BY_DATA),
        ("file", BY_FILE),
        ("hashed", BY_HASH),
        ("column", BY_COLUMN),
    ] {
        let report = run(&experiment(&log(), set), &mut Silent).expect("runs");
        let receipt = report.receipt;
        let text = serde_json::to_value(&receipt).expect("writable");
        assert_eq!(text["assumed"]["users"], name);
        let agree = |findings: Vec<undertone::run::receipt::Finding>| {
            findings.iter().all(|finding| finding.agrees)
        };
        assert!(agree(receipt.check().expect("checkable")), "{name}");
        said.insert(name, receipt);
    }
    let words = |name: &str| said[name].assumptions[0].clone();
    assert!(words("data").contains("numbered as the data first name them"));
    assert!(words("file").contains("a file of its own, which is public"));
    assert!(words("hashed").contains("a hash of that user's own name"));
    assert!(words("column").contains("which users are at which peer are assumed public"));
    // The assumption of one goes with no other.
    for (name, other) in [
        ("data", "file"),
        ("file", "hashed"),
        ("hashed", "column"),
        ("column", "data"),
    ] {
        let mut wrong = said[name].clone();
        wrong.assumptions[0] = words(other);
        let findings = wrong.check().expect("checkable");
        assert!(findings.iter().any(|finding| !finding.agrees), "{name}");
        let mut wrong = said[name].clone();
        wrong.assumed.users = said[other].assumed.users;
        let findings = wrong.check().expect("checkable");
        assert!(findings.iter().any(|finding| !finding.agrees), "{name}");
    }
}

#[test]
fn with_hashes_a_user_more_or_less_changes_one_peer_and_nothing_that_is_said() {
    let log = log();
    let without = |gone: usize| -> Vec<(usize, usize)> {
        log.iter().copied().filter(|line| line.0 != gone).collect()
    };
    // More peers than users leave some without any.
    for peers in [8, 60] {
        let peers = format!("peers.count={peers}");
        let set = [
            BY_HASH[0],
            "privacy.adjacency=user",
            "privacy.delta=0.025",
            &peers,
        ];
        let all = experiment(&log, &set);
        for gone in [0, 7, 39] {
            let less = experiment(&without(gone), &set);
            let pairs = all.peer_rows().iter().zip(less.peer_rows().iter());
            let changed: Vec<_> = pairs.filter(|(a, b)| a != b).collect();
            assert_eq!(changed.len(), 1, "{gone}");
            assert_eq!(changed[0].0.len(), changed[0].1.len() + 1);
            let said = |one: &Experiment| -> Vec<String> {
                one.warnings().iter().map(ToString::to_string).collect()
            };
            // δ · 40 is 1: a warning would tell 40 users from 39.
            assert_eq!(said(&all), said(&less));
            let public = |one: &Experiment| MemoryPlan::of(one).public();
            assert_eq!(public(&all), public(&less));
        }
        run(&all, &mut Silent).expect("peers without users contribute noise");
    }
    assert_eq!(all_rows(&experiment(&log, BY_HASH)), 40);
}

fn all_rows(experiment: &Experiment) -> usize {
    experiment.peer_rows().iter().map(|rows| rows.len()).sum()
}

#[test]
fn users_outside_the_list_are_left_out_and_move_nothing() {
    let mut log = log();
    let before = run(&experiment(&log, BY_FILE), &mut Silent).expect("runs");
    log.splice(0..0, [(77, 3), (78, 4)]);
    log.push((79, 5));
    let listed = experiment(&log, BY_FILE);
    assert_eq!((listed.data().users, listed.data().users_dropped), (40, 3));
    let after = run(&listed, &mut Silent).expect("runs");
    assert_eq!(before.outcome.basis(), after.outcome.basis());
    assert_eq!(before.receipt, after.receipt);
    // A user of the list of whom there is no line takes part with an empty row.
    log.retain(|line| line.0 != 5);
    let fewer = experiment(&log, BY_FILE);
    assert_eq!((fewer.data().users, fewer.data().users_unknown), (40, 1));
    let hash = fewer.config().data.users_hash().expect("filled in");
    let stated = format!("data.users_hash={hash}");
    experiment(&log, &[BY_FILE[0], &stated]);
}

#[test]
fn lists_and_settings_that_do_not_go_together_are_refused_by_name() {
    let hash = BY_HASH[0];
    for (set, words) in [
        (&[BY_FILE[0], "data.users_hash=00ff"][..], "users_hash"),
        (&["data.users_hash=00ff"], "users_file, which is missing"),
        (&["data.users_file=none.txt"], "none.txt"),
        (&[BY_FILE[0], "peers.count=41"], "41 peers for 40 users"),
        (&[hash, "peers.count=users"], "peers.count"),
        (&[hash, "peers.sizes=[5,5,5,5,5,5,5,5]"], "peers.sizes"),
        (&[hash, "noise.scheme=ring"], "data.users_file"),
        (
            &[
                hash,
                "algorithm.kind=clipped-power",
                "algorithm.clip=histogram",
            ],
            "algorithm.clip",
        ),
        (&[hash, "recommender={method=\"auto\"}"], "recommender"),
        (
            &["data={path=\"a.csv\",format=\"matrix-csv\",row_clip=1.0,users_file=\"users.txt\"}"],
            "users_file is about rating files",
        ),
        (
            &[
                "data={path=\"a.csv\",format=\"matrix-csv\",row_clip=1.0}",
                hash,
            ],
            "without names to hash",
        ),
        (
            &[
                "data={path=\"a.csv\",format=\"graph\",users_file=\"users.txt\"}",
                "peers.count=vertices",
                "privacy.adjacency=edge",
            ],
            "users_file is about ratings",
        ),
    ] {
        let said = refused(set);
        assert!(said.contains(words), "{set:?}: {said}");
    }
    // With a list the number of users is public again.
    experiment(&log(), &[hash, BY_FILE[0], "noise.scheme=ring"]);
}

#[test]
fn whether_a_test_file_knows_a_user_decides_an_exit_code_only_where_users_are_public() {
    let folder = folder(&log());
    std::fs::write(folder.path().join("test.csv"), "user,item\nnobody,i3\n").expect("writable");
    let resolve = |set: &[&str]| {
        let set = [set, &["evaluation.test=test.csv"]].concat();
        Experiment::resolve(config(folder.path(), &set), folder.path())
    };
    for public in [BY_DATA, BY_FILE] {
        let refused = resolve(public).expect_err("other users");
        assert!(refused.to_string().contains("[evaluation]"), "{refused}");
    }
    let experiment = resolve(BY_HASH).expect("who takes part is private");
    run(&experiment, &mut Silent).expect("runs");
}
