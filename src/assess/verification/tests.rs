//! Verification of healthy plans and of plans broken on purpose.
//!
//! Healthy plans fail with probability at most 1e-3 per table; the seeds are fixed.

mod clipping;
mod coordinates;
mod laplace;
mod pair;
mod record;
mod ring;
mod runners;
mod wishart;

use std::sync::Arc;

use super::{Verification, VerifyOptions, verify, verify_sessions};
use crate::algorithm::{Algorithm, Covariance, PowerMethod};
use crate::engine::Silent;
use crate::engine::noise::Defect;
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::protocol::{SessionPlan, SessionPlanError};
use crate::scenario::Experiment;
use crate::scenario::testing::sim;
use crate::vocabulary::ReleaseId;

/// The embedded ratings dealt to 16 peers on a random 4-regular graph.
fn experiment(set: &[&str]) -> Experiment {
    let small = [
        "peers.count=16",
        "topology.degree=4",
        "data.items=100",
        "averaging.tolerance=1e-10",
        "seed=11",
    ];
    sim("../tests/power.toml", &[&small, set].concat()).expect("resolves")
}

fn broken(defect: Defect, set: &[&str]) -> Verification {
    let prepare = move |session: crate::engine::Session| session.with_defect(defect);
    verify_sessions(
        &experiment(set),
        VerifyOptions::default(),
        &prepare,
        &mut Silent,
    )
    .expect("runs")
}

fn failed(table: &Verification) -> Vec<&str> {
    table.failures().map(|check| check.name.as_str()).collect()
}

fn assert_fails(table: &Verification, needles: &[&str]) {
    assert!(!table.passed());
    for needle in needles {
        let names = failed(table);
        assert!(
            names.iter().any(|name| name.contains(needle)),
            "{needle} not among the failures {names:?}"
        );
    }
}

#[test]
fn a_healthy_plan_passes() {
    let table = verify(&experiment(&[]), VerifyOptions::default(), &mut Silent).expect("runs");
    assert!(table.passed(), "{:?}", failed(&table));
    assert_eq!((table.checks.len(), table.skipped.len()), (21, 1));
}

#[test]
fn halved_own_noise_is_caught_by_the_algebra_and_by_the_law() {
    for set in [
        "engine.kind=lockstep",
        "engine.kind=event",
        "averaging.values=f32",
    ] {
        let table = broken(Defect::HalveOwnNoise, &[set]);
        assert_fails(&table, &["published - local", "mean square", "Kolmogorov"]);
    }
}

#[test]
fn a_flipped_pairwise_sign_is_caught_by_the_algebra_and_by_the_law() {
    for engine in ["engine.kind=lockstep", "engine.kind=event"] {
        let table = broken(Defect::FlipPairwiseSign, &[engine]);
        assert_fails(&table, &["published - local", "mean square", "Kolmogorov"]);
    }
}

#[test]
fn a_reused_stream_is_caught_by_the_algebra_and_by_the_correlation_of_iterations() {
    for engine in ["engine.kind=lockstep", "engine.kind=event"] {
        let table = broken(Defect::ReuseStream, &[engine]);
        assert_fails(&table, &["published - local", "consecutive iterations"]);
    }
}

#[test]
fn one_peer_without_own_noise_is_caught_by_the_algebra_and_by_the_variance() {
    for set in [
        "engine.kind=lockstep",
        "engine.kind=event",
        "averaging.values=f32",
    ] {
        let table = broken(Defect::DropPeerNoise, &[set]);
        assert_fails(&table, &["published - local", "mean square"]);
    }
}

#[test]
fn a_sensitivity_below_what_the_basis_calls_for_is_caught() {
    // All peers agree on a plan whose degree floor is not that of the data.
    let prepare = |session: crate::engine::Session| {
        let mut parameters = session.plan().parameters().clone();
        parameters.sensitivity =
            SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 200, None);
        let plan = session.plan().with(parameters).expect("valid");
        session.with_plan(plan).expect("fits")
    };
    let experiment = experiment(&[]);
    let table = verify_sessions(&experiment, VerifyOptions::default(), &prepare, &mut Silent)
        .expect("runs");
    assert_fails(&table, &["sensitivity used", "mean square"]);
}

#[test]
fn every_scheme_and_engine_states_what_is_spent() {
    let options = VerifyOptions {
        runs: 8,
        ..VerifyOptions::default()
    };
    for set in [
        &["noise.scheme=local"] as &[&str],
        &["noise.scheme=local", "engine.kind=event"],
        &["engine.kind=federated", "noise.scheme=independent"],
        &["engine.kind=central"],
        &["engine.kind=event"],
        &["privacy.colluders=0"],
        &["privacy.colluders=2", "topology.degree=8"],
    ] {
        let table = verify(&experiment(set), options, &mut Silent).expect("runs");
        assert!(
            table.checks.iter().any(|check| check.kind == "spent"),
            "{set:?}"
        );
        assert!(table.passed(), "{set:?}: {:?}", failed(&table));
    }
}

