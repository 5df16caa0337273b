//! `verify` as users put it into their own tests: a graph of their own, the library call, pass or fail.

use undertone::assess::verification::{Verification, VerifyOptions, verify};
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::scenario::Experiment;
use undertone::topology::{Graph, Provenance, Topology};

use crate::support::experiments::{CASES, Case, config, resolve, sims};

/// A correct plan fails with probability at most 1e-3, over the whole table; the seed is fixed.
const OPTIONS: VerifyOptions = VerifyOptions {
    runs: 10,
    significance: 1e-3,
};

/// A wheel with a rim of ten: in none of our files, so the library has never seen it.
fn wheel() -> Topology {
    let rim = (0..10).map(|u| (u, (u + 1) % 10));
    let edges: Vec<_> = rim.chain((0..10).map(|u| (u, 10))).collect();
    let graph = Graph::from_edges(11, &edges).expect("a simple graph");
    Topology::from_graph(graph, Provenance::edges("wheel"))
}

fn on(topology: Topology, set: &[&str]) -> Verification {
    let case = Case {
        peers: topology.graph().nodes(),
        ..CASES[0]
    };
    let config = config(case, AveragingKind::Chebyshev, set);
    let experiment = Experiment::on_topology(config, &sims(), topology).expect("resolves");
    verify(&experiment, OPTIONS, &mut Silent).expect("runs")
}

#[test]
fn the_readme_s_library_call_passes_on_a_graph_of_one_s_own() {
    let table = on(wheel(), &[]);
    assert!(table.passed(), "{:?}", table.failures().collect::<Vec<_>>());
    assert!(table.skipped.is_empty(), "{:?}", table.skipped);
    for kind in ["algebra", "law", "utility", "spent"] {
        assert!(
            table.checks.iter().any(|check| check.kind == kind),
            "no {kind}"
        );
    }
}

#[test]
fn the_same_call_fails_when_averaging_stops_early() {
    let table = on(wheel(), &["averaging.rounds=2"]);
    let kinds: Vec<_> = table.failures().map(|check| check.kind).collect();
    assert!(kinds.contains(&"law"), "{kinds:?}");
}

#[test]
fn a_graph_with_another_number_of_nodes_is_refused_with_the_key_to_change() {
    let config = config(CASES[2], AveragingKind::Chebyshev, &[]);
    let error = Experiment::on_topology(config, &sims(), wheel()).expect_err("10 peers, 11 nodes");
    let text = error.to_string();
    assert!(
        text.contains("10 peers") && text.contains("peers.count = 11"),
        "{text}"
    );
}

#[test]
fn every_topology_verifies() {
    for case in CASES {
        for scheme in case.schemes() {
            let config = config(case, scheme, &[]);
            let experiment = resolve(config).expect("resolves");
            let table = verify(&experiment, OPTIONS, &mut Silent).expect("runs");
            let failures: Vec<_> = table.failures().collect();
            assert!(table.passed(), "{}, {scheme:?}: {failures:?}", case.name);
        }
    }
}

#[cfg(feature = "cli")]
mod on_the_command_line {
    use super::CASES;
    use crate::support::command::undertone;
    use crate::support::repository;

    fn verify(case: super::Case, set: &[&str]) -> (Option<i32>, String) {
        let mut arguments: Vec<String> = vec!["verify".to_owned()];
        arguments.push(repository("tests/power.toml").display().to_string());
        let fixed = [
            "seed=21".to_owned(),
            "data.items=40".to_owned(),
            "algorithm.rank=3".to_owned(),
            format!("peers.count={}", case.peers),
            format!("topology={}", case.topology),
            format!("privacy.colluders={}", case.colluders),
        ];
        for change in fixed.into_iter().chain(set.iter().map(|s| (*s).to_owned())) {
            arguments.extend(["--set".to_owned(), change]);
        }
        arguments.extend(["--runs", "6", "--json"].map(str::to_owned));
        let output = undertone(&arguments);
        (output.code, output.stdout)
    }

    #[test]
    fn a_correct_run_exits_with_0_on_five_topologies() {
        for case in &CASES[..5] {
            let (code, json) = verify(*case, &[]);
            assert_eq!(code, Some(0), "{}: {json}", case.name);
            let table: serde_json::Value = serde_json::from_str(&json).expect("one document");
            assert_eq!(table["passed"], true);
        }
    }

    #[test]
    fn a_failed_check_exits_with_1() {
        let (code, json) = verify(CASES[3], &["averaging.rounds=3"]);
        assert_eq!(code, Some(1), "{json}");
        let table: serde_json::Value = serde_json::from_str(&json).expect("one document");
        assert_eq!(table["passed"], false);
    }
}
