mod bytes;
mod extremes;
mod mutants;
mod sealed;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::interceptor::{Interception, Interceptor};
use super::testing::averaged;
use super::{Crash, CrashPoint, FaultSchedule, FaultyError, FaultyOutcome, Fired, PeerEnd, Taken};
use crate::engine::testing::session_of_length;
use crate::engine::{Session, SessionViews, Silent, event};
use crate::linalg::{Block, SparseRows, orthonormalise};
use crate::plan::Averaging;
use crate::privacy::accountant::{PublicGraph, certified_variance_factors};
use crate::privacy::realised::Counted;
use crate::protocol::averaging::{AveragingKind, AveragingOptions, Length};
use crate::protocol::regroup::{Attempt, End, Publication, Tolerance, View};
use crate::protocol::tolerant::Defect;
use crate::protocol::{Summand, kernel};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId};

mod audit;
mod churn;
mod costs;
mod hostile;
mod soak;

const ITERATIONS: u32 = 3;

/// Runs a session whose frames and records go through bytes.
fn run(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
) -> Result<FaultyOutcome, FaultyError> {
    run_with(views, tolerance, schedule, bytes::ThroughBytes)
}

/// Runs a session whose frames and records are intercepted.
fn run_with(
    views: &Arc<SessionViews>,
    tolerance: &Arc<Tolerance>,
    schedule: &FaultSchedule,
    interception: impl Interception + 'static,
) -> Result<FaultyOutcome, FaultyError> {
    let interceptor = Interceptor(Arc::new(interception));
    super::network::run(views, tolerance, schedule, &mut Silent, Some(interceptor))
}

/// A graph of so many peers in which everybody has at least three neighbours: a ring with chords.
fn graph(peers: u32, chord: u32) -> Graph {
    let mut edges = std::collections::BTreeSet::new();
    for u in 0..peers {
        for step in [1, chord] {
            let v = (u + step) % peers;
            edges.insert((u.min(v), u.max(v)));
        }
    }
    Graph::from_edges(peers as usize, &edges.into_iter().collect::<Vec<_>>()).expect("a graph")
}

/// Two users of a peer, with some of 24 items each.
fn rows(peer: u32) -> SparseRows {
    let mut rows = SparseRows::new(24);
    for user in [2 * peer, 2 * peer + 1] {
        let items = (0..24).filter(|item| (user * 31 + item * 17 + user * item) % 5 == 0);
        let items: Vec<u32> = items.collect();
        let value = 1.0 / (items.len() as f64).sqrt();
        let entries = items.into_iter().map(|item| (item, value));
        rows.push_row(entries).expect("ascending");
    }
    rows
}

struct Scene {
    session: Session,
    views: Arc<SessionViews>,
    links: Vec<(u32, u32)>,
}

fn scene(peers: u32, kind: AveragingKind, seed: u64) -> Scene {
    scene_on(&graph(peers, 2 + (seed % 2) as u32), kind, seed)
}

fn scene_on(graph: &Graph, kind: AveragingKind, seed: u64) -> Scene {
    defective_scene(graph, kind, seed, None)
}

/// A session of peers that have a defect.
fn defective_scene(graph: &Graph, kind: AveragingKind, seed: u64, defect: Option<Defect>) -> Scene {
    let peers = graph.nodes() as u32;
    let length = match kind.is_exact() {
        true => Length::Own,
        false => Length::Rounds(6),
    };
    let options = AveragingOptions::default();
    let rows = (0..peers).map(rows).collect();
    let session = session_of_length(graph, rows, 2, ITERATIONS, (kind, length, options), seed);
    let averaging = Averaging::Named {
        scheme: kind,
        length,
        options,
    };
    let mut views = SessionViews::new(session.clone(), averaging);
    views.defect = defect;
    Scene {
        views: Arc::new(views),
        session,
        links: graph.edge_list().collect(),
    }
}