#[test]
fn a_plan_without_a_view_of_its_coalition_fails() {
    let mut experiment = experiment(&[]);
    experiment
        .noise_mut()
        .retain_views(|view| view.colluders == 0);
    let options = VerifyOptions {
        runs: 8,
        ..VerifyOptions::default()
    };
    let table = verify(&experiment, options, &mut Silent).expect("runs");
    assert_fails(&table, &["no view covers 1 colluders"]);
}

#[test]
fn a_utility_test_that_could_not_fail_is_skipped() {
    let options = VerifyOptions {
        runs: 5,
        ..VerifyOptions::default()
    };
    let table = verify(&experiment(&[]), options, &mut Silent).expect("runs");
    let is_told = |reason: &String| reason.contains("use more --runs");
    assert!(table.skipped.iter().any(is_told), "{:?}", table.skipped);
    let broken = experiment(&["averaging.rounds=1", "averaging.scheme=linear"]);
    let table = verify(
        &broken,
        VerifyOptions {
            runs: 40,
            ..options
        },
        &mut Silent,
    )
    .expect("runs");
    assert_fails(&table, &["P(subspace error"]);
}

#[test]
fn averaging_that_stops_too_early_is_caught_by_the_law() {
    let table = verify(
        &experiment(&["averaging.rounds=4"]),
        VerifyOptions::default(),
        &mut Silent,
    )
    .expect("runs");
    assert_fails(&table, &["mean square"]);
}

#[test]
fn a_calibration_that_overspends_is_caught() {
    let set = ["privacy.calibration=paper", "privacy.epsilon=60"];
    let experiment = experiment(&set);
    assert!(
        experiment.warnings()[0]
            .to_string()
            .contains("spends epsilon"),
        "{:?}",
        experiment.warnings()
    );
    let table = verify(&experiment, VerifyOptions::default(), &mut Silent).expect("runs");
    assert_fails(&table, &["epsilon against one curious peer"]);
}

#[test]
fn without_noise_only_the_algebra_and_utility_are_checked() {
    let table = verify(
        &experiment(&["noise.scheme=none"]),
        VerifyOptions::default(),
        &mut Silent,
    )
    .expect("runs");
    assert!(table.passed(), "{:?}", failed(&table));
    assert!(
        table
            .checks
            .iter()
            .all(|check| check.kind == "algebra" || check.kind == "utility")
    );
}

#[test]
fn the_federated_and_central_engines_verify_too() {
    for set in [
        &["engine.kind=federated", "noise.scheme=independent"],
        &["engine.kind=central", "seed=4"],
    ] {
        let table = verify(&experiment(set), VerifyOptions::default(), &mut Silent).expect("runs");
        assert!(table.passed(), "{set:?}: {:?}", failed(&table));
    }
}

/// Weights of which the noise knows nothing, and a plan that spends more than they allow.
#[test]
fn an_uneven_budget_verifies_and_noise_that_ignores_it_is_caught() {
    let set = ["privacy.budget=[4, 1, 1]"];
    let experiment = experiment(&set);
    let table = verify(&experiment, VerifyOptions::default(), &mut Silent).expect("runs");
    assert!(table.passed(), "{:?}", failed(&table));
    assert_eq!(table.checks.len(), 22);
    let ignored = |session: crate::engine::Session| {
        let mut parameters = session.plan().parameters().clone();
        parameters.noise_factors.clear();
        let plan = session
            .plan()
            .with(parameters)
            .expect("an even budget is valid");
        session.with_plan(plan).expect("fits")
    };
    for engine in ["engine.kind=lockstep", "engine.kind=central"] {
        let experiment = self::experiment(&[set[0], engine]);
        let table = verify_sessions(&experiment, VerifyOptions::default(), &ignored, &mut Silent)
            .expect("runs");
        assert_fails(&table, &["one iteration"]);
        if engine.contains("lockstep") {
            assert_fails(&table, &["published - local", "Kolmogorov"]);
        }
    }
    // The factors of the weights without those weights' share of the others: the accounting of SessionPlan::new.
    let session = experiment.session(&crate::vocabulary::Seed::from_u64(1));
    let mut parameters = session.plan().parameters().clone();
    parameters.noise_factors = vec![parameters.noise_factors[0]; 3];
    let refused = session.plan().with(parameters);
    assert!(
        matches!(refused, Err(SessionPlanError::Overspent { found, .. }) if (found - 6.0).abs() < 1e-9),
        "{refused:?}"
    );
}

