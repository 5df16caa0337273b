//! Sealed sessions under faults: the same bits, nobody read twice in a try, and nothing charged for what was never readable.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{ITERATIONS, KINDS, Scene, check, defective_scene, run};
use crate::engine::event::faults::{FaultSchedule, FaultyOutcome, Fired, PeerEnd};
use crate::engine::{Silent, event};
use crate::protocol::Summand;
use crate::protocol::escrow::{EscrowKey, Seal, Share};
use crate::protocol::regroup::{Attempt, End, Tolerance};
use crate::protocol::tolerant::Defect;
use crate::protocol::tolerant::SealSecrets;
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId};

/// Everybody is a neighbour of the `reach` next ones on either side.
pub(super) fn circulant(peers: u32, reach: u32) -> Graph {
    let mut edges = BTreeSet::new();
    for u in 0..peers {
        for step in 1..=reach {
            let v = (u + step) % peers;
            edges.insert((u.min(v), u.max(v)));
        }
    }
    Graph::from_edges(peers as usize, &edges.into_iter().collect::<Vec<_>>()).expect("a graph")
}

/// How many curious peers sessions here are planned for.
const COLLUDERS: usize = 1;

/// A session that seals, and how many peers it may lose.
pub(super) fn sealed(number: u64) -> (Scene, u32) {
    sealed_with(number, None)
}

/// A session that seals, whose peers have a defect.
pub(super) fn sealed_with(number: u64, defect: Option<Defect>) -> (Scene, u32) {
    let kind = KINDS[(number % 3) as usize];
    let (peers, reach, lost) = match number % 4 {
        0 => (7, 3, 1),
        1 => (8, 3, 1),
        2 => (9, 4, 2),
        _ => (10, 4, 2),
    };
    let graph = circulant(peers, reach);
    (defective_scene(&graph, kind, number, defect), lost)
}

/// A session of so many peers that seals, and how many it may lose.
pub(super) fn sealed_among(peers: u32, number: u64) -> (Scene, u32) {
    let kind = KINDS[(number % 3) as usize];
    let (reach, lost) = match number % 8 < 4 && peers > 8 {
        true => (4, 2),
        false => (3, 1),
    };
    let graph = circulant(peers, reach);
    (defective_scene(&graph, kind, number, None), lost)
}

pub(super) fn tolerance(scene: &Scene, lost: u32, retries: u32) -> Arc<Tolerance> {
    let links = scene.views.session().public().links().expect("a graph");
    let tolerance = Tolerance::sealed(&links, (COLLUDERS, lost as usize), retries);
    Arc::new(tolerance.expect("degrees allow it"))
}

/// Where nothing goes wrong, sealing costs no bit.
#[test]
fn without_faults_the_result_is_that_of_the_session() {
    for number in 0..6 {
        let (scene, lost) = sealed(number);
        let outcome = run(
            &scene.views,
            &tolerance(&scene, lost, 1),
            &FaultSchedule::none(7),
        );
        let outcome = outcome.expect("runs");
        let latency = event::Latency::Constant { micros: 1 };
        let plain = event::run(&scene.session, latency, &mut Silent).expect("runs");
        let last = plain.records.last().expect("releases");
        let is_exact = scene.session.schedule().ends_equal();
        for (u, peer) in outcome.peers.iter().enumerate() {
            assert_eq!(peer.end, Some(End::Finished), "{number}, peer {u}");
            let basis = peer.basis.as_ref().expect("a result");
            if u == 0 || is_exact {
                assert_eq!(basis.values(), last.basis.values(), "{number}, peer {u}");
            }
            let tries = &outcome.observed.charged[&PeerIndex::from_index(u)];
            let every: BTreeSet<_> = (1..=ITERATIONS).map(|l| (ReleaseId(l), 0)).collect();
            assert_eq!(*tries, every, "each release is charged once");
        }
        assert_eq!(outcome.fired, Fired::default());
        assert!(outcome.observed.broken.is_empty());
        assert_eq!(
            outcome.observed.keys.len(),
            scene.session.peers() * ITERATIONS as usize
        );
        // Shares are for what is lost.
        assert!(outcome.observed.shares.is_empty());
    }
}

