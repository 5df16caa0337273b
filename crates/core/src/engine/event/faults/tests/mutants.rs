//! Defects on purpose: each is seen within five hundred schedules.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::sealed::{check_read, circulant, sealed_with, tolerance};
use super::{ITERATIONS, Scene, check, run, scene_on};
use crate::engine::event::faults::{Crash, CrashPoint, FaultSchedule, FaultyOutcome};
use crate::privacy::realised::{Attempted, Counted, Realised};
use crate::protocol::averaging::AveragingKind;
use crate::protocol::regroup::{self, End, Publication, Thresholds, Tolerance};
use crate::protocol::tolerant::Defect;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// A defect, in the peers or in what they are set up with.
#[derive(Clone, Copy, Debug)]
enum Mutant {
    Peer(Defect),
    /// One less than the noise is planned for is enough.
    Floor,
    /// As few shares open as there may be curious peers.
    ThresholdOfColluders,
    /// A peer is cut off while it has neighbours to spare.
    Reserve,
}

fn spoiled(tolerance: &Arc<Tolerance>, lost: u32, mutant: Mutant) -> Arc<Tolerance> {
    let mut tolerance = Tolerance::clone(tolerance);
    let peers = tolerance.needs.len();
    match mutant {
        Mutant::Peer(_) => {}
        Mutant::Floor => tolerance.floor -= 1,
        Mutant::ThresholdOfColluders => {
            tolerance.publication = Publication::Sealed(Thresholds::forged(&vec![1; peers]));
        }
        Mutant::Reserve => tolerance.needs.iter_mut().for_each(|need| *need += lost),
    }
    Arc::new(tolerance)
}

/// What holds in every run of a faultless build; panics where it does not.
fn judge(scene: &Scene, outcome: &FaultyOutcome, tolerance: &Tolerance, schedule: &FaultSchedule) {
    check(scene, outcome, tolerance).expect("what holds in the open holds");
    check_read(scene, outcome, tolerance.retries);
    if schedule.crashes.is_empty() && schedule.suspicions.len() == 1 && schedule.listed() == 1 {
        // One broken cable removes nobody.
        let mut all = outcome.peers.iter();
        assert!(all.all(|peer| peer.end == Some(End::Finished)));
    }
}

/// Two peers of sixteen that have no neighbour in common crash for good, where one may: their neighbours have enough others.
fn two_of_sixteen(number: u64) -> (Scene, u32, FaultSchedule) {
    let scene = scene_on(&circulant(16, 3), AveragingKind::Tree, number);
    let mut schedule = FaultSchedule::none(number);
    let crash = |peer: u64| Crash {
        peer: (peer % 16) as u32,
        after: (number * 37 % 400) as u32,
        at: CrashPoint::Frame,
        restart_micros: None,
    };
    schedule.crashes = vec![crash(number), crash(number + 8)];
    schedule.crashes.sort_by_key(|crash| crash.peer);
    (scene, 1, schedule)
}

fn is_red(number: u64, mutant: Option<Mutant>) -> bool {
    let defect = match mutant {
        Some(Mutant::Peer(defect)) => Some(defect),
        _ => None,
    };
    let (scene, lost, schedule) = match mutant {
        Some(Mutant::Floor) => two_of_sixteen(number),
        _ => {
            let (scene, lost) = sealed_with(number, defect);
            let peers = scene.session.peers() as u32;
            let schedule = FaultSchedule::drawn(number, peers, &scene.links, lost + 1);
            (scene, lost, schedule)
        }
    };
    let whole = tolerance(&scene, lost, (number % 2) as u32);
    let spoiled = match mutant {
        Some(mutant) => spoiled(&whole, lost, mutant),
        None => Arc::clone(&whole),
    };
    let judged = catch_unwind(AssertUnwindSafe(|| {
        let outcome = run(&scene.views, &spoiled, &schedule).expect("no peer gives up");
        judge(&scene, &outcome, &whole, &schedule);
    }));
    judged.is_err()
}

/// The first schedule that shows a defect.
fn first_red(mutant: Mutant) -> Option<u64> {
    (0..500).find(|number| is_red(*number, Some(mutant)))
}