fn tolerance(peers: u32, lost: u32, retries: u32) -> Arc<Tolerance> {
    Arc::new(Tolerance {
        colluders: 1,
        floor: (peers - lost) as usize,
        needs: vec![1; peers as usize],
        retries,
        publication: Publication::Open,
    })
}

const KINDS: [AveragingKind; 3] = [
    AveragingKind::Tree,
    AveragingKind::Chebyshev,
    AveragingKind::Linear,
];

/// Where nothing goes wrong, tolerance costs no bit: every peer ends as it does on the engine that tolerates nothing.
#[test]
fn without_faults_the_result_is_that_of_the_session() {
    for kind in KINDS {
        let scene = scene(8, kind, 3);
        let outcome = run(&scene.views, &tolerance(8, 2, 1), &FaultSchedule::none(7));
        let outcome = outcome.expect("runs");
        let latency = event::Latency::Constant { micros: 1 };
        let plain = event::run(&scene.session, latency, &mut Silent).expect("runs");
        let last = plain.records.last().expect("releases");
        for (u, peer) in outcome.peers.iter().enumerate() {
            assert_eq!(peer.end, Some(End::Finished), "{kind:?}, peer {u}");
            let basis = peer.basis.as_ref().expect("a result");
            // Where averaging is exact all peers have the same bits; else the record has those of the first.
            if u == 0 || kind.is_exact() {
                assert_eq!(basis.values(), last.basis.values(), "{kind:?}, peer {u}");
            }
        }
        assert_eq!(outcome.fired, Fired::default());
    }
}

/// What everybody who takes part contributed, averaged by those who took the sum: by the engine that drives no peers.
fn expected(
    scene: &Scene,
    outcome: &FaultyOutcome,
    taken: (Attempt, &View),
) -> Result<BTreeMap<PeerIndex, Vec<f64>>, String> {
    averaged(&scene.views, outcome, taken)
}

/// A contribution to an attempt is the local product of the state that its peer had, and the noise of all adds up to what the plan says:
/// pairwise noise cancels among those who take part, whoever was lost later.
fn noise_on_the_sum(scene: &Scene, outcome: &FaultyOutcome, attempt: Attempt) -> Vec<f64> {
    let (then, _) = &outcome.parts[&attempt];
    let made = scene.views.of(then).expect("a session");
    let session = made.session();
    let planned = session.plan().release(attempt.release).expect("planned");
    let before = attempt.release.0 - 1;
    let mut left = vec![0.0; planned.values()];
    for (place, member) in made.members().iter().enumerate() {
        let Summand::Reals(input) = &outcome.published[&(attempt, *member)] else {
            panic!("real numbers");
        };
        let state = match before {
            0 => crate::algorithm::PublicState::new(Arc::clone(session.start())),
            _ => outcome.peers[member.index()].states[&before].clone(),
        };
        let setup = session.peer_setup(PeerIndex::from_index(place), None);
        let rows = kernel::contributing(planned, &setup.rows);
        let terms = planned.terms(1.0);
        let local = kernel::contribution(session.plan(), planned, rows, state.history(), &terms);
        let noise = input.iter().zip(local.values()).map(|(a, b)| a - b);
        left.iter_mut()
            .zip(noise)
            .for_each(|(sum, one)| *sum += one);
    }
    left
}