/// Sealing takes as many hops a release as the graph is wide, and one more: everybody's word is the barrier, and keys follow. The word that all is over takes
/// as many once.
#[test]
fn sealing_takes_a_hop_more_than_the_graph_is_wide() {
    const HOP: u64 = 1_000;
    for number in [1, 2, 4, 5, 7] {
        let (scene, lost) = sealed(number);
        let mut schedule = FaultSchedule::none(7);
        schedule.latency = Some(event::Latency::Constant { micros: HOP });
        let outcome = run(&scene.views, &tolerance(&scene, lost, 0), &schedule);
        let outcome = outcome.expect("runs");
        let plan = scene.session.plan().parameters();
        let wide = u64::from(scene.session.graph().diameter_bound().expect("connected"));
        let rounds = u64::from(plan.scale_rounds + plan.averaging_rounds);
        let least = u64::from(ITERATIONS) * rounds * HOP;
        let most = u64::from(ITERATIONS) * (rounds + wide + 1) * HOP + (wide + 2) * HOP;
        // An arrival is put off by a microsecond at most for each that was before it on its link.
        let found = outcome.ended_micros;
        assert!(
            found >= least && found <= most + HOP,
            "{least} {found} {most}"
        );
    }
}

/// What a coalition can read of the sealed contributions of others, by opening them: with keys and shares that left, and with its own shares.
fn readable(
    secrets: &[SealSecrets],
    outcome: &FaultyOutcome,
    coalition: &[PeerIndex],
) -> BTreeSet<(Attempt, PeerIndex)> {
    let observed = &outcome.observed;
    let of = |&member: &PeerIndex| (member, &secrets[member.index()]);
    let secrets: Vec<(PeerIndex, &SealSecrets)> = coalition.iter().map(of).collect();
    let opens = |place: &(Attempt, PeerIndex), seal: &Seal| {
        if observed.read.contains(place) {
            return true;
        }
        let left = observed.shares.get(place);
        let mut shares: BTreeMap<PeerIndex, Share> = left.cloned().unwrap_or_default();
        for (member, secrets) in &secrets {
            let key: Option<&EscrowKey> = secrets.coming_from(place.1);
            if let Some(Ok(share)) = key.map(|key| seal.share_of(*member, key)) {
                shares.insert(*member, share);
            }
        }
        let shares: Vec<Share> = shares.into_values().collect();
        seal.recover(&shares).is_ok()
    };
    let all = observed.seals.iter();
    all.filter(|((_, dealer), _)| !coalition.contains(dealer))
        .filter(|(place, seal)| opens(place, seal))
        .map(|(place, _)| *place)
        .collect()
}

/// Against every coalition that the session is planned for: nobody outside it is read in two attempts of one try, and whoever is read was charged.
/// How many sealed contributions nobody could ever read.
pub(super) fn check_read(scene: &Scene, outcome: &FaultyOutcome, retries: u32) -> usize {
    let observed = &outcome.observed;
    assert!(observed.broken.is_empty(), "{:?}", observed.broken);
    let nobody = outcome.proven.is_empty() && observed.blamed.is_empty();
    assert!(nobody, "nobody here lies");
    let peers = || (0..scene.session.peers()).map(PeerIndex::from_index);
    let coalitions = peers().map(|member| vec![member]).chain([Vec::new()]);
    let secrets = peers().map(|peer| scene.views.seal_secrets(peer));
    let secrets: Vec<SealSecrets> = secrets.collect();
    let mut never = 0;
    for coalition in coalitions {
        let read = readable(&secrets, outcome, &coalition);
        let mut tries = BTreeMap::new();
        for (attempt, dealer) in &read {
            let place = (*dealer, attempt.release, attempt.retry);
            let before = tries.insert(place, *attempt);
            assert_eq!(before, None, "{coalition:?} reads {dealer} twice in a try");
            let charged = &observed.charged[dealer];
            assert!(charged.contains(&(attempt.release, attempt.retry)));
        }
        never = observed.seals.len() - read.len();
    }
    check_fresh(&secrets, outcome);
    for (peer, tries) in &observed.charged {
        let most = (ITERATIONS + retries) as usize;
        assert!(tries.len() <= most, "{peer} is charged for {tries:?}");
    }
    never
}

