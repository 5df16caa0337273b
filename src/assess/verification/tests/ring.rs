//! Verification where sums are integers mod 2^k: equality instead of the joint law of Gaussians.

use super::{assert_fails, broken, experiment, failed};
use crate::assess::verification::{VerifyOptions, verify, verify_sessions};
use crate::engine::Silent;
use crate::engine::noise::{Defect, Extent};

const RING: [&str; 2] = ["noise.scheme=ring", "averaging={scheme=\"tree\"}"];

/// The same mod 2⁶⁴.
const WIDE: [&str; 3] = [RING[0], RING[1], "noise.bits=64"];

const EQUAL: &str = "published - local - own noise";
const PEER: &str = "one peer's published - local - noise";

#[test]
fn a_healthy_ring_passes_on_every_engine_with_peers() {
    for engine in [
        "engine.kind=lockstep",
        "engine.kind=event",
        "engine.kind=federated",
    ] {
        for ring in [&RING[..], &WIDE] {
            healthy(engine, ring);
        }
    }
}

fn healthy(engine: &str, ring: &[&str]) {
    let experiment = experiment(&[ring, &[engine]].concat());
    let table = verify(&experiment, VerifyOptions::default(), &mut Silent).expect("runs");
    assert!(table.passed(), "{engine}: {:?}", failed(&table));
    let mut algebra = table
        .checks
        .iter()
        .filter(|check| check.name.starts_with(EQUAL));
    let algebra = algebra.next().expect("looked at");
    assert_eq!(algebra.statistic, 0.0, "equal, not nearly so");
    let uniform = table
        .checks
        .iter()
        .any(|check| check.name.contains("uniform"));
    assert_eq!(uniform, engine != "engine.kind=federated");
}

#[test]
fn every_defect_of_a_ring_is_caught() {
    for ring in [&RING[..], &WIDE] {
        let fails = |defect, needles: &[&str]| assert_fails(&broken(defect, ring), needles);
        fails(
            Defect::HalveOwnNoise,
            &[EQUAL, PEER, "least likely own noise of one peer"],
        );
        fails(
            Defect::DropPeerNoise,
            &[EQUAL, PEER, "least likely own noise of one peer"],
        );
        fails(Defect::ShareOwnNoise, &[EQUAL, PEER]);
        // One end forgets its mask, or adds it with the wrong sign: the sum is spoiled.
        fails(Defect::ForgetPartner, &[EQUAL, PEER]);
        fails(Defect::FlipPairwiseSign, &[EQUAL, PEER]);
        // Masks cancel in the sum whatever they are: what peers publish shows it.
        fails(Defect::ReusePairwise, &[PEER]);
        fails(Defect::KeyedByLowerEnd, &[PEER]);
        fails(Defect::OmitPairsOfPeer, &[PEER]);
        // No masks at all, and masks of a modulus of half the size.
        fails(Defect::ScalePairwise(0.0), &[PEER, "highest bits"]);
        fails(Defect::NarrowMasks, &[PEER]);
    }
}

#[test]
fn masks_that_repeat_from_chunk_to_chunk_are_caught() {
    // 600 items × 4 columns: three chunks. In one chunk there is nothing to repeat.
    let many = [RING[0], RING[1], "data.items=600"];
    let wide = [WIDE[0], WIDE[1], WIDE[2], "data.items=600"];
    for ring in [&many[..], &wide] {
        assert_fails(&broken(Defect::RepeatChunk, ring), &[PEER]);
    }
}

#[test]
fn a_wrong_modulus_is_caught() {
    for (ring, bits) in [(&RING[..], 32), (&WIDE, 64)] {
        for engine in ["engine.kind=lockstep", "engine.kind=event"] {
            let ring = [ring, &[engine]].concat();
            let reducing = |wrong, who| Defect::WrongModulus(wrong, who);
            // A build that is a bit short: masks cancel all the same, and what is published has no highest bit.
            let narrow = broken(reducing(bits - 1, Extent::All), &ring);
            assert_fails(&narrow, &[PEER, "highest bits"]);
        }
        // One peer that is a bit short spoils the sum as well: by 2⁶², so much that no run goes on with it, or by 2³⁰.
        let event = experiment(&[ring, &["engine.kind=event"]].concat());
        let prepare = move |session: crate::engine::Session| {
            session.with_defect(Defect::WrongModulus(bits - 1, Extent::First))
        };
        match verify_sessions(&event, VerifyOptions::default(), &prepare, &mut Silent) {
            Ok(table) => assert_fails(&table, &[EQUAL, PEER]),
            Err(error) => assert!(bits == 64, "{error}"),
        }
    }
    // A bit too many: no message holds it, and where there are none what is published is not what it should be.
    let wide = broken(Defect::WrongModulus(33, Extent::All), &RING);
    assert_fails(&wide, &[PEER]);
    for who in [Extent::All, Extent::First] {
        let prepare = move |session: crate::engine::Session| {
            session.with_defect(Defect::WrongModulus(33, who))
        };
        let experiment = experiment(&[RING[0], RING[1], "engine.kind=event"]);
        let refused = verify_sessions(&experiment, VerifyOptions::default(), &prepare, &mut Silent);
        let error = refused.expect_err("a neighbour sees it").to_string();
        assert!(error.contains("residues-32"), "{error}");
    }
}
