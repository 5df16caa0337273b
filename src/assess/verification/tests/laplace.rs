//! Verification of Laplace noise: the law of its sum, and every message against the plan.

use super::{assert_fails, broken, experiment, failed};
use crate::assess::verification::{VerifyOptions, verify, verify_sessions};
use crate::engine::Silent;
use crate::engine::noise::Defect;
use crate::noise::LaplaceShares;

const USER: [&str; 3] = [
    "noise.distribution=laplace",
    "privacy.adjacency=user",
    "privacy.sensitivity=exact",
];
const LOCAL: [&str; 5] = [
    USER[0],
    USER[1],
    USER[2],
    "privacy.delta=0",
    "noise.scheme=local",
];
const HELD: [&str; 5] = [
    USER[0],
    USER[1],
    USER[2],
    "privacy.delta=1e-6",
    "noise.holders=2",
];
const SUMMED: [&str; 5] = [
    USER[0],
    USER[1],
    USER[2],
    "privacy.delta=0",
    "engine.kind=federated",
];
const CURATED: [&str; 5] = [
    USER[0],
    USER[1],
    USER[2],
    "privacy.delta=0",
    "engine.kind=central",
];

const LAW: &str = "sum of Laplace shares";

#[test]
fn healthy_plans_pass() {
    let options = VerifyOptions {
        runs: 8,
        ..VerifyOptions::default()
    };
    for set in [LOCAL, HELD, SUMMED, CURATED] {
        let table = verify(&experiment(&set), options, &mut Silent).expect("runs");
        assert!(table.passed(), "{set:?}: {:?}", failed(&table));
        assert!(table.checks.iter().any(|check| check.name.contains(LAW)));
    }
}

#[test]
fn halved_own_noise_is_caught_by_the_algebra_and_by_the_law() {
    for set in [LOCAL, HELD, SUMMED] {
        let table = broken(Defect::HalveOwnNoise, &set);
        assert_fails(&table, &["published - local", "mean square", LAW]);
    }
}

#[test]
fn a_holder_without_noise_and_a_reused_stream_are_caught() {
    // Peer 0 is a holder.
    let table = broken(Defect::DropPeerNoise, &HELD);
    assert_fails(&table, &["published - local", "one peer's", "mean square"]);
    let table = broken(Defect::ReuseStream, &LOCAL);
    assert_fails(&table, &["published - local", "consecutive iterations"]);
    let table = broken(Defect::FlipPairwiseSign, &HELD);
    assert_fails(&table, &["published - local", "one peer's"]);
}

/// Peers that deal shares of another shape: of the right variance, and of the wrong law.
#[test]
fn shares_of_another_law_are_caught_by_the_law_of_the_sum() {
    let prepare = |session: crate::engine::Session| {
        let mut parameters = session.plan().parameters().clone();
        // A sum of shape 0.16 has the variance of one of 16 Laplace numbers here, and a cusp.
        parameters.laplace = Some(LaplaceShares::of_all(0.01, parameters.peers));
        let plan = session.plan().with(parameters).expect("valid");
        session.with_plan(plan).expect("fits")
    };
    let experiment = experiment(&LOCAL);
    let table = verify_sessions(&experiment, VerifyOptions::default(), &prepare, &mut Silent)
        .expect("runs");
    assert_fails(&table, &[LAW]);
    let squares = table
        .checks
        .iter()
        .find(|check| check.name.contains("mean square"));
    // That is all that shows in the sums: its variance is the planned one, to a few percent.
    let squares = squares.expect("tested").statistic;
    assert!((squares - 1.0).abs() < 0.1, "{squares}");
}

/// A plan with Gaussian noise, and so with bounds of length, where Laplace noise is planned.
#[test]
fn gaussian_noise_where_laplace_noise_is_planned_is_caught() {
    let prepare = |session: crate::engine::Session| {
        let mut parameters = session.plan().parameters().clone();
        parameters.laplace = None;
        let plan = session.plan().with(parameters).expect("valid");
        session.with_plan(plan).expect("fits")
    };
    let table = verify_sessions(
        &experiment(&LOCAL),
        VerifyOptions::default(),
        &prepare,
        &mut Silent,
    )
    .expect("runs");
    assert_fails(&table, &["sensitivity used", "mean square"]);
}
