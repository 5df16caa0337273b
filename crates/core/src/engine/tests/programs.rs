//! Averaging programs of every scheme on many graphs: slow peers, unexpected messages, exact sums, counts.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{
    BOUNDS, assert_same_bits, graphs, rows, run_all, schemes_on, session_of, session_with,
};
use crate::engine::analytic::{self, AnalyticOptions};
use crate::engine::event::{self, Latency};
use crate::engine::{EngineError, Session, SessionError, Silent, lockstep};
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, Expected, Form, Length, PeerStep, Schedule,
    ScheduleError,
};
use crate::protocol::{
    Body, CollectingOutbox, Event, FaultKind, Input, Message, Peer, PeerError, Targets,
};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Span, Time};

/// The four graphs of the engines' tests, and a path, a binary tree, a hub on a path, a bipartite graph and a lattice of 12.
fn many_graphs() -> Vec<Graph> {
    let path = (0..11_u32).map(|u| (u, u + 1)).collect::<Vec<_>>();
    let binary = (1..12_u32).map(|u| ((u - 1) / 2, u)).collect();
    let hub = path
        .iter()
        .copied()
        .chain((0..9).step_by(2).map(|u| (u, 11)))
        .collect();
    let bipartite = (0..3_u32)
        .flat_map(|u| (3..12).map(move |v| (u, v)))
        .collect();
    let right = (0..12_u32).filter(|u| u % 4 < 3).map(|u| (u, u + 1));
    let lattice = right.chain((0..8).map(|u| (u, u + 4))).collect();
    let more: [Vec<(u32, u32)>; 5] = [path, binary, hub, bipartite, lattice];
    let more = more.map(|edges| Graph::from_edges(12, &edges).expect("simple graphs"));
    graphs().into_iter().chain(more).collect()
}

fn topology(graph: &Graph) -> Topology {
    Topology::from_graph(graph.clone(), Provenance::edges("test"))
}

fn of_kind(graph: &Graph, kind: AveragingKind, iterations: u32) -> Session {
    session_of(graph, rows(), 2, (iterations, 3), kind, 5)
}

/// Drives real peers by hand. Messages to `slow` are withheld until nothing else can move, except those of its neighbour
/// `favoured`, which arrive at once: what that one may send ahead is what `slow` must be able to keep.
pub(super) fn finish_with_a_slow_peer(
    session: &Session,
    slow: usize,
    favoured: usize,
) -> Vec<Vec<f64>> {
    let mut peers: Vec<Peer> = (0..session.peers())
        .map(|u| Peer::new(session.peer_setup(PeerIndex::from_index(u), None)).expect("valid"))
        .collect();
    let mut last = vec![Vec::new(); peers.len()];
    let mut moving: VecDeque<(usize, usize, Message)> = VecDeque::new();
    let mut withheld = VecDeque::new();
    let mut act = |peers: &mut Vec<Peer>,
                   u: usize,
                   input: Input,
                   moving: &mut VecDeque<(usize, usize, Message)>| {
        let mut outbox = CollectingOutbox::default();
        peers[u]
            .handle(input, Time(0), &mut outbox)
            .expect("honest peers");
        assert_eq!(
            outbox.faults,
            [],
            "peer {u}, slow {slow}, favoured {favoured}"
        );
        let neighbours = session.graph().neighbours(u);
        for (targets, message) in outbox.messages {
            let to: Vec<u32> = match targets {
                Targets::All => neighbours.to_vec(),
                Targets::Positions(at) => at.iter().map(|&p| neighbours[p as usize]).collect(),
            };
            moving.extend(to.into_iter().map(|v| (u, v as usize, message.clone())));
        }
        for event in outbox.events {
            if let Event::Released { sum, .. } = event {
                last[u] = sum.values().to_vec();
            }
        }
    };
    for u in 0..peers.len() {
        act(&mut peers, u, Input::Start, &mut moving);
    }
    loop {
        let next = match moving.pop_front() {
            Some(letter) if letter.1 == slow && letter.0 != favoured => {
                withheld.push_back(letter);
                continue;
            }
            Some(letter) => letter,
            None => match withheld.pop_front() {
                Some(letter) => letter,
                None => break,
            },
        };
        let (from, to, message) = next;
        let from = PeerIndex::from_index(from);
        act(
            &mut peers,
            to,
            Input::Message { from, message },
            &mut moving,
        );
    }
    assert!(
        peers.iter().all(Peer::is_finished),
        "slow {slow}, favoured {favoured}"
    );
    last
}

