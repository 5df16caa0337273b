//! Rows of numbers: what one row of a matrix, or all ratings of one user, do to what is published.

use super::{audit, broken, options};
use crate::assess::audit::{Audit, AuditError};
use crate::config::read_config;
use crate::engine::Silent;
use crate::engine::noise::Defect;
use crate::scenario::Experiment;

/// Twelve rows of five numbers between 0 and 16, dealt to six peers of three neighbours.
fn matrix(set: &[&str]) -> Experiment {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let number = |row: u32, c: u32| ((row * 7 + c * c * 5 + row * c) % 17).to_string();
    let line = |row: u32| (0..5).map(|c| number(row, c)).collect::<Vec<_>>().join(",");
    let text: Vec<String> = (0..12).map(line).collect();
    std::fs::write(folder.path().join("m.csv"), text.join("\n")).expect("writable");
    let small = [
        "data.path=m.csv",
        "data.drop=[]",
        "data.row_clip=1",
        "peers.count=6",
        "topology.degree=3",
        "algorithm.rank=2",
        "privacy.epsilon=4",
    ];
    let set: Vec<String> = [&small, set]
        .concat()
        .iter()
        .map(ToString::to_string)
        .collect();
    let file = format!("{}/sims/pca-digits.toml", env!("CARGO_MANIFEST_DIR"));
    let config = read_config(file.as_ref(), &set).expect("valid keys");
    Experiment::resolve(config, folder.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// Ratings of a dozen peers' users, less every user's mean.
fn ratings(set: &[&str]) -> Experiment {
    let numbers = [
        "data.values=ratings",
        "data.threshold=0",
        "data.centre=user",
        "data.row_clip=2",
        "privacy.adjacency=user",
        "privacy.sensitivity=unit-row",
        "algorithm.kind=isometric-covariance",
    ];
    super::experiment(&[&numbers, set].concat())
}

fn audited(experiment: &Experiment, trials: u32) -> Audit {
    audit(experiment, &options(trials), &mut Silent).expect("runs")
}

#[test]
fn one_row_of_a_matrix_reaches_the_bound_and_the_attack_comes_near_it() {
    for set in [&[][..], &["privacy.adjacency=replace-user"]] {
        let found = audited(&matrix(set), 12_000);
        assert!(
            found.passed && found.canary.tightness > 0.99,
            "{set:?}: {found:?}"
        );
        assert!(
            found.empirical_mu >= 0.75 * found.certified_mu,
            "{set:?}: {found:?}"
        );
    }
}

#[test]
fn every_way_of_centring_and_several_releases_stay_below_the_certificate() {
    let sets: [&[&str]; 7] = [
        &[
            "data.centre=private",
            "data.raw_clip=2",
            "data.mean_share=0.3",
        ],
        &["data.centre=public", "data.means=[4, 4, 4, 4, 4]"],
        &["algorithm.kind=power", "algorithm.iterations=2"],
        &[
            "algorithm.kind=krylov",
            "algorithm.iterations=2",
            "data.centre=private",
            "data.raw_clip=2",
        ],
        &["algorithm.kind=deflation"],
        &["algorithm.kind=streaming", "algorithm.iterations=3"],
        &["noise.scheme=ring"],
    ];
    for set in sets {
        let found = audited(&matrix(set), 600);
        assert!(
            found.passed && found.pair_mu <= found.certified_mu * (1.0 + 1e-9),
            "{set:?}: {found:?}"
        );
        assert!(found.canary.tightness > 0.5, "{set:?}: {found:?}");
    }
}

#[test]
fn one_users_ratings_pass_the_filters_and_stay_below_the_certificate() {
    for set in [
        &[][..],
        &["evaluation.holdout=0.3"],
        &["data.items=8", "privacy.adjacency=replace-user"],
    ] {
        let found = audited(&ratings(set), 300);
        assert!(found.passed && found.canary.with > 0, "{set:?}: {found:?}");
        assert!(found.canary.tightness > 0.9, "{set:?}: {found:?}");
    }
}

/// Two releases, the first of two blocks with bounds of their own.
fn completion(set: &[&str]) -> Experiment {
    let predicted = [
        "algorithm.kind=spectral-ridge",
        "algorithm.iterations=2",
        "data.ranges=[0.5, 5]",
        "data.degree_cap=10",
    ];
    ratings(&[&predicted, set].concat())
}

#[test]
fn what_predicts_ratings_stays_below_the_certificate() {
    for set in [
        &[][..],
        &["privacy.adjacency=replace-user"],
        &["completion.item_means=false", "algorithm.iterations=1"],
    ] {
        let found = audited(&completion(set), 1500);
        assert!(
            found.passed && found.pair_mu <= found.certified_mu,
            "{set:?}: {found:?}"
        );
        let tightness = found.canary.tightness;
        assert!(
            tightness > 0.5 && tightness <= 1.0 + 1e-9,
            "{set:?}: {found:?}"
        );
    }
}

#[test]
fn noise_of_half_the_size_is_caught_on_rows_of_numbers() {
    for experiment in [matrix(&[]), ratings(&[]), completion(&[])] {
        let found = broken(&experiment, &options(1500), Defect::HalveAllNoise);
        assert!(!found.passed, "{found:?}");
    }
}

#[test]
fn changes_of_the_matrix_have_no_canary() {
    let experiment = matrix(&[
        "algorithm.kind=power",
        "privacy.adjacency=matrix",
        "privacy.sensitivity=exact",
    ]);
    let refused = audit(&experiment, &options(200), &mut Silent).expect_err("refused");
    assert!(matches!(refused, AuditError::NoCanary { .. }), "{refused}");
}
