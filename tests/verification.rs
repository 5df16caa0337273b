//! `verify` as users put it into their own tests: a graph of their own, the library call, pass or fail.

use undertone::assess::verification::{Verification, VerifyOptions, verify};
use undertone::engine::SessionError;
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::scenario::{AveragingTableError, Experiment, ExperimentError};
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
    // One record is an interaction here, and no row.
    let [only] = table.skipped.as_slice() else {
        panic!("{:?}", table.skipped);
    };
    assert!(only.starts_with("record: "), "{only}");
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

fn verifies(case: Case, scheme: AveragingKind, set: &[&str]) {
    let experiment = resolve(config(case, scheme, set)).expect("resolves");
    let table = verify(&experiment, OPTIONS, &mut Silent).expect("runs");
    let failures: Vec<_> = table.failures().collect();
    let about = format!("{}, {scheme:?}, {set:?}", case.name);
    assert!(table.passed(), "{about}: {failures:?}");
    let algebra = table.checks.iter().filter(|check| check.kind == "algebra");
    assert_eq!(algebra.count(), 3, "{about}");
}

/// Chebyshev gossip and one more scheme each, in turn.
#[test]
fn every_topology_verifies() {
    for (number, case) in CASES.into_iter().enumerate() {
        let others = case
            .schemes()
            .filter(|scheme| *scheme != AveragingKind::Chebyshev);
        let others: Vec<AveragingKind> = others.collect();
        verifies(case, AveragingKind::Chebyshev, &[]);
        verifies(case, others[number % others.len()], &[]);
    }
}

/// A graph that has the edges for every scheme.
const CUBE: Case = Case {
    name: "hypercube-16",
    peers: 16,
    topology: r#"{generator = "hypercube"}"#,
    colluders: 1,
};

/// Every scheme with f64, f32 and integers mod 2^32: it verifies, or is refused with what to change.
#[test]
fn every_scheme_verifies_with_all_numbers_that_it_takes_and_refuses_the_others() {
    let plain: &[&str] = &[];
    let turns: &[&str] = &["averaging.fan_in=2", "averaging.rotate=3"];
    let schemes = AveragingKind::all().map(|scheme| (scheme, plain));
    let (mut verified, mut refused) = (0, Vec::new());
    for (scheme, options) in schemes.chain([(AveragingKind::Tree, turns)]) {
        for numbers in [plain, &["averaging.values=f32"], &["noise.scheme=ring"]] {
            let set = [options, numbers].concat();
            match resolve(config(CUBE, scheme, &set)) {
                Ok(_) => {
                    verifies(CUBE, scheme, &set);
                    verified += 1;
                }
                Err(ExperimentError::Averaging(AveragingTableError::Ring)) => {
                    refused.push((scheme.name(), "ring"));
                }
                Err(ExperimentError::Session(SessionError::MassValues { .. })) => {
                    refused.push((scheme.name(), "f32"));
                }
                Err(other) => panic!("{scheme:?}, {set:?}: {other}"),
            }
        }
    }
    // Two kinds of gossip take reals of either width, three exact settings integers too, and those that pass mass f64 alone.
    assert_eq!(verified, 2 * 2 + 3 * 3 + 2);
    let expected = [
        ("linear", "ring"),
        ("chebyshev", "ring"),
        ("push-sum", "f32"),
        ("push-sum", "ring"),
        ("pairwise", "f32"),
        ("pairwise", "ring"),
    ];
    assert_eq!(refused, expected);
    let set = ["averaging.values=f32", "noise.scheme=ring"];
    let both = resolve(config(CUBE, AveragingKind::Tree, &set)).expect_err("integers are no reals");
    assert!(both.to_string().contains("averaging.values"), "{both}");
}

/// What is planned for loss verifies while a fifth of the messages never arrive.
#[test]
fn averaging_that_survives_loss_verifies_with_it() {
    for scheme in [AveragingKind::PushSum, AveragingKind::Pairwise] {
        let lossy = ["engine.kind=event", "engine.loss=0.2"];
        verifies(
            CUBE,
            scheme,
            &[&lossy[..], &["averaging.tolerance=1e-7"]].concat(),
        );
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
        let runs: [&[&str]; 5] = [
            &[],
            &["averaging={scheme=\"pairwise\"}"],
            &["averaging={scheme=\"doubling\"}", "noise.scheme=ring"],
            &["averaging={scheme=\"tree\", rotate=2, values=\"f32\"}"],
            &["averaging={scheme=\"push-sum\"}"],
        ];
        for (case, set) in CASES.iter().zip(runs) {
            let (code, json) = verify(*case, set);
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
