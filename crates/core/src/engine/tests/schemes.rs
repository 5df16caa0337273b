//! What every exact averaging scheme promises, on random graphs and with all its options.

use std::sync::Arc;

use super::programs::finish_with_a_slow_peer;
use super::{BOUNDS, assert_same_bits, rows, session_with};
use crate::engine::event::{self, Latency};
use crate::engine::{EngineError, Session, Silent, analytic, lockstep};
use crate::protocol::Values;
use crate::protocol::averaging::{
    AveragingKind, AveragingOptions, Expected, Form, Length, Load, PeerStep, Schedule,
    ScheduleError, Traffic, fold,
};
use crate::topology::{Graph, Provenance, Topology};

fn options() -> AveragingOptions {
    AveragingOptions::default()
}

/// Connected graphs of 12 peers: a random tree and a few more edges.
fn random_graph(seed: u64) -> Graph {
    // A linear congruential generator (Knuth's constants for MMIX); its high bits are good enough here.
    let mut state = seed;
    let mut below = |bound: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(bound)) as u32
    };
    let mut edges: Vec<(u32, u32)> = (1..12).map(|v| (below(v), v)).collect();
    for _ in 0..below(30) {
        let v = 1 + below(11);
        let edge = (below(v), v);
        if !edges.contains(&edge) {
            edges.push(edge);
        }
    }
    Graph::from_edges(12, &edges).expect("simple")
}

fn complete(peers: u32) -> Graph {
    let edges: Vec<(u32, u32)> = (0..peers)
        .flat_map(|v| (0..v).map(move |u| (u, v)))
        .collect();
    Graph::from_edges(peers as usize, &edges).expect("simple")
}

/// Trees and doubling with all sorts of options, on graphs that have the edges.
fn settings() -> Vec<(Graph, AveragingKind, AveragingOptions)> {
    let mut all = Vec::new();
    for seed in 0..12 {
        let fan_in = options()
            .with_fan_in(2 + seed as u32 % 4)
            .expect("in range");
        for turns in [1, 2, 3, 5] {
            let with = fan_in.with_rotate(turns).expect("in range");
            let with = if seed % 2 == 0 {
                with
            } else {
                with.with_root(seed as u32)
            };
            all.push((random_graph(seed), AveragingKind::Tree, with));
        }
    }
    for base in [2, 3, 5, 12] {
        let with = options().with_base(base).expect("in range");
        all.push((complete(12), AveragingKind::Doubling, with));
    }
    all.push((complete(12), AveragingKind::Doubling, options()));
    all
}

fn session(
    graph: &Graph,
    kind: AveragingKind,
    options: AveragingOptions,
    iterations: u32,
) -> Session {
    session_with(graph, rows(), 2, (iterations, 3), (kind, options), 5)
}

fn steps(schedule: &Schedule) -> &[Vec<PeerStep>] {
    match schedule.form() {
        Form::Listed(steps) => steps,
        Form::Recurrence(_) | Form::Passing(_) => panic!("no list of steps"),
    }
}

/// What is wrong with what the peers end with when they follow these steps, if anything: they must all end with the same
/// bits, and those must be the sum up to rounding.
fn defect(graph: &Graph, steps: &[Vec<PeerStep>], factor: f64) -> Option<String> {
    let inputs: Vec<f64> = (0..graph.nodes())
        .map(|u| ((u * u + 1) as f64).sin() * 10_f64.powi(u as i32 % 5))
        .collect();
    let mut values = inputs.clone();
    let rounds = steps
        .iter()
        .flatten()
        .map(|step| step.round + 1)
        .max()
        .unwrap_or(0);
    for round in 0..rounds {
        let before = values.clone();
        for (u, own) in steps.iter().enumerate() {
            for step in own.iter().filter(|step| step.round == round) {
                let of = |e: &Expected| {
                    let from = graph.neighbours(u)[e.position as usize] as usize;
                    (e.weight, &before[from..=from])
                };
                let out = &mut values[u..=u];
                fold(
                    (step.own, step.own_at),
                    &before[u..=u],
                    step.expect.iter().map(of),
                    out,
                );
            }
        }
    }
    let first = factor * values[0];
    if let Some(u) = values
        .iter()
        .position(|x| (factor * x).to_bits() != first.to_bits())
    {
        return Some(format!(
            "peer {u} has {} and peer 0 {first}",
            factor * values[u]
        ));
    }
    let (sum, size) = (
        inputs.iter().sum::<f64>(),
        inputs.iter().map(|x| x.abs()).sum::<f64>(),
    );
    (((first - sum) / size).abs() > 1e-14).then(|| format!("{first} is not {sum}"))
}