#[test]
fn every_defect_is_seen() {
    let peers = [
        Defect::Unchecked(regroup::Defect::NoBarrier),
        Defect::Unchecked(regroup::Defect::OneShort),
        Defect::Unchecked(regroup::Defect::OneSignature),
        Defect::Agreement(regroup::Defect::ForgetCertificates),
        Defect::Agreement(regroup::Defect::Majority),
        Defect::RollBack,
        Defect::UnsavedRelease,
        Defect::UnsavedOpening,
        Defect::ChargeLate,
        Defect::Redraw,
        Defect::Recompute,
        Defect::HeirTwice,
        Defect::OneKey,
        Defect::SameStream,
    ];
    let others = [Mutant::Floor, Mutant::ThresholdOfColluders, Mutant::Reserve];
    let all = peers.map(Mutant::Peer).into_iter().chain(others);
    let seen: Vec<(Mutant, Option<u64>)> = all.map(|one| (one, first_red(one))).collect();
    println!("first schedule that shows each: {seen:?}");
    assert!(seen.iter().all(|(_, first)| first.is_some()), "{seen:?}");
}

/// What somebody who reads everything is left with when a sum is taken from all that was contributed to it: nothing, but for rounding.
/// Whoever leaves a lost peer out of the sum, exactly, hands out its contribution under nothing but its own noise.
pub(super) fn left_over(
    outcome: &FaultyOutcome,
    release: ReleaseId,
) -> Option<(Vec<PeerIndex>, Vec<f64>)> {
    let ended = |peer: &&crate::engine::event::faults::PeerEnd| peer.end == Some(End::Finished);
    let peer = outcome.peers.iter().find(ended)?;
    let taken = peer.taken.get(&release)?;
    let (then, _) = outcome.parts.get(&taken.attempt)?;
    let mut left: Vec<f64> = taken.sum.values().iter().map(|x| -x).collect();
    for member in then.members.iter() {
        let input = outcome.published.get(&(taken.attempt, member))?.reals()?;
        left.iter_mut().zip(input.iter()).for_each(|(a, b)| *a += b);
    }
    let lost = then
        .members
        .iter()
        .filter(|peer| !taken.view.members.contains(*peer));
    Some((lost.collect(), left))
}

fn size(values: &[f64]) -> f64 {
    (values.iter().map(|x| x * x).sum::<f64>() / values.len() as f64).sqrt()
}

/// Taking noise back after somebody was read is a disclosure, and it is seen: by who adds everything up, and by the account.
#[test]
fn taking_noise_back_is_a_disclosure_that_is_seen() {
    let (mut whole, mut bare) = (0, 0);
    for number in (0..300).step_by(3) {
        // Sums over a tree are exact.
        for defect in [None, Some(Defect::RollBack)] {
            let (scene, lost) = sealed_with(number, defect);
            let peers = scene.session.peers() as u32;
            let schedule = FaultSchedule::drawn(number, peers, &scene.links, lost);
            let outcome = run(&scene.views, &tolerance(&scene, lost, 0), &schedule);
            let outcome = outcome.expect("runs");
            for release in (1..=ITERATIONS).map(ReleaseId) {
                let Some((gone, left)) = left_over(&outcome, release) else {
                    continue;
                };
                match (defect, gone.as_slice()) {
                    (None, _) => {
                        assert!(size(&left) < 1e-9, "{number}: {}", size(&left));
                        whole += 1;
                    }
                    (_, [gone]) => {
                        // What is left is the lost peer's product and its own noise of 0.02 a coordinate, where pairwise noise was 3.
                        let (scale, sigmas) = (1.0, scene.session.plan().sigmas());
                        assert!(size(&left) < 1.0 && size(&left) > 0.2 * sigmas.own * scale);
                        let factor = exposed(&scene, *gone);
                        let own = sigmas.own * sigmas.own;
                        assert!((factor * own - 1.0).abs() < 1e-9, "{factor}");
                        bare += 1;
                    }
                    _ => {}
                }
            }
        }
    }
    assert!(whole > 60 && bare > 2, "{whole}, {bare}");
}

/// μ² per (Δ/scale)² of a peer whose partners all took back what they shared with it, as the account has it.
fn exposed(scene: &Scene, gone: PeerIndex) -> f64 {
    let session = &scene.session;
    let sigmas = session.plan().sigmas();
    let graph = session.noise_graph().clone();
    let members: Vec<u32> = (0..session.peers() as u32).collect();
    let of_gone = graph.neighbours(gone.index()).iter();
    let revealed = of_gone.map(|&v| (v.min(gone.0), v.max(gone.0))).collect();
    let mut realised = Realised::new(graph, sigmas.own, sigmas.pairwise).expect("valid");
    let attempted = Attempted {
        release: ReleaseId(1),
        retry: 0,
        view: 0,
        read: members.clone(),
        scales: vec![1.0; members.len()],
        members,
        revealed,
        sensitivity: 1.0,
    };
    realised.record(attempted).expect("it happened");
    let losses = realised.losses(&[], Counted::Read).expect("accounted");
    losses[gone.index()].expect("honest").high
}
