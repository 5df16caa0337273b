//! The account of what happened against brute force, the plan, and the numbers of one session.

mod brute;
mod example;

use rand::{Rng, RngExt};

use super::*;
use crate::privacy::PrivacyError;
use crate::privacy::accountant::exact_variance_factors;
use crate::privacy::testing::algebraic_connectivity;
use crate::vocabulary::{Label, Seed};
use brute::joint_losses;

fn random_graph(rng: &mut impl Rng, nodes: usize, density: f64) -> Graph {
    let edges: Vec<(u32, u32)> = (0..nodes as u32)
        .flat_map(|u| (u + 1..nodes as u32).map(move |v| (u, v)))
        .filter(|_| rng.random::<f64>() < density)
        .collect();
    Graph::from_edges(nodes, &edges).expect("a simple graph")
}

fn log_uniform(rng: &mut impl Rng, low: f64, high: f64) -> f64 {
    10_f64.powf(rng.random_range(low..high))
}

/// A subset with each peer kept with this probability.
fn some(rng: &mut impl Rng, of: &[u32], kept: f64) -> Vec<u32> {
    let of = of.iter().copied();
    of.filter(|_| rng.random::<f64>() < kept).collect()
}

fn attempt(release: u32, view: u64, members: &[u32], read: &[u32]) -> Attempted {
    Attempted {
        release: ReleaseId(release),
        retry: 0,
        view,
        members: members.to_vec(),
        read: read.to_vec(),
        revealed: Vec::new(),
        sensitivity: 1.0,
        scales: vec![1.0; members.len()],
    }
}

/// A session in which anything may have gone wrong.
struct Execution {
    graph: Graph,
    sigmas: (f64, f64),
    coalition: Vec<u32>,
    attempts: Vec<Attempted>,
}

impl Execution {
    fn random(rng: &mut impl Rng) -> Self {
        let nodes = rng.random_range(4..11);
        let density = rng.random_range(0.35..0.9);
        let graph = random_graph(rng, nodes, density);
        let all: Vec<u32> = (0..nodes as u32).collect();
        let colluders = rng.random_range(0..3_u32);
        let coalition = (0..colluders)
            .map(|c| (c * 3 + colluders) % nodes as u32)
            .collect();
        let mut attempts = Vec::new();
        for release in 1..=rng.random_range(1..4) {
            for retry in 0..rng.random_range(1..4) {
                let mut members = some(rng, &all, 0.85);
                if members.is_empty() {
                    members.push(0);
                }
                let edges = graph.edge_list().filter(|(u, v)| {
                    members.binary_search(u).is_ok() && members.binary_search(v).is_ok()
                });
                let revealed = edges.filter(|_| rng.random::<f64>() < 0.07).collect();
                attempts.push(Attempted {
                    retry,
                    revealed,
                    sensitivity: log_uniform(rng, -1.0, 1.0),
                    scales: members
                        .iter()
                        .map(|_| log_uniform(rng, -0.7, 0.7))
                        .collect(),
                    ..attempt(
                        release,
                        attempts.len() as u64,
                        &members,
                        &some(rng, &members, 0.7),
                    )
                });
            }
        }
        Self {
            graph,
            sigmas: (log_uniform(rng, -0.5, 0.5), log_uniform(rng, -0.5, 2.0)),
            coalition,
            attempts,
        }
    }

    fn realised(&self, attempts: impl IntoIterator<Item = Attempted>) -> Realised {
        let (own, pairwise) = self.sigmas;
        let mut realised = Realised::new(self.graph.clone(), own, pairwise).expect("valid");
        for attempt in attempts {
            realised.record(attempt).expect("it happened");
        }
        realised
    }

    fn losses(&self, attempts: impl IntoIterator<Item = Attempted>) -> Vec<f64> {
        let realised = self.realised(attempts);
        let losses = realised.losses(&self.coalition, Counted::Read);
        let losses = losses.expect("well conditioned").into_iter();
        losses
            .map(|loss| loss.map_or(0.0, |b| b.estimate))
            .collect()
    }
}

/// The largest relative difference; of 0 and something, 1.
fn difference(a: &[f64], b: &[f64]) -> f64 {
    let relative = |(a, b): (&f64, &f64)| match a.max(*b) {
        0.0 => 0.0,
        largest => (a - b).abs() / largest,
    };
    a.iter().zip(b).map(relative).fold(0.0, f64::max)
}