#[test]
fn every_turn_gives_the_sum_to_all_with_the_same_bits() {
    for (graph, kind, options) in settings() {
        let session = session(&graph, kind, options, 1);
        let schedule = session.schedule();
        assert_eq!(schedule.turns().len(), options.rotate() as usize);
        for (number, turn) in schedule.turns().iter().enumerate() {
            assert_eq!(
                defect(&graph, steps(turn), turn.factor()),
                None,
                "{kind:?} {options:?}"
            );
            assert_eq!(
                turn,
                schedule.turn(number as u64 + 3 * u64::from(options.rotate()))
            );
            assert!(turn.rounds() <= schedule.rounds());
        }
        let longest = schedule.turns().iter().map(Schedule::rounds).max();
        assert_eq!(longest, Some(schedule.rounds()));
    }
}

/// A child listed twice, a child dropped, and a weight doubled: each is refused as no schedule, or gives a wrong sum.
#[test]
fn a_step_that_is_wrong_is_noticed() {
    for (graph, kind, options) in settings() {
        let session = session(&graph, kind, options, 1);
        let topology = Topology::from_graph(graph.clone(), Provenance::edges("test"));
        let right = steps(session.schedule()).to_vec();
        let waits = |steps: &[Vec<PeerStep>]| -> (usize, usize) {
            let found = steps.iter().enumerate().find_map(|(u, own)| {
                let at = own
                    .iter()
                    .position(|step| step.own != 0.0 && !step.expect.is_empty());
                at.map(|at| (u, at))
            });
            found.expect("somebody adds up")
        };
        let (u, at) = waits(&right);
        let mut twice = right.clone();
        let again = twice[u][at].expect[0];
        twice[u][at].expect.insert(0, again);
        assert_eq!(
            Schedule::listed(&topology, 1.0, twice),
            Err(ScheduleError::Step { peer: u })
        );
        let mut dropped = right.clone();
        dropped[u][at].expect.remove(0);
        dropped[u][at].own_at = 0;
        let refused = Schedule::listed(&topology, 1.0, dropped.clone());
        assert!(
            matches!(refused, Err(ScheduleError::Unmatched { .. })),
            "{refused:?}"
        );
        assert!(
            defect(&graph, &dropped, 1.0).is_some(),
            "{kind:?} {options:?}"
        );
        let mut doubled = right.clone();
        doubled[u][at].expect[0].weight = 2.0;
        let schedule = Schedule::listed(&topology, 1.0, doubled.clone())
            .expect("a schedule, but of another sum");
        assert_ne!(schedule.digest(), session.schedule().turn(0).digest());
        assert!(
            defect(&graph, &doubled, 1.0).is_some(),
            "{kind:?} {options:?}"
        );
        assert!(defect(&graph, &right, 2.0).is_some(), "another last factor");
        assert_eq!(defect(&graph, &right, 1.0), None);
    }
}

#[test]
fn lockstep_and_real_peers_agree_to_the_bit_over_all_turns_and_send_what_is_counted() {
    for (graph, kind, options) in settings() {
        // More sums than turns: the first turn comes again.
        let session = session(&graph, kind, options, options.rotate() + 2);
        let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
        let uniform = Latency::Uniform {
            low_micros: 1,
            high_micros: 5000,
        };
        // The event engine counts what peers send, one message after the other.
        let event = event::run(&session, uniform, &mut Silent).expect("runs");
        assert_same_bits(&lockstep, &event);
        for record in &event.records {
            assert_eq!(record.consensus.expect("peers").between_peers, 0.0);
        }
    }
}

#[test]
fn no_neighbour_is_three_messages_ahead_whatever_turn_follows() {
    for (graph, kind, options) in settings().into_iter().step_by(3) {
        let session = session(&graph, kind, options, options.rotate() + 1);
        let mut reference = None;
        for slow in 0..12 {
            for &favoured in graph.neighbours(slow).iter().take(2) {
                let sums = finish_with_a_slow_peer(&session, slow, favoured as usize);
                let first = reference.get_or_insert_with(|| sums.clone());
                assert_eq!(&sums, first, "{kind:?} {options:?}");
            }
        }
    }
}