#[test]
fn no_neighbour_gets_more_than_two_messages_ahead_of_a_slow_peer_under_any_scheme() {
    for graph in many_graphs() {
        for kind in schemes_on(&graph) {
            let session = of_kind(&graph, kind, 3);
            let mut reference = None;
            for slow in 0..12 {
                for &favoured in graph.neighbours(slow).iter().take(3) {
                    let sums = finish_with_a_slow_peer(&session, slow, favoured as usize);
                    assert_eq!(
                        &sums,
                        reference.get_or_insert_with(|| sums.clone()),
                        "{kind:?}"
                    );
                }
            }
        }
    }
}

/// How far two sums of 12 inputs in different orders may be apart, relative to the sum: each has an error of at most
/// s ε/2 Σ_u |x_u| per coordinate, and Σ_u ‖x_u‖ ≤ ‖Ȳ‖ (1 + spread/√s) by Cauchy and Schwarz; doubled for higher orders.
pub(super) fn rounding(spread: f64) -> f64 {
    2.0 * f64::EPSILON * 12.0 * (1.0 + spread / 12_f64.sqrt())
}

#[test]
fn a_tree_gives_every_peer_the_same_bits_on_every_engine_and_counts_two_messages_per_tree_edge() {
    for graph in many_graphs() {
        let session = of_kind(&graph, AveragingKind::Tree, 3);
        let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
        let uniform = Latency::Uniform {
            low_micros: 1,
            high_micros: 5000,
        };
        for latency in [Latency::Constant { micros: 10 }, uniform] {
            let event = event::run(&session, latency, &mut Silent).expect("runs");
            assert_same_bits(&lockstep, &event);
            let apart = event.records.iter().filter_map(|record| record.consensus);
            assert!(apart.into_iter().all(|c| c.between_peers == 0.0));
        }
        for record in &lockstep.records {
            let consensus = record.consensus.expect("peers");
            assert_eq!(consensus.between_peers, 0.0);
            let limit = rounding(consensus.initial_spread);
            assert!(
                consensus.disagreement <= limit,
                "{} > {limit}",
                consensus.disagreement
            );
        }
        let sums = finish_with_a_slow_peer(&session, 0, graph.neighbours(0)[0] as usize);
        assert!(sums.iter().all(|sum| *sum == sums[0]));
        let scales = 2 * graph.edges() as u64 * u64::from(session.plan().parameters().scale_rounds);
        let expected = 3 * (scales + 2 * 11);
        assert_eq!(lockstep.communication.messages, expected);
        assert_eq!(
            lockstep.communication,
            session.public().communication(3, false)
        );
    }
}

/// A mean instead of the sum, or a lost or doubled input, shows here.
#[test]
fn a_tree_adds_up_what_a_recurrence_averages() {
    for graph in many_graphs() {
        let tree = lockstep::run(&of_kind(&graph, AveragingKind::Tree, 1), &mut Silent);
        let tree = tree.expect("runs");
        let total = &tree.records[0].totals.published;
        let mut difference = (*tree.records[0].sum).clone();
        difference.add_scaled(-1.0, total);
        let spread = tree.records[0].consensus.expect("peers").initial_spread;
        assert!(difference.norm() <= rounding(spread) * total.norm());
        // And the bound could tell: a hundredth of one peer's input is far above it.
        assert!(rounding(spread) < 1e-4 * spread / 12.0);
    }
}