/// What must hold of every run, whatever goes wrong; how many peers finished with all sums.
fn check(scene: &Scene, outcome: &FaultyOutcome, tolerance: &Tolerance) -> Result<u64, String> {
    let ensure = |holds: bool, what: &str| match holds {
        true => Ok(()),
        false => Err(what.to_owned()),
    };
    let blamed = &outcome.observed.blamed;
    ensure(blamed.is_empty(), "nobody deviates, and somebody is blamed")?;
    let mut finished = 0;
    let mut taken: BTreeMap<ReleaseId, Attempt> = BTreeMap::new();
    // What the engine without peers makes of an attempt in a view: of all who took it at once.
    let mut averages = BTreeMap::new();
    for (u, peer) in outcome.peers.iter().enumerate() {
        let spent = peer.retries <= tolerance.retries;
        ensure(spent, "RETRIES: more were spent than there are")?;
        // LIVE: whoever lives comes to an end.
        ensure(
            peer.end.is_none() != peer.is_up,
            "LIVE: somebody lives for ever",
        )?;
        if peer.end != Some(End::Finished) {
            continue;
        }
        finished += 1;
        for release in 1..=ITERATIONS {
            let Some(Taken { attempt, view, .. }) = peer.taken.get(&ReleaseId(release)) else {
                return Err(format!("ALL: peer {u} finished without release {release}"));
            };
            let same = taken.entry(attempt.release).or_insert(*attempt);
            ensure(same == attempt, "SAME: two peers took different sums")?;
            let place = (*attempt, view.number);
            let sums = match averages.get(&place) {
                Some((of, sums)) if of == view => sums,
                _ => {
                    let sums = expected(scene, outcome, (*attempt, view))?;
                    averages.insert(place, (view.clone(), sums));
                    &averages[&place].1
                }
            };
            let sum = &sums[&PeerIndex::from_index(u)];
            let past = &peer.states[&release].past;
            // The state after a release tells the sum by its basis: orthonormalised from just this.
            let made = scene.views.of(view).map_err(|error| error.to_string())?;
            let planned = made
                .session()
                .plan()
                .release(attempt.release)
                .expect("planned");
            let (rows, columns) = planned.shape();
            let block = Block::from_values(rows, columns, sum.clone());
            let basis = orthonormalise(&block).expect("full rank");
            let is_equal = peer.states[&release].query.values() == basis.values();
            ensure(is_equal, "EQUAL: not the bits of the engine without peers")?;
            ensure(past.len() <= release as usize, "PAST: too long")?;
        }
    }
    let mut tries = BTreeMap::new();
    for (attempt, (view, retries)) in &outcome.parts {
        let enough = view.members.len() >= tolerance.floor;
        ensure(enough, "POLICY: an attempt below the floor")?;
        for peer in view.members.iter() {
            if outcome.observed.read.contains(&(*attempt, peer)) {
                let read = tries.entry((attempt.release, *retries, peer)).or_insert(0);
                *read += 1;
                ensure(*read == 1, "PAID: somebody was read twice in one try")?;
            }
        }
    }
    ensure(
        outcome.contradictions == 0,
        "FRESH: two different contributions to one attempt",
    )?;
    ensure(
        outcome.finals_given_up == 0,
        "FINAL: a certified attempt was given up",
    )?;
    let inputs = outcome.published.iter();
    let inputs = inputs.map(|((attempt, peer), input)| ((attempt.release, *peer), input));
    let mut first: BTreeMap<_, &Summand> = BTreeMap::new();
    for (key, input) in inputs {
        let Some(before) = first.insert(key, input) else {
            continue;
        };
        let (Some(a), Some(b)) = (before.reals(), input.reals()) else {
            continue;
        };
        let is_fresh = a.iter().zip(b.iter()).all(|(a, b)| a != b);
        ensure(is_fresh, "FRESH: the same noise in two attempts")?;
    }
    Ok(finished)
}

