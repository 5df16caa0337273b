//! The audit where sums are integers mod 2^k: all there is to see is the sum of a piece.

use super::{broken, experiment, options};
use crate::assess::audit::attackers::AttackerKind;
use crate::assess::audit::audit;
use crate::engine::Silent;
use crate::engine::noise::Defect;

const RING: [&str; 2] = ["noise.scheme=ring", "averaging={scheme=\"tree\"}"];

#[test]
fn what_is_learned_of_a_ring_stays_below_its_certificate_and_comes_near_it() {
    let audit = audit(&experiment(&RING), &options(12_000), &mut Silent).expect("runs");
    assert!(audit.passed, "{audit:?}");
    assert_eq!(audit.attacker, AttackerKind::LikelihoodRatio, "{audit:?}");
    assert!(audit.empirical_mu >= 0.8 * audit.certified_mu, "{audit:?}");
}

#[test]
fn halved_noise_and_missing_masks_are_caught() {
    let experiment = experiment(&RING);
    for defect in [Defect::HalveOwnNoise, Defect::OmitPairsOfPeer] {
        let audit = broken(&experiment, &options(4000), defect);
        assert!(!audit.passed, "{defect:?}: {audit:?}");
        assert!(
            audit.empirical_mu > audit.certified_mu,
            "{defect:?}: {audit:?}"
        );
    }
}
