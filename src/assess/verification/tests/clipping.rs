//! Verification of thresholds that are found under noise: releases of other shapes, and of several blocks.

use std::sync::Arc;

use super::*;

const CLIPPED: [&str; 6] = [
    "algorithm.rank=2",
    "privacy.adjacency=user",
    "privacy.sensitivity=unit-row",
    "algorithm.kind=clipped-power",
    "algorithm.clip=histogram",
    "algorithm.clip_share=0.01",
];

/// σ_b halved, that is four times the share of the budget for histograms, and hardly less noise on products: the mean squares of the
/// histograms show it.
#[test]
fn counts_with_half_of_their_noise_fail() {
    for lag in ["algorithm.clip_lag=false", "algorithm.clip_lag=true"] {
        let set = [&CLIPPED[..], &[lag]].concat();
        let healthy = verify(&experiment(&set), VerifyOptions::default(), &mut Silent);
        let healthy = healthy.expect("runs");
        assert!(healthy.passed(), "{lag}: {:?}", failed(&healthy));
    }
    let dearer = [&CLIPPED[..], &["algorithm.clip_share=0.04"]].concat();
    let dearer = experiment(&dearer);
    let prepare = |session: crate::engine::Session| {
        let other = dearer.session(&crate::vocabulary::Seed::from_u64(0));
        let parameters = crate::protocol::SessionParameters {
            program: Arc::clone(&other.plan().parameters().program),
            ..session.plan().parameters().clone()
        };
        let plan = other.plan().with(parameters).expect("valid");
        session.with_plan(plan).expect("the same network")
    };
    let table = verify_sessions(
        &experiment(&CLIPPED),
        VerifyOptions::default(),
        &prepare,
        &mut Silent,
    );
    assert_fails(
        &table.expect("runs"),
        &["least likely mean square of one iteration"],
    );
}

/// A peer without own noise, and streams used twice, in releases of a product and counts.
#[test]
fn what_is_wrong_with_single_peers_shows_in_releases_of_several_blocks() {
    let set = [&CLIPPED[..], &["algorithm.clip_lag=true"]].concat();
    for defect in [
        Defect::DropPeerNoise,
        Defect::HalveOwnNoise,
        Defect::ReuseStream,
    ] {
        let table = broken(defect, &set);
        assert!(!table.passed(), "{defect:?}");
    }
}