/// Whatever is lost: whoever finishes has, bit for bit, what the engine without peers makes of what was published by all who took part.
#[test]
fn under_faults_the_result_is_that_of_the_realised_sets() {
    let (mut fired, mut finished, mut ends) = (Fired::default(), 0, BTreeMap::new());
    for seed in 0..120 {
        let peers = 6 + (seed % 4) as u32;
        let kind = KINDS[(seed % 3) as usize];
        let scene = scene(peers, kind, seed);
        let most = (peers - 1) / 2;
        let schedule = FaultSchedule::drawn(seed, peers, &scene.links, most);
        let retries = if seed % 2 == 0 { 8 } else { 1 };
        let tolerance = tolerance(peers, most, retries);
        let outcome = run(&scene.views, &tolerance, &schedule);
        let outcome = outcome.unwrap_or_else(|error| panic!("seed {seed}: {error}\n{schedule:?}"));
        let checked = check(&scene, &outcome, &tolerance);
        finished += checked.unwrap_or_else(|broken| panic!("seed {seed}: {broken}\n{schedule:?}"));
        fired.add(&outcome.fired);
        for PeerEnd { end, .. } in &outcome.peers {
            *ends.entry(format!("{end:?}")).or_insert(0) += 1;
        }
    }
    println!("{fired:?} {ends:?}");
    assert!(finished > 300, "{finished} peers finished");
    let Fired {
        crashes,
        restarts,
        inherited,
        averagings_again,
        attempts_again,
        ..
    } = fired;
    assert!(crashes > 50 && restarts > 10 && inherited > 10, "{fired:?}");
    assert!(averagings_again > 50 && attempts_again > 50, "{fired:?}");
}

/// Two attempts at one release share no noise, and in each of them pairwise noise cancels.
#[test]
fn every_attempt_has_noise_of_its_own_and_it_cancels() {
    let mut attempts = 0;
    for seed in 0..40 {
        let scene = scene(7, AveragingKind::Tree, seed);
        let schedule = FaultSchedule::drawn(seed, 7, &scene.links, 3);
        let outcome = run(&scene.views, &tolerance(7, 3, 8), &schedule).expect("runs");
        let mut left: Vec<Vec<f64>> = Vec::new();
        for (attempt, (view, _)) in &outcome.parts {
            let all = view.members.iter();
            let mut all = all.map(|peer| outcome.published.contains_key(&(*attempt, peer)));
            // Exact averaging: everybody's state is the same, and known where somebody went on from it.
            let known = view.members.iter().all(|peer| {
                let states = &outcome.peers[peer.index()].states;
                attempt.release.0 == 1 || states.contains_key(&(attempt.release.0 - 1))
            });
            if !all.all(|is_here| is_here) || !known {
                continue;
            }
            attempts += 1;
            let noise = noise_on_the_sum(&scene, &outcome, *attempt);
            let sum: f64 = noise.iter().map(|x| x * x).sum();
            let deviation = (sum / noise.len() as f64).sqrt();
            // Own noise is 0.02 each, a pairwise term 3: one that did not cancel would be seen by a factor of fifty.
            assert!(deviation < 0.3, "seed {seed}: {deviation}");
            let alike = |other: &Vec<f64>| other.iter().zip(&noise).any(|(a, b)| a == b);
            assert!(!left.iter().any(alike), "seed {seed}: the same noise twice");
            left.push(noise);
        }
    }
    assert!(attempts > 80, "{attempts} attempts were seen whole");
}

