//! Verification where sums are integers mod 2^k: equality instead of the joint law of Gaussians.

use super::{assert_fails, broken, experiment, failed};
use crate::assess::verification::{VerifyOptions, verify};
use crate::engine::Silent;
use crate::engine::noise::Tamper;

const RING: [&str; 2] = ["noise.scheme=ring", "averaging={scheme=\"tree\"}"];

const EQUAL: &str = "published - local - own noise";
const PEER: &str = "one peer's published - local - noise";

#[test]
fn a_healthy_ring_passes_on_every_engine_with_peers() {
    for engine in [
        "engine.kind=lockstep",
        "engine.kind=event",
        "engine.kind=federated",
    ] {
        let experiment = experiment(&[RING[0], RING[1], engine]);
        let table = verify(&experiment, VerifyOptions::default(), &mut Silent).expect("runs");
        assert!(table.passed(), "{engine}: {:?}", failed(&table));
        let algebra = table
            .checks
            .iter()
            .find(|check| check.name.starts_with(EQUAL));
        assert_eq!(
            algebra.expect("looked at").statistic,
            0.0,
            "equal, not nearly so"
        );
        let uniform = table
            .checks
            .iter()
            .any(|check| check.name.contains("uniform"));
        assert_eq!(uniform, engine != "engine.kind=federated");
    }
}

#[test]
fn every_defect_of_a_ring_is_caught() {
    let fails = |tamper, needles: &[&str]| assert_fails(&broken(tamper, &RING), needles);
    fails(
        Tamper::HalveOwnNoise,
        &[EQUAL, PEER, "least likely own noise of one peer"],
    );
    fails(
        Tamper::DropPeerNoise,
        &[EQUAL, PEER, "least likely own noise of one peer"],
    );
    fails(Tamper::ShareOwnNoise, &[EQUAL, PEER]);
    // One end forgets its mask, or adds it with the wrong sign: the sum is spoiled.
    fails(Tamper::ForgetPartner, &[EQUAL, PEER]);
    fails(Tamper::FlipPairwiseSign, &[EQUAL, PEER]);
    // Masks cancel in the sum whatever they are: what peers publish shows it.
    fails(Tamper::ReusePairwise, &[PEER]);
    fails(Tamper::KeyedByLowerEnd, &[PEER]);
    fails(Tamper::OmitPairsOfPeer, &[PEER]);
    // No masks at all, and masks of a modulus of half the size.
    fails(Tamper::ScalePairwise(0.0), &[PEER, "highest bits"]);
    fails(Tamper::NarrowMasks, &[PEER]);
}