#[test]
fn a_message_that_the_program_does_not_expect_is_a_fault_of_its_sender() {
    // A complete graph: with as many children as there are peers the tree is a star around peer 0, and peers 1 and 2 are
    // neighbours that exchange no block.
    let star = AveragingOptions::default()
        .with_fan_in(11)
        .expect("in range");
    let kind = (AveragingKind::Tree, star);
    let session = session_with(&graphs()[1], rows(), 2, (2, 3), kind, 5);
    let mut peer = Peer::new(session.peer_setup(PeerIndex(1), None)).expect("valid");
    let mut outbox = CollectingOutbox::default();
    peer.handle(Input::Start, Time(0), &mut outbox)
        .expect("starts");
    let mut blamed = |from: u32, round: u32, body: Body| {
        let message = Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(round),
            body,
        };
        let from = PeerIndex(from);
        peer.handle(Input::Message { from, message }, Time(0), &mut outbox)
            .expect("messages never break a peer");
        outbox.faults.pop().map(|fault| fault.kind)
    };
    let block = || Body::Average(Arc::new(vec![0.5; session.plan().most_values()]));
    let unexpected = |round| {
        Some(FaultKind::Unexpected {
            release: ReleaseId(1),
            round: Round(round),
        })
    };
    assert_eq!(session.schedule().rounds(), 2);
    assert_eq!(
        blamed(2, 0, block()),
        unexpected(0),
        "no child and no parent"
    );
    assert_eq!(blamed(2, 1, block()), unexpected(1));
    assert_eq!(
        blamed(0, 0, block()),
        unexpected(0),
        "a parent sends nothing up"
    );
    assert!(matches!(
        blamed(0, 2, block()),
        Some(FaultKind::NoSuchStep { .. })
    ));
    assert_eq!(
        blamed(2, 0, Body::Scale(0.5)),
        None,
        "scales go to all neighbours"
    );
    assert!(matches!(
        blamed(2, 0, Body::Scale(0.5)),
        Some(FaultKind::Duplicate { .. })
    ));
    // The parent's total would be its second message: one ahead of the scale that is due.
    assert_eq!(session.plan().parameters().scale_rounds, 1);
    assert_eq!(blamed(0, 1, block()), None);
    assert!(matches!(
        blamed(0, 1, block()),
        Some(FaultKind::Duplicate { .. })
    ));
}

#[test]
fn a_peer_that_waits_blames_its_own_sources_alone_and_gives_them_a_patience_per_round() {
    // A path: the root is peer 5 or 6, the leaf 11 waits for its parent's total through many rounds.
    let path: Vec<_> = (0..11_u32).map(|u| (u, u + 1)).collect();
    let graph = Graph::from_edges(12, &path).expect("simple");
    let session = of_kind(&graph, AveragingKind::Tree, 1);
    let patience = Span::from_millis(10);
    let mut peer = Peer::new(session.peer_setup(PeerIndex(11), Some(patience))).expect("valid");
    let mut outbox = CollectingOutbox::default();
    peer.handle(Input::Start, Time(0), &mut outbox)
        .expect("starts");
    for round in 0..session.plan().parameters().scale_rounds {
        let message = Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(round),
            body: Body::Scale(0.5),
        };
        let from = PeerIndex(10);
        peer.handle(Input::Message { from, message }, Time(0), &mut outbox)
            .expect("handles");
    }
    let Form::Listed(steps) = session.schedule().form() else {
        panic!("a tree lists steps")
    };
    let [up, down] = steps[11].as_slice() else {
        panic!("a leaf sends up and takes what comes down")
    };
    let (timer, at) = outbox.timers.pop().expect("it waits");
    assert_eq!(timer.step, peer.step());
    // Sending up is done at once, so that its round is no clock: everything before the total takes as many rounds.
    assert_eq!(at.0, u64::from(down.round + 1) * patience.0);
    assert!(down.round > up.round + 1);
    peer.handle(Input::Timer(timer), at, &mut outbox)
        .expect("handles");
    let blamed: Vec<PeerIndex> = outbox.faults.iter().map(|fault| fault.culprit).collect();
    assert_eq!(blamed, [PeerIndex(10)]);
}

#[test]
fn a_program_that_the_plan_does_not_name_makes_no_session_and_runs_on_no_engine() {
    let graph = &graphs()[3];
    let mut parts = of_kind(graph, AveragingKind::Chebyshev, 1).parts();
    parts.schedule = Arc::clone(of_kind(graph, AveragingKind::Tree, 1).schedule());
    let refused = Session::new(parts.clone());
    assert!(
        matches!(refused, Err(SessionError::Schedule)),
        "{refused:?}"
    );
    for (engine, result) in run_all(&Session::unchecked(parts)) {
        assert!(
            matches!(
                result,
                Err(EngineError::Schedule | EngineError::Peer(PeerError::Schedule { .. }))
            ),
            "{engine}: {result:?}"
        );
    }
}

#[test]
fn probes_of_a_tree_do_not_deviate_at_all() {
    for graph in many_graphs() {
        let session = of_kind(&graph, AveragingKind::Tree, 2);
        let options = AnalyticOptions {
            probes: 5,
            contraction: 0.0,
        };
        let outcome = analytic::run(&session, options, &mut Silent).expect("runs");
        for record in &outcome.records {
            let consensus = record.consensus.expect("probes");
            assert_eq!(
                (consensus.disagreement, consensus.between_peers),
                (0.0, 0.0)
            );
            assert_eq!(*record.sum, record.totals.published);
        }
        assert_eq!(
            outcome.communication,
            session.public().communication(2, false)
        );
    }
}

