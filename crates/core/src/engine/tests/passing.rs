//! Programs that pass mass: the same bits with and without loss, what they promise, and what they refuse.

use nalgebra::DMatrix;

use super::{BOUNDS, graphs, rows, session_of_length};
use crate::engine::event::{self, Latency};
use crate::engine::lockstep::{self, Averaged, Exchange, Gossip, Rounds, Shares};
use crate::engine::losses::Losses;
use crate::engine::{ReleaseRecord, Session, SessionError, SessionParts, Silent};
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, Contacts, Form, Length, Loss, Passing,
    Schedule, ScheduleError,
};
use crate::protocol::{Body, CollectingOutbox, Input, Message, Peer, PeerError, Values};
use crate::topology::{Graph, Provenance, Topology};
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Seed, Time};

const KINDS: [AveragingKind; 2] = [AveragingKind::PushSum, AveragingKind::Pairwise];

fn losing(fraction: f64) -> AveragingOptions {
    AveragingOptions::default().with_loss(Loss::new(fraction).expect("a fraction"))
}

fn of(graph: &Graph, kind: AveragingKind, length: Length, loss: f64) -> Session {
    session_of_length(graph, rows(), 2, 2, (kind, length, losing(loss)), 5)
}

fn compiled(
    graph: &Graph,
    kind: AveragingKind,
    length: Length,
    options: AveragingOptions,
) -> Result<Schedule, AveragingError> {
    let topology = Topology::from_graph(graph.clone(), Provenance::edges("test"));
    kind.compile(&topology, BOUNDS, length, options)
}

/// A fifth of the averaging messages never arrives. The pattern of the run is none of those that the rounds were planned with; by the
/// plan one in 10⁶ would be worse than the tolerance.
#[test]
fn lossy_runs_reach_the_tolerance_and_lockstep_and_event_agree_to_the_bit() {
    for graph in graphs() {
        for kind in KINDS {
            let session = of(&graph, kind, Length::Tolerance(1e-9), 0.2);
            let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
            let uniform = Latency::Uniform {
                low_micros: 1,
                high_micros: 5000,
            };
            for latency in [Latency::Constant { micros: 10 }, uniform] {
                let event = event::run(&session, latency, &mut Silent).expect("runs");
                assert!(event.communication.lost > 0);
                for (a, b) in lockstep.records.iter().zip(&event.records) {
                    assert_eq!((&a.sum, &a.basis, &a.totals), (&b.sum, &b.basis, &b.totals));
                }
                for record in &event.records {
                    let consensus = record.consensus.expect("peers");
                    let rounding = 1e-12 * consensus.initial_spread;
                    let promised = 1e-9 * consensus.initial_spread + rounding;
                    assert!(consensus.disagreement <= promised, "{kind:?} {consensus:?}");
                }
            }
        }
    }
}

/// The rounds of a lossless schedule are too few where messages are lost: the promise above could be broken.
#[test]
fn rounds_that_were_planned_without_loss_are_too_few_with_it() {
    for graph in graphs() {
        for kind in KINDS {
            let tolerance = Length::Tolerance(1e-9);
            let lossless = of(&graph, kind, tolerance, 0.0).schedule().rounds();
            let planned = of(&graph, kind, tolerance, 0.2).schedule().rounds();
            assert!(planned > lossless);
            let session = of(&graph, kind, Length::Rounds(lossless), 0.2);
            let apart = |record: ReleaseRecord| {
                let consensus = record.consensus.expect("peers");
                consensus.disagreement / consensus.initial_spread
            };
            // What is lost is the seed's.
            let records = (0..6).flat_map(|seed| {
                let session = session.clone().with_seed(Seed::from_u64(seed));
                let session = session.expect("another seed");
                lockstep::run(&session, &mut Silent).expect("runs").records
            });
            let worst = records.map(apart).fold(0.0, f64::max);
            assert!(worst > 1e-9 / 12.0, "{kind:?} {worst}");
            let certified = session.schedule().contraction().expect("passes mass");
            assert!(certified > 1e-9);
        }
    }
}