/// Nobody is read twice in one try, so that what a run has cost is at most what is planned for all releases and the retries that were
/// spent, whoever was lost.
#[test]
fn what_a_faulty_run_has_cost_is_within_what_its_retries_pay_for() {
    let (mut tries, mut dangling) = (0, 0);
    for seed in 0..60 {
        let scene = scene(8, KINDS[(seed % 3) as usize], seed);
        let schedule = FaultSchedule::drawn(seed, 8, &scene.links, 3);
        let outcome = run(&scene.views, &tolerance(8, 3, 6), &schedule).expect("runs");
        let spent = outcome
            .peers
            .iter()
            .map(|peer| peer.retries)
            .max()
            .unwrap_or(0);
        let realised = outcome
            .realised(&scene.views)
            .expect("a run of this session");
        let known = scene
            .session
            .noise_topology()
            .spectrum()
            .algebraic_connectivity;
        // One release that everybody takes part in, against a curious member, with three lost.
        let once = |colluders: usize| {
            let graph = scene.session.noise_graph();
            let sigmas = scene.session.plan().sigmas();
            let public = PublicGraph::new(graph, known.into());
            let (own, pairwise) = (sigmas.own * sigmas.own, sigmas.pairwise * sigmas.pairwise);
            let factors = certified_variance_factors(&public, own, pairwise, colluders);
            let factors = factors.expect("certified");
            factors
                .into_iter()
                .map(|one| one.factor)
                .collect::<Vec<f64>>()
        };
        let planned = realised
            .planned(known.into(), 1, 3)
            .expect("within the plan");
        let certified = once(4);
        let most = f64::from(ITERATIONS + spent);
        tries += spent;
        for (u, (planned, certified)) in planned.iter().zip(certified).enumerate() {
            assert!(
                *planned <= most * certified * (1.0 + 1e-9),
                "seed {seed}, peer {u}"
            );
        }
        for curious in 0..8 {
            let exact = realised
                .losses(&[curious], Counted::Read)
                .expect("accounted");
            let all = realised
                .losses(&[curious], Counted::Members)
                .expect("accounted");
            for (u, ((exact, all), planned)) in exact.iter().zip(&all).zip(&planned).enumerate() {
                let (Some(exact), Some(all)) = (exact, all) else {
                    continue;
                };
                assert!(
                    exact.high <= planned * (1.0 + 1e-9),
                    "seed {seed}, peer {u}"
                );
                dangling += u32::from(exact.high < all.low * 0.99);
            }
        }
    }
    // Schedules did make peers pay twice, and did leave contributions hanging in the air.
    assert!(
        tries > 20 && dangling > 20,
        "{tries} retries, {dangling} dangling"
    );
}

/// A peer that comes back in time leaves everybody where they were, with the same members and the same plan: what they publish anew has
/// other noise all the same.
#[test]
fn a_restart_draws_fresh_noise() {
    let mut compared = 0;
    for number in 0..120 {
        let scene = scene(7, AveragingKind::Tree, 4);
        let mut schedule = FaultSchedule::none(number);
        schedule.notice_micros = 1_000_000;
        // The view in which nothing has gone wrong is a session of its own: two restarts make two others alike.
        let crash = |peer, after| Crash {
            peer,
            after,
            at: CrashPoint::Frame,
            restart_micros: Some(5_000),
        };
        let number = number as u32;
        schedule.crashes = vec![crash(2, 1 + number % 8), crash(5, 16 + number)];
        let outcome = run(&scene.views, &tolerance(7, 2, 3), &schedule).expect("runs");
        if outcome.fired.cuts > 0 {
            // Somebody crashed after its end, and was cut off.
            continue;
        }
        check(&scene, &outcome, &tolerance(7, 2, 3)).expect("holds");
        let whole = outcome.parts.keys().filter(|attempt| {
            let has = |u| outcome.published.contains_key(&(**attempt, PeerIndex(u)));
            attempt.release == ReleaseId(1) && (0..7).all(has)
        });
        let inputs = whole.map(|attempt| {
            let of = |u| {
                outcome.published[&(*attempt, PeerIndex(u))]
                    .reals()
                    .cloned()
            };
            (0..7)
                .map(of)
                .collect::<Option<Vec<_>>>()
                .expect("real numbers")
        });
        let inputs: Vec<Vec<Arc<Vec<f64>>>> = inputs.collect();
        for (first, second) in inputs.iter().zip(inputs.iter().skip(1)) {
            compared += 1;
            // Everybody contributes the same as before: what is equal could only be its noise.
            for (one, other) in first.iter().zip(second) {
                assert!(one.iter().zip(other.iter()).all(|(a, b)| a != b));
            }
        }
    }
    assert!(compared >= 2, "{compared} attempts were repeated whole");
}

#[test]
fn a_schedule_is_read_as_it_is_written() {
    for seed in 0..50 {
        let links = [(0, 1), (1, 2), (0, 2)];
        let schedule: FaultSchedule = FaultSchedule::drawn(seed, 3, &links, 2);
        let text = toml::to_string(&schedule).expect("TOML");
        assert_eq!(
            toml::from_str::<FaultSchedule>(&text),
            Ok(schedule),
            "{text}"
        );
    }
}