#[test]
fn the_loss_is_that_of_the_joint_gaussian_and_wrong_accounts_are_not() {
    let mut rng = Seed::from_u64(1801).generator(Label::Scenario);
    let executions = 600;
    // Executions in which each wrong account differs: without dangling terms, blind to revealed ones, with one scale for all, only the last
    // time that a peer was read, members counted as read.
    let mut wrong = [0; 5];
    for number in 0..executions {
        let e = Execution::random(&mut rng);
        let brute = joint_losses(&e.graph, e.sigmas, &e.coalition, &e.attempts);
        let exact = e.losses(e.attempts.clone());
        assert!(
            difference(&exact, &brute) < 1e-9,
            "execution {number}: {exact:?} {brute:?}"
        );
        let changed = |change: &dyn Fn(&mut Attempted)| {
            let attempts = e.attempts.iter().cloned();
            e.losses(attempts.map(|mut attempt| {
                change(&mut attempt);
                attempt
            }))
        };
        let accounts = [
            changed(&|a| {
                let kept = |u: &u32| a.read.contains(u) || e.coalition.contains(u);
                let pairs = a.members.iter().zip(&a.scales);
                let (members, scales) = pairs.filter(|(u, _)| kept(u)).unzip();
                a.revealed = Vec::new();
                (a.members, a.scales) = (members, scales);
                if a.members.is_empty() {
                    (a.members, a.scales) = (vec![0], vec![1.0]);
                }
            }),
            changed(&|a| a.revealed = Vec::new()),
            changed(&|a| a.scales.iter_mut().for_each(|scale| *scale = 1.0)),
            e.losses(e.attempts.last().cloned()),
            changed(&|a| a.read.clone_from(&a.members)),
        ];
        for (count, account) in wrong.iter_mut().zip(&accounts) {
            *count += u32::from(difference(account, &brute) > 1e-3);
        }
    }
    assert!(wrong.iter().all(|&count| count > 250), "{wrong:?}");
}

#[test]
fn without_faults_it_is_todays_account() {
    let mut rng = Seed::from_u64(1802).generator(Label::Scenario);
    for _ in 0..60 {
        let mut e = Execution::random(&mut rng);
        let all: Vec<u32> = (0..e.graph.nodes() as u32).collect();
        e.attempts = (1..=4).map(|l| attempt(l, 0, &all, &all)).collect();
        let (own, pairwise) = (e.sigmas.0.powi(2), e.sigmas.1.powi(2));
        let today = NoiseCovariance::uniform(&e.graph, own, pairwise).expect("valid");
        let today = account(&today, &e.coalition, AccountOptions::default()).expect("valid");
        let today: Vec<f64> = today
            .brackets
            .iter()
            .map(|b| b.map_or(0.0, |b| 4.0 * b.estimate))
            .collect();
        assert!(difference(&e.losses(e.attempts.clone()), &today) < 1e-12);
    }
}

#[test]
fn crashes_after_sealing_cost_nobody_anything() {
    let mut rng = Seed::from_u64(1803).generator(Label::Scenario);
    let mut strict = 0;
    for _ in 0..200 {
        let mut e = Execution::random(&mut rng);
        e.attempts.truncate(1);
        let a = &mut e.attempts[0];
        a.revealed = Vec::new();
        let (members, read) = (a.members.clone(), a.read.clone());
        let units: Vec<f64> = a
            .scales
            .iter()
            .map(|d| (a.sensitivity / d).powi(2))
            .collect();
        let realised = e.realised(e.attempts.clone());
        let exact = realised.losses(&e.coalition, Counted::Read).expect("valid");
        let all = realised.losses(&e.coalition, Counted::Members);
        let all = all.expect("valid");
        // Without D: everybody who was not read is gone, as a colluder is.
        let gone: Vec<u32> = (0..e.graph.nodes() as u32)
            .filter(|u| !read.contains(u) || e.coalition.contains(u))
            .collect();
        let (own, pairwise) = (e.sigmas.0.powi(2), e.sigmas.1.powi(2));
        let alone = exact_variance_factors(&e.graph, own, pairwise, &gone).expect("valid");
        for &u in read.iter().filter(|u| !e.coalition.contains(u)) {
            let at = members.binary_search(&u).expect("a member");
            let of = |losses: &[Option<Bracket>]| losses[u as usize].expect("honest").estimate;
            let alone = alone[u as usize].expect("read") * units[at];
            let (exact, all) = (of(&exact), of(&all));
            assert!(exact <= all * (1.0 + 1e-9) && all <= alone * (1.0 + 1e-9));
            strict += u32::from(exact < 0.99 * all && all < 0.99 * alone);
        }
    }
    assert!(strict > 100, "{strict}");
}