#[test]
fn every_account_adds_up_the_iterations_as_they_are() {
    let even = experiment(&[]);
    let split = experiment(&["privacy.budget=[4, 1, 1]"]);
    assert_eq!(
        even.noise().views(),
        split.noise().views(),
        "the same in total"
    );
    assert!((split.even_iterations() - 3.0).abs() < 1e-12);
    // mu^2 of iteration l is v / f_l^2: 2, 1/2 and 1/2 of an even iteration's.
    let shares: Vec<f64> = (1..=3)
        .map(|l| split.noise_factor(ReleaseId(l)).powi(-2))
        .collect();
    for (share, expected) in shares.iter().zip([2.0, 0.5, 0.5]) {
        assert!((share - expected).abs() < 1e-12);
        let stated = split.release_noise(ReleaseId(1), 1.0).sigma_own;
        assert!((stated - split.noise().sigma_own() * shares[0].powf(-0.5)).abs() < 1e-12);
    }
    let costs = |experiment: &Experiment| {
        crate::assess::peer_costs::peer_costs(experiment, &["1".to_owned()]).expect("accountable")
    };
    for (a, b) in costs(&even).iter().zip(&costs(&split)) {
        assert!((a.mu / b.mu - 1.0).abs() < 1e-12);
    }
    // An account that forgot the factors of an overspending plan would not move.
    let mut overspent = split.clone();
    overspent.set_noise_factors(vec![0.5; 3]);
    let ratio = costs(&overspent)[0].mu / costs(&split)[0].mu;
    assert!((ratio - 2.0).abs() < 1e-12, "{ratio}");
}

const ALGORITHMS: [&[&str]; 4] = [
    &[
        "algorithm.kind=covariance",
        "algorithm.iterations=1",
        "data.items=60",
    ],
    &["algorithm.kind=krylov", "algorithm.block=6"],
    &[
        "algorithm.kind=momentum",
        "algorithm.momentum=1",
        "algorithm.start=popularity",
        "privacy.budget=[1, 2, 1]",
    ],
    &[
        "algorithm.kind=deflation",
        "algorithm.rank=2",
        "algorithm.iterations=1",
    ],
];

#[test]
fn other_algorithms_verify_and_their_mutations_are_caught() {
    for (number, set) in ALGORITHMS.into_iter().enumerate() {
        for engine in ["engine.kind=lockstep", "engine.kind=event"] {
            if number >= 2 && engine == "engine.kind=event" {
                continue;
            }
            let set = [set, &[engine]].concat();
            let table = verify(&experiment(&set), VerifyOptions::default(), &mut Silent);
            let table = table.expect("runs");
            assert!(table.passed(), "{set:?}: {:?}", failed(&table));
            // Deflation releases single columns: too few numbers for the law of all peers to see that one is without noise.
            let of_one = match set.contains(&"algorithm.kind=deflation") {
                true => "least likely own noise of one peer",
                false => "mean square",
            };
            for (defect, by_law) in [
                (Defect::HalveOwnNoise, "mean square"),
                (Defect::FlipPairwiseSign, "mean square"),
                (Defect::DropPeerNoise, of_one),
            ] {
                assert_fails(&broken(defect, &set), &["published - local", by_law]);
            }
        }
    }
}

#[test]
fn a_plan_has_the_bound_of_what_it_releases_and_of_nothing_else() {
    let session = experiment(ALGORITHMS[0]).session(&crate::vocabulary::Seed::from_u64(1));
    let bound = |plan: &SessionPlan| plan.releases()[0].terms(0.1).sensitivity;
    assert_eq!(bound(session.plan()), 20.0_f64.sqrt().recip());
    // The same request for a product is answered with another bound.
    let mut parameters = session.plan().parameters().clone();
    let (items, rank) = (parameters.program.items, parameters.program.rank);
    let power = PowerMethod::new(items, rank, 1).expect("valid");
    parameters.program = Arc::new(power.program());
    parameters.scale_rounds = 5;
    let of_product = SessionPlan::new(parameters.clone(), Arc::new(power)).expect("valid");
    assert!(bound(&of_product) < bound(session.plan()));
    // What no bound is proved for has no plan.
    let rule = SensitivityRule::RowNorm;
    let covariance = Covariance::new(items, rank).expect("valid");
    parameters.program = Arc::new(covariance.program());
    parameters.sensitivity = SensitivitySpec::new(Adjacency::Interaction, rule, 20, None);
    let refused =
        SessionPlan::new(parameters, Arc::new(covariance)).expect_err("no bound is proved");
    assert!(refused.to_string().contains("is proved for"), "{refused}");
}

#[test]
fn a_significance_under_which_nothing_could_fail_is_refused() {
    let experiment = experiment(&[]);
    for significance in [0.0, -1.0, 1.0, f64::NAN] {
        let options = VerifyOptions {
            runs: 2,
            significance,
        };
        let refused = verify(&experiment, options, &mut Silent);
        assert!(matches!(
            refused,
            Err(crate::assess::verification::VerifyError::Significance { .. })
        ));
    }
}
