//! The analytic engine as users meet it.

use undertone::assess::verification::{Verification, VerifyOptions, verify};
use undertone::config::EngineKind;
use undertone::engine::Silent;
use undertone::protocol::averaging::AveragingKind;
use undertone::run::run;
use undertone::scenario::{EngineTableError, Experiment, ExperimentError};

use crate::support::experiments::{CASES, Case, config, engine, on_engine, resolve};

/// Nine checks at 1e-4 each on six graphs: a correct engine fails with probability below 1e-2; the seed is fixed.
const OPTIONS: VerifyOptions = VerifyOptions {
    runs: 10,
    significance: 1e-4,
};

fn experiment(case: Case, set: &[&str]) -> Experiment {
    let set = [&["engine.kind=analytic", "engine.probes=4"], set].concat();
    let config = config(case, AveragingKind::Chebyshev, &set);
    resolve(config).expect("resolves")
}

fn verified(case: Case, set: &[&str]) -> Verification {
    verify(&experiment(case, set), OPTIONS, &mut Silent).expect("runs")
}

#[test]
fn it_verifies_on_every_topology_and_fails_when_averaging_stops_early() {
    for case in CASES.iter().take(6) {
        let table = verified(*case, &[]);
        let failures: Vec<_> = table.failures().collect();
        assert!(table.passed(), "{}: {failures:?}", case.name);
        assert!(
            table.skipped.iter().any(|line| line.contains("algebra")),
            "nobody published anything: {:?}",
            table.skipped
        );
    }
    let table = verified(CASES[3], &["averaging.rounds=2"]);
    assert!(table.failures().any(|check| check.kind == "law"));
}

#[test]
fn a_report_says_what_is_approximate_and_what_all_peers_would_send() {
    let ours = experiment(CASES[0], &[]);
    let report = run(&ours, &mut Silent).expect("runs");
    let summary = &report.summary;
    assert_eq!(summary.engine, "analytic");
    let notes: Vec<String> = summary.warnings.iter().map(ToString::to_string).collect();
    let notes = notes.join("\n");
    assert!(notes.contains("4 probe peers") && notes.contains("approximated"));
    let bound = summary.consensus.approximation.expect("averaging is tight");
    assert!(bound > 0.0 && bound < 1e-3, "{bound:e}");
    assert!(summary.consensus.max_disagreement <= summary.consensus.guaranteed);
    let real = run(&on_engine(&ours, engine(EngineKind::Lockstep)), &mut Silent).expect("runs");
    assert_eq!(summary.communication, real.summary.communication);
    assert_eq!(real.summary.consensus.approximation, None);
}

#[test]
fn numbers_of_probes_that_cannot_be_drawn_are_refused_with_the_range() {
    for probes in [0, 65, 12] {
        let set = [
            "engine.kind=analytic".to_owned(),
            format!("engine.probes={probes}"),
        ];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        let config = config(CASES[2], AveragingKind::Chebyshev, &set);
        let peers = CASES[2].peers;
        let error = resolve(config).expect_err("refused");
        assert!(
            matches!(error, ExperimentError::Engine(EngineTableError::Probes { found, most }) if found == probes && most == peers),
            "{error}"
        );
        assert!(error.to_string().contains("[engine] probes"), "{error}");
    }
}
