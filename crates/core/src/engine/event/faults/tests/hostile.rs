//! One peer that lies about how often releases were tried again: what the others publish, and what they are charged for it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::sealed::{self, circulant};
use super::{ITERATIONS, Scene, defective_scene, run};
use crate::engine::event::faults::{FaultSchedule, FaultyOutcome};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::regroup::{End, Tolerance};
use crate::protocol::tolerant::Defect;
use crate::vocabulary::PeerIndex;

const PEERS: u32 = 8;
const HOSTILE: PeerIndex = PeerIndex(0);

/// Whatever one peer states: nobody else is named or blamed, nobody is read twice for one charge, and every charge is one that the session has reserved.
fn check(outcome: &FaultyOutcome, tolerance: &Tolerance) {
    let observed = &outcome.observed;
    assert!(observed.broken.is_empty(), "{:?}", observed.broken);
    let hostile = BTreeSet::from([HOSTILE]);
    assert!(observed.blamed.is_subset(&hostile), "{:?}", observed.blamed);
    assert!(outcome.proven.keys().all(|peer| *peer == HOSTILE));
    let mut read = BTreeMap::new();
    for (attempt, peer) in observed.read.iter().filter(|(_, peer)| *peer != HOSTILE) {
        let (view, _) = &outcome.parts[attempt];
        // What an attempt costs is planned for so many.
        assert!(view.members.len() >= tolerance.floor);
        let of_try: &mut u32 = read
            .entry((*peer, attempt.release, attempt.retry))
            .or_default();
        *of_try += 1;
        assert_eq!(*of_try, 1, "{peer} is read twice in {attempt}");
        let charged = &observed.charged[peer];
        assert!(charged.contains(&(attempt.release, attempt.retry)));
    }
    for (peer, tries) in observed
        .charged
        .iter()
        .filter(|(peer, _)| **peer != HOSTILE)
    {
        let most = (ITERATIONS + tolerance.retries) as usize;
        assert!(tries.len() <= most, "{peer} is charged for {tries:?}");
        assert!(tries.iter().all(|(_, retry)| *retry <= tolerance.retries));
    }
}

fn outcome(tolerance: &Arc<Tolerance>, scene: &Scene, seed: u64) -> FaultyOutcome {
    let outcome = run(&scene.views, tolerance, &FaultSchedule::none(seed));
    let outcome = outcome.expect("no peer gives up");
    check(&outcome, tolerance);
    outcome
}

#[test]
fn a_false_number_of_retries_makes_nobody_publish_again() {
    for seed in 0..12 {
        let graph = circulant(PEERS, 3);
        let scene = defective_scene(
            &graph,
            AveragingKind::Tree,
            seed,
            Some(Defect::FirstOverstates),
        );
        let retries = (seed % 2) as u32 * 2;
        let open = super::tolerance(PEERS, 1, retries);
        let sealed = sealed::tolerance(&scene, 1, retries);
        for tolerance in [open, sealed] {
            let outcome = outcome(&tolerance, &scene, seed);
            // What was published in the open is paid for again, if it can be; what was sealed need not be.
            let expected = match tolerance.is_open() && retries == 0 {
                true => End::Lost,
                false => End::Finished,
            };
            for (u, peer) in outcome.peers.iter().enumerate().skip(1) {
                assert_eq!(peer.end, Some(expected), "peer {u}, {retries} retries");
            }
            let anew = outcome.observed.charged[&PeerIndex(1)].iter();
            let anew = anew.filter(|(_, retry)| *retry > 0).count();
            assert_eq!(anew > 0, tolerance.is_open() && retries > 0);
        }
    }
}