/// Nothing that hides one thing hides another: noise of two attempts differs in every coordinate, and no two shares have one pad.
fn check_fresh(secrets: &[SealSecrets], outcome: &FaultyOutcome) {
    for ((attempt, peer), input) in &outcome.published {
        let others = outcome.published.iter();
        let mut others = others
            .filter(|((at, by), _)| by == peer && at.release == attempt.release && at > attempt);
        let values = |input: &Summand| input.reals().expect("real numbers").to_vec();
        let input = values(input);
        let shares = |(_, other): (_, &Summand)| {
            let other = values(other);
            input
                .iter()
                .zip(&other)
                .any(|(a, b)| a.to_bits() == b.to_bits())
        };
        assert!(!others.any(shares), "{peer} draws the same noise twice");
    }
    let mut pads = BTreeSet::new();
    for ((_, dealer), seal) in &outcome.observed.seals {
        for &holder in seal.holders() {
            let key = secrets[holder.index()].coming_from(*dealer);
            let share = seal.share_of(holder, key.expect("neighbours"));
            let share = share.expect("dealt rightly");
            let hidden = seal.hidden_for(holder).expect("the dealer's own copy");
            let pad: Vec<u8> = hidden
                .iter()
                .zip(share.value())
                .map(|(a, b)| a ^ b)
                .collect();
            assert!(pads.insert(pad), "one pad hides two shares");
        }
    }
}

/// What came of many schedules.
#[derive(Debug, Default)]
struct Tally {
    fired: Fired,
    finished: u64,
    ends: BTreeMap<String, u64>,
    /// Sealed contributions that nobody could ever read.
    never: usize,
    /// Contributions of lost peers that their holders gave shares of.
    by_shares: usize,
}

/// Runs these schedules, and panics at the first in which something does not hold.
fn all(numbers: std::ops::Range<u64>) -> Tally {
    let mut tally = Tally::default();
    for number in numbers {
        let (scene, lost) = sealed(number);
        let peers = scene.session.peers() as u32;
        let schedule = FaultSchedule::drawn(number, peers, &scene.links, lost + 1);
        let retries = (number % 2) as u32;
        let tolerance = tolerance(&scene, lost, retries);
        let outcome = run(&scene.views, &tolerance, &schedule);
        let outcome = outcome.unwrap_or_else(|error| panic!("{number}: {error}\n{schedule:?}"));
        let checked = check(&scene, &outcome, &tolerance);
        tally.finished +=
            checked.unwrap_or_else(|broken| panic!("{number}: {broken}\n{schedule:?}"));
        tally.never += check_read(&scene, &outcome, retries);
        tally.by_shares += outcome.observed.shares.len();
        tally.fired.add(&outcome.fired);
        for PeerEnd { end, .. } in &outcome.peers {
            *tally.ends.entry(format!("{end:?}")).or_insert(0) += 1;
        }
    }
    println!("{tally:?}");
    tally
}

/// Whatever is lost: whoever finishes has, bit for bit, what the engine without peers makes of what was sealed by all who took part; and nobody
/// is read twice.
#[test]
fn under_faults_the_result_is_that_of_the_realised_sets() {
    let Tally {
        fired,
        finished,
        never,
        by_shares,
        ..
    } = all(0..120);
    assert!(finished > 200, "{finished} peers finished");
    assert!(never > 200 && by_shares > 10, "{never}, {by_shares}");
    assert!(fired.crashes > 50 && fired.restarts > 10 && fired.inherited > 5);
    assert!(fired.averagings_again > 50 && fired.attempts_again > 50);
}

/// `cargo test --lib sealed::thousands -- --ignored --nocapture`
#[test]
#[ignore = "minutes: the command stands above"]
fn thousands_of_schedules_are_green() {
    let most = std::env::var("SCHEDULES").ok();
    let most = most.map_or(3_000, |most| most.parse().expect("a number"));
    all(120..120 + most);
}