/// Counts what is lost message by message. Of n messages the number lost is binomial: 6 standard deviations are exceeded with probability
/// 2e-9, eight times.
#[test]
fn what_is_lost_is_counted_and_what_is_sent_again_too() {
    for graph in graphs() {
        for kind in KINDS {
            let session = of(&graph, kind, Length::Rounds(60), 0.2);
            let latency = Latency::Constant { micros: 10 };
            let found = event::run(&session, latency, &mut Silent)
                .expect("runs")
                .communication;
            let losses = Losses::of(&session).expect("some are lost");
            let schedule = session.schedule();
            let (mut sent, mut lost, mut again) = (0_u64, 0_u64, 0_u64);
            for release in [ReleaseId(1), ReleaseId(2)] {
                for from in 0..12 {
                    let part = schedule.peer(&**session.topology(), from);
                    for (position, &to) in graph.neighbours(from).iter().enumerate() {
                        let ends = (PeerIndex::from_index(from), PeerIndex(to));
                        for round in 0..session.plan().scale_rounds() {
                            let message = Message {
                                session: session.plan().session(),
                                release,
                                round: Round(round),
                                body: Body::Scale(0.5),
                            };
                            let fate = losses.fate(&message, ends);
                            assert!(fate.arrives);
                            again += u64::from(fate.attempts - 1);
                        }
                        // Both ends of an edge meet in the same rounds.
                        let met = part.heard(position);
                        for round in (0..met.count()).filter_map(|index| met.round(index)) {
                            sent += 1;
                            lost += u64::from(losses.average((release, Round(round)), ends));
                        }
                    }
                }
            }
            let plain = session.public().communication(2, false);
            assert_eq!(found.lost, lost + again, "{kind:?}");
            assert_eq!(found.messages, plain.messages + again);
            assert!(found.bytes_total > plain.bytes_total && plain.lost == 0);
            let deviation = (sent as f64 * 0.2 * 0.8).sqrt();
            assert!(
                (lost as f64 - 0.2 * sent as f64).abs() < 6.0 * deviation,
                "{lost} of {sent}"
            );
            assert!(again > 0);
        }
    }
}

/// s·B + 11ᵀ of a lossless schedule, as the lockstep engine applies it to unit vectors.
fn applied(session: &Session) -> DMatrix<f64> {
    let Form::Passing(passing) = session.schedule().form() else {
        panic!("mass is passed");
    };
    let shares = Shares::new(session.graph(), session.schedule().rounds(), passing);
    let rounds = Rounds {
        exchange: Exchange::Passing(&shares, None),
        factor: session.schedule().factor(),
        watch: false,
        values: session.plan().values(),
    };
    let identity: Vec<f64> = (0..144).map(|i| f64::from(i % 13 == 0)).collect();
    let mut averaged = Averaged::default();
    Gossip::new(session.graph(), session.mixing()).average(rounds, (12, &identity), &mut averaged);
    let mut found = vec![0.0; 144];
    averaged.copy_peers(0, found.chunks_exact_mut(12));
    DMatrix::from_row_slice(12, 12, &found)
}

/// The certificate fails with probability 1e-16 per schedule.
#[test]
fn the_certified_contraction_is_above_the_largest_singular_value_and_not_far() {
    for graph in graphs() {
        for kind in KINDS {
            for rounds in [1, 3, 10, 60] {
                let session = of(&graph, kind, Length::Rounds(rounds), 0.0);
                let b = (applied(&session) - DMatrix::from_element(12, 12, 1.0)) / 12.0;
                let largest = b.singular_values().max();
                let certified = session.schedule().contraction().expect("passes mass");
                assert!(
                    certified >= largest,
                    "{kind:?} {rounds}: {certified} {largest}"
                );
                // 8 times the largest of 16 lengths of Bω, whose mean square is at most 12 ‖B‖².
                assert!(
                    certified < 80.0 * largest + 1e-12,
                    "{kind:?} {rounds}: {certified} {largest}"
                );
            }
        }
    }
}