#[test]
fn the_plan_covers_every_crash_and_every_coalition_that_it_tolerates() {
    let mut rng = Seed::from_u64(1804).generator(Label::Scenario);
    let (colluders, tolerated, nodes) = (1, 2, 8_u32);
    let (mut checked, mut tight) = (0, f64::INFINITY);
    for _ in 0..6 {
        let graph = random_graph(&mut rng, nodes as usize, 0.8);
        let lambda2 = match graph.is_connected() {
            true => algebraic_connectivity(&graph) * (1.0 - 1e-12),
            false => 0.0,
        };
        let connectivity = Connectivity {
            lower_bound: lambda2,
        };
        for gone in 0..1_u32 << nodes {
            if gone.count_ones() as usize > tolerated {
                continue;
            }
            let members: Vec<u32> = (0..nodes).filter(|u| gone >> u & 1 == 0).collect();
            let read = some(&mut rng, &members, 0.9);
            let mut realised = Realised::new(graph.clone(), 1.0, 20.0).expect("valid");
            // A first attempt that nobody read costs nothing and is charged once with the second.
            for (view, read) in [(0, &[][..]), (1, &read)] {
                let attempt = Attempted {
                    sensitivity: 3.0,
                    scales: members.iter().map(|u| 0.5 + f64::from(*u)).collect(),
                    ..attempt(1, view, &members, read)
                };
                realised.record(attempt).expect("it happened");
            }
            let planned = realised.planned(connectivity, colluders, tolerated);
            let planned = planned.expect("above the floor");
            let certified = realised.certified(colluders).expect("honest peers");
            for colluder in 0..nodes {
                let exact = realised.losses(&[colluder], Counted::Read).expect("valid");
                for (u, exact) in exact.iter().enumerate() {
                    let Some(exact) = exact else { continue };
                    assert!(exact.low <= planned[u] && exact.low <= certified[u]);
                    checked += 1;
                    if exact.estimate > 0.0 {
                        tight = tight.min(planned[u] / exact.estimate);
                    }
                }
            }
        }
    }
    // 37 sets of at most two peers, 8 colluders, 7 others.
    assert_eq!(checked, 6 * 37 * 8 * 7);
    assert!(tight < 1.5, "{tight}");
}

#[test]
fn reads_in_several_attempts_are_all_charged() {
    let graph = Graph::from_edges(3, &[(0, 1), (1, 2), (0, 2)]).expect("a triangle");
    let all = [0, 1, 2];
    let with = |attempts: &[Attempted]| {
        let mut realised = Realised::new(graph.clone(), 1.0, 2.0).expect("valid");
        let mut recorded = attempts.iter().cloned();
        recorded
            .try_for_each(|attempt| realised.record(attempt))
            .expect("valid");
        assert_eq!(realised.attempts(), attempts.len());
        let losses = realised.losses(&[], Counted::Read).expect("valid");
        let planned = realised.planned(Connectivity::UNKNOWN, 0, 0).expect("all");
        (losses[0].expect("honest").estimate, planned[0])
    };
    let (once, charged) = with(&[attempt(1, 0, &all, &all)]);
    // Σ = I + 4L: (1/3)(1 + 2/13).
    assert!((once - 5.0 / 13.0).abs() < 1e-12 && charged >= once);
    let (twice, charged_twice) = with(&[attempt(1, 0, &all, &all), attempt(1, 7, &all, &all)]);
    assert!((twice - 2.0 * once).abs() < 1e-12 && charged_twice >= 2.0 * charged);
    // Sealed twice and read once is one try; a retry is another.
    let (read, sealed) = with(&[attempt(1, 0, &all, &[]), attempt(1, 7, &all, &all)]);
    assert!((read - once).abs() < 1e-12 && (sealed / charged - 1.0).abs() < 1e-12);
    let retried = Attempted {
        retry: 1,
        ..attempt(1, 0, &all, &all)
    };
    let (_, retried) = with(&[attempt(1, 0, &all, &[]), retried]);
    assert!((retried / charged - 2.0).abs() < 1e-12);
}