#[test]
fn turns_of_a_tree_differ_and_move_the_load() {
    let graph = random_graph(3);
    let topology = Topology::from_graph(graph, Provenance::edges("test"));
    let busiest = |turns: u32| {
        let with = options().with_rotate(turns).expect("in range");
        let schedule = AveragingKind::Tree
            .compile(&topology, BOUNDS, Length::Own, with)
            .expect("connected");
        let load = Load::sum(0, 100, Values::F64).repeated(8);
        (Traffic::of(&schedule, &topology, &load), schedule)
    };
    let (one, alone) = busiest(1);
    let (four, turns) = busiest(4);
    assert_eq!(
        (one.messages, one.bytes.bytes_total),
        (four.messages, four.bytes.bytes_total)
    );
    let (four, one) = (four.bytes, one.bytes);
    assert!(four.bytes_max_peer < one.bytes_max_peer, "{four:?} {one:?}");
    assert_eq!(turns.turn(0), &alone, "the first turn is the tree itself");
    assert_ne!(turns.digest(), alone.digest());
    let [a, b] = [0, 1].map(|turn| turns.turn(turn).digest());
    assert_ne!(a, b);
    let swapped = Schedule::taking_turns(vec![turns.turn(1).clone(), turns.turn(0).clone()]);
    let straight = Schedule::taking_turns(vec![turns.turn(0).clone(), turns.turn(1).clone()]);
    assert_ne!(
        swapped.map(|p| p.digest()),
        straight.map(|p| p.digest()),
        "the order counts"
    );
}

#[test]
fn programs_that_do_not_belong_together_take_no_turns() {
    let twelve = Topology::from_graph(complete(12), Provenance::edges("test"));
    let compiled = |kind: AveragingKind, topology: &Topology| {
        kind.compile(topology, BOUNDS, Length::Own, options())
            .expect("has the edges")
    };
    let tree = compiled(AveragingKind::Tree, &twelve);
    let doubling = compiled(AveragingKind::Doubling, &twelve);
    let both = Schedule::taking_turns(vec![tree.clone(), doubling.clone()]).expect("two lists");
    assert_eq!((both.turn(2), both.turn(3)), (&tree, &doubling));
    assert_eq!(
        Schedule::taking_turns(vec![tree.clone()]).as_ref(),
        Ok(&tree)
    );
    let ten = Topology::from_graph(complete(10), Provenance::edges("test"));
    let half = Schedule::listed(&twelve, 0.5, steps(&tree).to_vec()).expect("a schedule");
    for others in [
        vec![],
        vec![tree.clone(), both.clone()],
        vec![tree.clone(), compiled(AveragingKind::Linear, &twelve)],
        vec![tree.clone(), compiled(AveragingKind::Tree, &ten)],
        vec![tree.clone(), half],
    ] {
        assert_eq!(Schedule::taking_turns(others), Err(ScheduleError::Turns));
    }
}

/// Probes have one law: turns that deviate from the sum in different ways are refused, those of a tree never deviate.
#[test]
fn the_analytic_engine_takes_turns_of_one_law_alone() {
    let probes = analytic::AnalyticOptions {
        probes: 4,
        contraction: 0.0,
    };
    let graph = random_graph(1);
    let rotating = options().with_rotate(3).expect("in range");
    let session = session(&graph, AveragingKind::Tree, rotating, 4);
    let outcome = analytic::run(&session, probes, &mut Silent).expect("exact in every turn");
    assert_eq!(
        outcome.communication,
        session.public().communication(4, false)
    );
    let turns = session.schedule().turns();
    // A turn that forgets its messages and takes s times its own value comes near the sum in another way.
    let topology = Topology::from_graph(graph, Provenance::edges("test"));
    let double = steps(&turns[0]).iter().map(|own| {
        let with = |step: &PeerStep| PeerStep {
            expect: step
                .expect
                .iter()
                .map(|e| Expected {
                    weight: 1.0 / 3.0,
                    ..*e
                })
                .collect(),
            ..step.clone()
        };
        own.iter().map(with).collect()
    });
    let other = Schedule::listed(&topology, 1.0, double.collect()).expect("a schedule");
    let schedule = Schedule::taking_turns(vec![turns[0].clone(), other]).expect("two lists");
    let mut parts = session.parts();
    let mut parameters = parts.plan.parameters().clone();
    parameters.schedule = schedule.digest();
    parameters.averaging_rounds = schedule.rounds();
    parts.schedule = Arc::new(schedule);
    parts.plan = Arc::new(parts.plan.with(parameters).expect("valid"));
    let session = Session::new(parts).expect("fits");
    let refused = analytic::run(&session, probes, &mut Silent);
    assert!(matches!(refused, Err(EngineError::Turns)), "{refused:?}");
}