#[test]
fn a_matching_is_of_disjoint_neighbours_and_cannot_be_made_larger_and_the_seed_decides() {
    for graph in graphs() {
        let with = |seed| {
            let options = AveragingOptions::default().with_seed(seed);
            compiled(&graph, AveragingKind::Pairwise, Length::Rounds(20), options)
                .expect("compiles")
        };
        let schedule = with(3);
        assert_eq!(schedule, with(3));
        assert_ne!(schedule.digest(), with(4).digest());
        let Form::Passing(passing) = schedule.form() else {
            panic!("mass is passed");
        };
        let Contacts::Pairs(meetings) = &passing.contacts else {
            panic!("pairs");
        };
        for round in 0..20 {
            let partner = |u: usize| {
                let met = meetings[u].iter().find(|one| one.round == round)?.with?;
                Some(graph.neighbours(u)[met as usize])
            };
            for u in 0..12 {
                match partner(u) {
                    Some(v) => assert_eq!(partner(v as usize), Some(u as u32)),
                    None => {
                        let neighbours = graph.neighbours(u).iter();
                        assert!(neighbours.copied().all(|v| partner(v as usize).is_some()));
                    }
                }
            }
        }
    }
}

#[test]
fn a_peer_is_told_of_losses_it_can_do_without_and_of_no_others() {
    let graph = &graphs()[0];
    let lost = |from: u32, round: u32| Input::Lost {
        from: PeerIndex(from),
        release: ReleaseId(1),
        round: Round(round),
    };
    let started = |kind| {
        let length = match kind {
            AveragingKind::Tree => Length::Own,
            _ => Length::Rounds(4),
        };
        let averaging = (kind, length, AveragingOptions::default());
        let session = session_of_length(graph, rows(), 2, 1, averaging, 5);
        let peer = Peer::new(session.peer_setup(PeerIndex(1), None)).expect("valid");
        (peer, session)
    };
    let mut outbox = CollectingOutbox::default();
    for kind in [AveragingKind::Tree, AveragingKind::Chebyshev] {
        let (mut peer, _) = started(kind);
        peer.handle(Input::Start, Time(0), &mut outbox)
            .expect("starts");
        let refused = peer.handle(lost(0, 0), Time(0), &mut outbox);
        assert!(
            matches!(refused, Err(PeerError::Lost { .. })),
            "{refused:?}"
        );
    }
    let (mut peer, session) = started(AveragingKind::PushSum);
    let mut say = |peer: &mut Peer, input: Input| {
        let done = peer.handle(input, Time(0), &mut outbox);
        assert_eq!(outbox.faults, []);
        done
    };
    let message = |from: u32, round: u32, body: Body| Input::Message {
        from: PeerIndex(from),
        message: Message {
            session: session.plan().session(),
            release: ReleaseId(1),
            round: Round(round),
            body,
        },
    };
    say(&mut peer, Input::Start).expect("starts");
    for round in 0..session.plan().scale_rounds() {
        for from in [0, 2] {
            say(&mut peer, message(from, round, Body::Scale(0.5))).expect("agrees");
        }
    }
    let first = peer.step();
    let total = || {
        Body::Average(std::sync::Arc::new(vec![
            0.25;
            session.plan().most_values() + 1
        ]))
    };
    // Nobody's message of round 2 can be under way, and peer 5 is no neighbour.
    for (from, round) in [(0, 2), (5, 0), (0, 4)] {
        let refused = say(&mut peer, lost(from, round));
        assert!(
            matches!(refused, Err(PeerError::Lost { .. })),
            "{from} {round}"
        );
    }
    // Both are told twice, in either order; a message that comes after all counts.
    say(&mut peer, lost(0, 0)).expect("does without");
    say(&mut peer, lost(0, 0)).expect("knows");
    say(&mut peer, message(0, 0, total())).expect("comes late");
    say(&mut peer, lost(0, 0)).expect("it is here");
    assert_eq!(peer.step(), first, "peer 2 is still to come");
    say(&mut peer, lost(0, 1)).expect("early");
    say(&mut peer, lost(2, 0)).expect("does without");
    assert_eq!(peer.step(), first + 1);
    // Given up, and then it came: nothing is blamed.
    say(&mut peer, message(2, 0, total())).expect("too late");
    assert_eq!(peer.step(), first + 1);
    say(&mut peer, message(2, 1, total())).expect("goes on");
    assert_eq!(peer.step(), first + 2);
    // A block without a weight is none.
    let bare = Body::Average(std::sync::Arc::new(vec![
        0.25;
        session.plan().most_values()
    ]));
    peer.handle(message(0, 2, bare), Time(0), &mut outbox)
        .expect("handles");
    assert_eq!(outbox.faults.len(), 1);
}

