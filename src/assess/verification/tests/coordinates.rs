//! Verification where peers publish coordinates of their own: vertices of a private graph.

use super::{Verification, VerifyOptions, assert_fails, failed};
use crate::assess::verification::{verify, verify_sessions};
use crate::engine::Silent;
use crate::engine::noise::Defect;
use crate::scenario::Experiment;
use crate::scenario::testing::sim;

/// The karate club, under deflation, whose quotients are sums, or the power method, which has none.
fn experiment(set: &[&str]) -> Experiment {
    let karate = [
        "data.path=../topologies/karate.edges",
        "privacy.adjacency=edge",
        "topology.degree=6",
        "algorithm.iterations=4",
    ];
    sim("graph-eigenvector.toml", &[&karate, set].concat()).expect("resolves")
}

const DEFLATION: [&str; 2] = ["algorithm.kind=deflation", "algorithm.rank=2"];

fn broken(defect: Defect, set: &[&str]) -> Verification {
    let prepare = move |session: crate::engine::Session| session.with_defect(defect);
    let options = VerifyOptions::default();
    verify_sessions(&experiment(set), options, &prepare, &mut Silent).expect("runs")
}

#[test]
fn healthy_coordinates_pass_with_quotients_and_without() {
    for set in [&[][..], &DEFLATION, &["algorithm.rank=4"]] {
        let table = verify(&experiment(set), VerifyOptions::default(), &mut Silent);
        let table = table.expect("runs");
        assert!(table.passed(), "{set:?}: {:?}", failed(&table));
        let [only] = table.skipped.as_slice() else {
            panic!("{:?}", table.skipped);
        };
        assert!(only.contains("under adjacency edge a record is no row"));
    }
}

#[test]
fn defects_of_the_noise_on_own_coordinates_are_caught() {
    for (defect, needles) in [
        (
            Defect::HalveOwnNoise,
            &["published - local", "mean square", "Kolmogorov"][..],
        ),
        (
            Defect::ReuseStream,
            &["published - local", "consecutive iterations"],
        ),
        (
            Defect::DropPeerNoise,
            &["published - local", "own noise of one peer"],
        ),
        (Defect::ScaleOwnNoise(1.5), &["published - local"]),
        (Defect::ShareOwnNoise, &["published - local"]),
    ] {
        for set in [&[][..], &DEFLATION] {
            let table = broken(defect, set);
            assert!(!table.passed(), "{defect:?} {set:?}");
            assert_fails(&table, needles);
        }
    }
}