#[test]
fn digests_tell_programs_apart() {
    let digest = |graph: &Graph, kind: AveragingKind, length| {
        let schedule = kind
            .compile(
                &topology(graph),
                BOUNDS,
                length,
                AveragingOptions::default(),
            )
            .expect("valid");
        schedule.digest()
    };
    let mut seen = Vec::new();
    for graph in many_graphs() {
        for rounds in [3, 4] {
            for kind in AveragingKind::recurrences() {
                seen.push(digest(&graph, kind, Length::Rounds(rounds)));
            }
        }
        seen.push(digest(&graph, AveragingKind::Tree, Length::Own));
    }
    let all = seen.len();
    seen.sort_unstable();
    seen.dedup();
    // A complete graph's tree is the star's own, a path's is its own: but positions and degrees differ.
    assert!(seen.len() > all - 3, "{} of {all}", seen.len());
}

#[test]
fn a_length_for_a_tree_and_a_graph_in_two_parts_are_refused_with_the_remedy() {
    let compile = |graph: &Graph, length| {
        let schedule = AveragingKind::Tree.compile(
            &topology(graph),
            BOUNDS,
            length,
            AveragingOptions::default(),
        );
        schedule.expect_err("refused")
    };
    for length in [Length::Rounds(5), Length::Tolerance(1e-3)] {
        let error = compile(&graphs()[0], length);
        assert!(
            error.to_string().contains("remove averaging.tolerance"),
            "{error}"
        );
    }
    let apart = Graph::from_edges(4, &[(0, 1), (2, 3)]).expect("simple");
    let error = compile(&apart, Length::Own);
    let expected = AveragingError::Unreachable {
        scheme: "tree",
        reached: 2,
        peers: 4,
    };
    assert_eq!(error, expected);
}

fn step(round: u32, send_to: &[u32], expect: &[u32]) -> PeerStep {
    let expected = |&position: &u32| Expected {
        position,
        weight: 1.0,
    };
    PeerStep {
        round,
        send_to: send_to.into(),
        expect: expect.iter().map(expected).collect(),
        own: 1.0,
        own_at: 0,
    }
}

#[test]
fn lists_that_are_no_program_are_refused() {
    let edge = topology(&Graph::from_edges(2, &[(0, 1)]).expect("simple"));
    let listed = |steps: [Vec<PeerStep>; 2]| Schedule::listed(&edge, 1.0, steps.to_vec());
    let talks = |rounds: u32| (0..rounds).map(|r| step(r, &[0], &[])).collect::<Vec<_>>();
    let hears = |rounds: u32| (0..rounds).map(|r| step(r, &[], &[0])).collect::<Vec<_>>();
    let both = |rounds: u32| (0..rounds).map(|r| step(r, &[0], &[0])).collect::<Vec<_>>();
    listed([both(5), both(5)]).expect("an exchange in every round");
    // Nobody answers: the first may be an iteration ahead.
    let ahead = Err(ScheduleError::Ahead { from: 0, to: 1 });
    assert_eq!(listed([talks(1), hears(1)]), ahead);
    assert_eq!(listed([talks(3), hears(3)]), ahead);
    let unmatched = |peer, round| Err(ScheduleError::Unmatched { peer, round });
    assert_eq!(listed([talks(2), hears(1)]), unmatched(0, 1));
    assert_eq!(listed([both(1), hears(1)]), unmatched(0, 0));
    for bad in [
        vec![step(1, &[], &[]), step(1, &[], &[])],
        vec![step(0, &[1], &[])],
        vec![step(0, &[], &[1])],
        vec![PeerStep {
            own: f64::NAN,
            ..step(0, &[], &[])
        }],
        vec![PeerStep {
            own_at: 1,
            ..step(0, &[], &[])
        }],
        vec![PeerStep {
            own: 0.0,
            own_at: 1,
            ..step(0, &[], &[0])
        }],
    ] {
        let error = listed([bad, Vec::new()]);
        assert_eq!(error, Err(ScheduleError::Step { peer: 0 }));
    }
    let short = Schedule::listed(&edge, 1.0, vec![both(1)]);
    assert_eq!(short, Err(ScheduleError::Peers { found: 1, peers: 2 }));
}