#[test]
fn running_totals_are_not_kept_in_short_numbers() {
    let parts = of(&graphs()[0], AveragingKind::PushSum, Length::Rounds(3), 0.0).parts();
    let mut parameters = parts.plan.parameters().clone();
    parameters.values = Values::F32;
    let plan = parts.plan.with(parameters).expect("valid").into();
    let refused = Session::new(SessionParts { plan, ..parts });
    let refused = refused.expect_err("mass would leak");
    assert!(
        matches!(refused, SessionError::MassValues { .. }),
        "{refused}"
    );
}

#[test]
fn what_cannot_be_planned_is_refused_with_the_remedy() {
    let ring = &graphs()[0];
    for kind in AveragingKind::all().filter(|kind| !kind.passes_mass()) {
        let scheme = kind.name();
        let refused = compiled(ring, kind, Length::Own, losing(0.1));
        assert_eq!(refused, Err(AveragingError::Lossless { scheme }));
        assert!(
            AveragingError::Lossless { scheme }
                .to_string()
                .contains("push-sum")
        );
    }
    let apart = Graph::from_edges(4, &[(0, 1), (2, 3)]).expect("simple");
    for kind in KINDS {
        let plain = AveragingOptions::default();
        let compile = |graph, length| compiled(graph, kind, length, plain).expect_err("refused");
        let stalled = |error| matches!(error, AveragingError::Stalled { .. });
        assert!(stalled(compile(&apart, Length::Own)));
        assert!(stalled(compile(ring, Length::Tolerance(1e-17))));
        for bad in [0.0, 1.0, -1.0, f64::NAN] {
            let error = compile(ring, Length::Tolerance(bad));
            assert!(matches!(error, AveragingError::Tolerance { .. }));
        }
        assert!(matches!(
            kind.contraction(BOUNDS, 3),
            Err(AveragingError::OfProgram { .. })
        ));
        // 12 peers: at least one pair per round.
        let error = compile(&graphs()[1], Length::Rounds(100_000_000));
        assert!(
            matches!(error, AveragingError::TooManyMessages { .. }),
            "{error:?}"
        );
    }
    let topology = Topology::from_graph(ring.clone(), Provenance::edges("test"));
    let passing = |rounds: u32, pairs: &[Vec<(u32, u32)>]| {
        let passing = Passing {
            contacts: Contacts::pairs(&topology, pairs)?,
            loss: Loss::NONE,
            contraction: 1.0,
        };
        Schedule::passing(&topology, rounds, passing)
    };
    assert!(passing(2, &[vec![(0, 1)], vec![(1, 2)]]).is_ok());
    assert_eq!(
        passing(1, &[vec![(0, 1)], vec![(1, 2)]]),
        Err(ScheduleError::Step { peer: 1 })
    );
    let Ok(Contacts::Pairs(meetings)) = Contacts::pairs(&topology, &[vec![(0, 1)]]) else {
        panic!("valid");
    };
    let mut one_sided = meetings.to_vec();
    one_sided[1][0].with = None;
    let passing = Passing {
        contacts: Contacts::Pairs(one_sided.into()),
        loss: Loss::NONE,
        contraction: 1.0,
    };
    assert_eq!(
        Schedule::passing(&topology, 1, passing),
        Err(ScheduleError::Unmatched { peer: 0, round: 0 })
    );
}
