//! Verification of Wishart noise: the law of its sum, every message against the plan, and what is left to the honest.

use super::{assert_fails, broken, experiment, failed};
use crate::assess::verification::{VerifyOptions, verify};
use crate::engine::Silent;
use crate::engine::noise::Defect;

const USER: [&str; 6] = [
    "noise.distribution=wishart",
    "privacy.adjacency=user",
    "privacy.sensitivity=exact",
    "privacy.delta=0",
    "algorithm={kind=\"isometric-covariance\",rank=4}",
    "data.items=12",
];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    USER.iter().chain(more).copied().collect()
}

const LOCAL: &str = "noise.scheme=local";
const SUMMED: &str = "engine.kind=federated";
const PACKED: &str = "algorithm.kind=covariance";

#[test]
fn healthy_plans_pass() {
    let options = VerifyOptions {
        runs: 40,
        ..VerifyOptions::default()
    };
    for set in [
        &[LOCAL][..],
        &[LOCAL, PACKED],
        &[SUMMED],
        &[SUMMED, PACKED, "privacy.colluders=3"],
        &["engine.kind=central"],
    ] {
        let table = verify(&experiment(&with(set)), options, &mut Silent).expect("runs");
        assert!(table.passed(), "{set:?}: {:?}", failed(&table));
        for name in ["disjoint pairs", "a rotation's diagonal", "colluders leave"] {
            assert!(
                table.checks.iter().any(|check| check.name.contains(name)),
                "{name}"
            );
        }
    }
}

#[test]
fn halved_noise_and_one_matrix_alone_are_caught_by_the_algebra_and_by_the_law() {
    for set in [&[LOCAL][..], &[SUMMED]] {
        for defect in [Defect::HalveOwnNoise, Defect::OneMatrix] {
            let table = broken(defect, &with(set));
            assert_fails(
                &table,
                &["published - local", "mean square of the diagonal"],
            );
        }
    }
}

#[test]
fn missing_terms_are_caught_by_the_algebra() {
    // Of 14 terms that 16 peers draw one is the first peer's, whose loss leaves n + 1; without every peer's there is no noise.
    let table = broken(Defect::DropPeerNoise, &with(&[SUMMED]));
    assert_fails(&table, &["published - local"]);
    let table = broken(Defect::FewerTerms(1), &with(&[SUMMED]));
    assert_fails(
        &table,
        &["published - local", "mean square of the diagonal"],
    );
    // n terms of every peer instead of n + 1.
    let table = broken(Defect::FewerTerms(1), &with(&[LOCAL]));
    assert_fails(&table, &["published - local", "one peer's"]);
    let table = broken(Defect::ReuseStream, &with(&[LOCAL]));
    assert!(
        table.passed(),
        "one release has one stream: {:?}",
        failed(&table)
    );
}