#[test]
fn what_cannot_have_happened_is_refused() {
    let graph = || Graph::from_edges(4, &[(0, 1), (1, 2), (2, 3)]).expect("a path");
    for (own, pairwise) in [
        (0.0, 1.0),
        (-1.0, 1.0),
        (f64::NAN, 1.0),
        (f64::INFINITY, 1.0),
        (1e-200, 1.0),
        (1.0, -1.0),
        (1.0, f64::NAN),
        (1.0, 1e200),
    ] {
        let refused = Realised::new(graph(), own, pairwise);
        assert!(matches!(refused, Err(RealisedError::Sigma { .. })));
    }
    let mut realised = Realised::new(graph(), 1.0, 1.0).expect("valid");
    let good = attempt(1, 0, &[2, 0, 1], &[1, 0]);
    realised.record(good.clone()).expect("valid");
    type Change<'a> = &'a dyn Fn(&mut Attempted);
    let mut refused = |change: Change<'_>| {
        let mut bad = Attempted {
            view: 1,
            ..good.clone()
        };
        change(&mut bad);
        let error = realised.record(bad).expect_err("it cannot have happened");
        assert_eq!(realised.attempts(), 1);
        error
    };
    let peer = |error| match error {
        RealisedError::Peer { of, peer, .. } => (of, peer),
        other => panic!("{other}"),
    };
    assert_eq!(peer(refused(&|a| a.members[1] = 4)), ("members", 4));
    assert_eq!(peer(refused(&|a| a.members[1] = 2)), ("members", 2));
    assert_eq!(peer(refused(&|a| a.read[0] = 3)), ("read", 3));
    assert_eq!(peer(refused(&|a| a.read[0] = 0)), ("read", 0));
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200] {
        let error = refused(&|a| a.scales[2] = scale);
        assert!(matches!(error, RealisedError::Scale { peer: 1, .. }));
    }
    let error = refused(&|a| a.scales.truncate(2));
    assert!(matches!(error, RealisedError::Scales { members: 3, .. }));
    for sensitivity in [-1.0, f64::NAN, f64::INFINITY] {
        let error = refused(&|a| a.sensitivity = sensitivity);
        assert!(matches!(error, RealisedError::Sensitivity { .. }));
    }
    for (u, v) in [(0, 2), (2, 3), (1, 1), (9, 1)] {
        let error = refused(&|a| a.revealed = vec![(u, v)]);
        assert!(matches!(error, RealisedError::NoTerm { .. }), "{error}");
    }
    let error = refused(&|a| a.view = 0);
    assert!(matches!(error, RealisedError::Twice { view: 0, .. }));
    let error = refused(&|a| {
        a.view = 0;
        a.retry = 1;
        a.members = vec![0, 1, 3];
    });
    assert_eq!(error, RealisedError::View { view: 0 });
    // A refused attempt leaves no trace of its view.
    let other = attempt(1, 1, &[0, 1, 3], &[]);
    realised.record(other).expect("view 1 was never recorded");

    for (coalition, peer) in [(&[4][..], 4), (&[1, 1], 1)] {
        let error = realised.losses(coalition, Counted::Read);
        let expected = |error: &RealisedError| matches!(error, RealisedError::Accounting(PrivacyError::Coalition { peer: found, .. }) if *found == peer);
        assert!(error.is_err_and(|error| expected(&error)));
    }
    let everybody = realised.losses(&[0, 1, 2, 3], Counted::Read);
    assert_eq!(everybody, Ok(vec![None; 4]));
    assert!(realised.certified(4).is_err() && realised.certified(3).is_ok());
    let floor = realised.planned(Connectivity::UNKNOWN, 1, 0);
    assert!(matches!(
        floor,
        Err(RealisedError::Floor {
            members: 3,
            floor: 4,
            ..
        })
    ));
    assert!(realised.planned(Connectivity::UNKNOWN, 1, 1).is_ok());
    assert!(realised.planned(Connectivity::UNKNOWN, 3, 1).is_err());
    let revealed = Attempted {
        revealed: vec![(1, 0), (0, 1)],
        ..attempt(2, 0, &[0, 1, 2], &[0])
    };
    realised.record(revealed).expect("an edge");
    let refused = realised.planned(Connectivity::UNKNOWN, 1, 1);
    assert!(matches!(refused, Err(RealisedError::Revealed { .. })));
}
