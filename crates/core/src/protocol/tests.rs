//! One peer against neighbours that misbehave.

use std::sync::Arc;

use proptest::prelude::*;

use super::averaging::{
    AveragingKind, AveragingOptions, Length, MixingBounds, Neighbourhood, Schedule,
};
use super::{
    Body, CollectingOutbox, Event, FaultKind, Input, Message, Peer, PeerError, PeerSetup,
    QueryError, SessionId, SessionParameters, SessionPlan, SessionPlanError, Timer, Values,
};
use crate::algorithm::{Algorithm, AlgorithmError, PowerMethod, Program};
use crate::linalg::{Block, SparseRows, start_block};
use crate::noise::{PeerNoise, Term};
use crate::privacy::{Adjacency, SensitivityRule, SensitivitySpec};
use crate::vocabulary::{Binding, NoiseLabel, PeerIndex, ReleaseId, Round, Seed, Span, Time};

mod plans;
mod setups;
mod values;
mod wishart;

const ROUNDS: u32 = 3;
const VALUES: usize = 8;

/// A triangle with equal weights.
struct Triangle;

impl Neighbourhood for Triangle {
    fn peers(&self) -> usize {
        3
    }

    fn neighbours(&self, peer: usize) -> &[u32] {
        [&[1, 2], &[0, 2], &[0, 1]][peer]
    }

    fn weights(&self, _peer: usize) -> &[f64] {
        &[1.0 / 3.0; 2]
    }

    fn self_weight(&self, _peer: usize) -> f64 {
        1.0 / 3.0
    }
}

fn schedule() -> Schedule {
    let bounds = MixingBounds {
        lowest: -0.5,
        second: 0.5,
    };
    AveragingKind::Chebyshev
        .compile(
            &Triangle,
            bounds,
            Length::Rounds(ROUNDS),
            AveragingOptions::default(),
        )
        .expect("contracts")
}

fn power(rank: usize, iterations: u32) -> Result<PowerMethod, AlgorithmError> {
    PowerMethod::new(4, rank, iterations)
}

fn of(algorithm: Result<impl Algorithm, AlgorithmError>) -> Arc<Program> {
    Arc::new(algorithm.expect("valid").program())
}

/// A plan of the power method.
fn planned(parameters: SessionParameters) -> Result<SessionPlan, SessionPlanError> {
    SessionPlan::new(parameters, Arc::new(power(2, 2).expect("valid")))
}

fn parameters() -> SessionParameters {
    SessionParameters {
        peers: 3,
        program: of(power(2, 2)),
        sensitivity: SensitivitySpec::new(Adjacency::Interaction, SensitivityRule::Exact, 1, None),
        sigma_own: 0.0,
        sigma_pairwise: 0.0,
        sigma_coordinate: 0.0,
        ring: None,
        laplace: None,
        wishart: None,
        noise_factors: Vec::new(),
        scale_rounds: 1,
        averaging_rounds: ROUNDS,
        values: Values::F64,
        schedule: schedule().digest(),
        topology: [0; 32],
        start: start().digest(),
    }
}

fn start() -> Block {
    start_block(&Seed::from_u64(1), 4, 2).expect("rank 2")
}

fn rows() -> SparseRows {
    let mut rows = SparseRows::new(4);
    rows.push_row([(0, 0.6), (2, 0.8)]).expect("valid");
    rows.push_row([(1, 1.0)]).expect("valid");
    rows
}

fn own_noise(scale: f64) -> Term {
    let root = Seed::from_u64(1).noise_root(Binding::to(&[]));
    Term::new(root.key(NoiseLabel::OwnNoise, 1, 0), scale)
}

/// Peer 1 of three, with neighbours 0 and 2.
fn setup() -> PeerSetup {
    PeerSetup {
        index: PeerIndex(1),
        plan: Arc::new(planned(parameters()).expect("valid")),
        neighbours: [0, 2].map(PeerIndex).to_vec(),
        schedule: schedule().peer(&Triangle, 1),
        rows: rows().into(),
        noise: PeerNoise::new(own_noise(0.0), Vec::new(), own_noise(0.0)),
        noise_partners: [0, 2].map(PeerIndex).to_vec(),
        start: Arc::new(start()),
        patience: Some(Span::from_millis(10)),
    }
}

struct Bench {
    peer: Peer,
    outbox: CollectingOutbox,
}

impl Bench {
    fn started() -> Self {
        Self::started_with(setup())
    }

    fn started_with(setup: PeerSetup) -> Self {
        let mut bench = Self {
            peer: Peer::new(setup).expect("valid"),
            outbox: CollectingOutbox::default(),
        };
        bench.give(Input::Start).expect("starts");
        bench
    }

    fn give(&mut self, input: Input) -> Result<(), PeerError> {
        self.peer.handle(input, Time(0), &mut self.outbox)
    }

    fn send(&mut self, from: u32, message: Message) {
        self.give(Input::Message {
            from: PeerIndex(from),
            message,
        })
        .expect("messages never break a peer");
    }

    /// The fault a message from `from` causes.
    fn blamed(&mut self, from: u32, message: Message) -> FaultKind {
        self.send(from, message);
        let fault = self.outbox.faults.pop().expect("a fault");
        assert_eq!(fault.culprit, PeerIndex(from));
        assert!(self.outbox.faults.is_empty());
        fault.kind
    }
}

fn message(release: u32, round: u32, body: Body) -> Message {
    let session = planned(parameters()).expect("valid").session();
    Message {
        session,
        release: ReleaseId(release),
        round: Round(round),
        body,
    }
}

fn block(value: f64) -> Body {
    Body::Average(Arc::new(
        (0..VALUES).map(|i| value + i as f64 * 0.1).collect(),
    ))
}

#[test]
fn a_peer_goes_through_all_its_rounds() {
    let mut bench = Bench::started();
    for release in 1..=2 {
        for from in [0, 2] {
            bench.send(from, message(release, 0, Body::Scale(0.9)));
        }
        for round in 0..ROUNDS {
            for from in [2, 0] {
                bench.send(
                    from,
                    message(release, round, block(f64::from(from + round))),
                );
            }
        }
    }
    assert!(bench.peer.is_finished() && bench.outbox.faults.is_empty());
    // One scale message and three blocks per release; input, sum and basis of each, then the end.
    assert_eq!(
        (bench.outbox.messages.len(), bench.outbox.events.len()),
        (8, 7)
    );
    let [
        Event::Published { input, .. },
        Event::Released { terms, .. },
        ..,
    ] = bench.outbox.events.as_slice()
    else {
        panic!("the input, then the sum")
    };
    assert_eq!(bench.outbox.messages[1].1.body, input.body());
    assert!(
        terms.statistic >= 0.9 && terms.sensitivity == terms.statistic,
        "the largest statistic of all wins"
    );
}

#[test]
fn the_order_in_which_neighbours_speak_leaves_no_trace() {
    let run = |order: [u32; 2], early: bool| {
        let mut bench = Bench::started();
        for release in 1..=2 {
            let mut steps = vec![(0, Body::Scale(0.5))];
            steps.extend((0..ROUNDS).map(|round| (round, block(f64::from(release * 7 + round)))));
            if early {
                // The first neighbour is always one step ahead of the second.
                bench.send(order[0], message(release, steps[0].0, steps[0].1.clone()));
                for pair in steps.windows(2) {
                    bench.send(order[0], message(release, pair[1].0, pair[1].1.clone()));
                    bench.send(order[1], message(release, pair[0].0, pair[0].1.clone()));
                }
                let last = steps.last().expect("steps").clone();
                bench.send(order[1], message(release, last.0, last.1));
            } else {
                for (round, body) in steps {
                    for from in order {
                        bench.send(from, message(release, round, body.clone()));
                    }
                }
            }
        }
        assert!(bench.peer.is_finished() && bench.outbox.faults.is_empty());
        bench.outbox.messages
    };
    let reference = run([0, 2], false);
    for (order, early) in [([2, 0], false), ([0, 2], true), ([2, 0], true)] {
        assert_eq!(run(order, early), reference);
    }
}

/// What a peer put out and where it is.
fn trace(bench: Bench) -> impl PartialEq + std::fmt::Debug {
    let CollectingOutbox {
        messages,
        timers,
        events,
        faults,
    } = bench.outbox;
    let sums: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Released { sum, .. } => Some(sum.values().to_vec()),
            _ => None,
        })
        .collect();
    (messages, timers, sums, faults, bench.peer.step())
}

#[test]
fn messages_handed_over_together_are_handled_as_one_after_the_other() {
    let scale = |value| message(1, 0, Body::Scale(value));
    let foreign = Message {
        session: SessionId([9; 16]),
        ..scale(0.5)
    };
    let mut values = vec![0.25; VALUES];
    values[VALUES - 1] = f64::NAN;
    let nan = message(1, 0, Body::Average(Arc::new(values)));
    let short = message(1, 0, Body::Average(Arc::new(vec![1.0])));
    let first = |value| message(1, 0, block(value));
    let lots = [
        vec![(0, scale(0.5)), (2, scale(0.9))],
        vec![(2, scale(0.9)), (0, scale(0.5))],
        vec![(0, scale(0.5))],
        vec![(2, scale(0.9))],
        vec![(0, scale(0.5)), (5, scale(0.9))],
        vec![(0, scale(0.5)), (2, scale(0.9)), (2, scale(0.9))],
        vec![(0, scale(0.5)), (2, scale(1.5))],
        vec![(0, foreign), (2, scale(0.9))],
        vec![(0, first(1.0)), (2, first(2.0))],
        vec![(0, first(1.0)), (2, scale(0.5))],
        vec![(0, first(1.0)), (2, nan)],
        vec![(0, short), (2, first(2.0))],
        vec![(0, message(1, 1, block(0.5))), (2, first(2.0))],
        Vec::new(),
    ];
    // Every lot after every lot: the first leaves peers at the start, between steps and with messages stored.
    for before in &lots {
        for lot in &lots {
            let (mut together, mut single) = (Bench::started(), Bench::started());
            for (from, message) in before {
                together.send(*from, message.clone());
                single.send(*from, message.clone());
            }
            let borrowed = lot.iter().map(|(from, m)| (PeerIndex(*from), m));
            together
                .peer
                .handle_messages(borrowed, Time(0), &mut together.outbox)
                .expect("messages never break a peer");
            for (from, message) in lot {
                single.send(*from, message.clone());
            }
            assert_eq!(trace(together), trace(single), "{before:?} {lot:?}");
        }
    }
    // Whole steps to the end of an release, after which sums are told.
    let (mut together, mut single) = (Bench::started(), Bench::started());
    let mut steps = vec![(0, Body::Scale(0.9))];
    steps.extend((0..ROUNDS).map(|round| (round, block(f64::from(round) - 0.7))));
    for (round, body) in steps {
        let step = [0, 2].map(|from| (from, message(1, round, body.clone())));
        let borrowed = step.iter().map(|(from, m)| (PeerIndex(*from), m));
        let at = together.peer.step();
        together
            .peer
            .handle_messages(borrowed, Time(0), &mut together.outbox)
            .expect("messages never break a peer");
        assert_eq!(together.peer.step(), at + 1);
        for (from, message) in step {
            single.send(from, message);
        }
    }
    assert!(!together.outbox.events.is_empty());
    assert_eq!(trace(together), trace(single));
}

#[test]
fn every_misbehaviour_is_a_fault_that_names_the_culprit_and_the_numbers() {
    let mut bench = Bench::started();
    let scale = |value| message(1, 0, Body::Scale(value));
    assert_eq!(bench.blamed(5, scale(0.5)), FaultKind::UnknownSender);
    assert_eq!(bench.blamed(1, scale(0.5)), FaultKind::UnknownSender);
    let foreign = Message {
        session: SessionId([9; 16]),
        ..scale(0.5)
    };
    assert!(matches!(
        bench.blamed(0, foreign),
        FaultKind::WrongSession { .. }
    ));
    for value in [1.5, -0.1, f64::NAN, f64::INFINITY] {
        assert!(
            matches!(
                bench.blamed(0, scale(value)),
                FaultKind::ScaleOutOfRange { .. }
            ),
            "{value}"
        );
    }
    for (release, round) in [(0, 0), (3, 0), (1, 1), (u32::MAX, u32::MAX)] {
        let kind = bench.blamed(2, message(release, round, Body::Scale(0.5)));
        assert!(
            matches!(kind, FaultKind::NoSuchStep { .. }),
            "{release} {round}"
        );
    }
    assert!(matches!(
        bench.blamed(0, message(1, ROUNDS, block(0.0))),
        FaultKind::NoSuchStep { .. }
    ));
    let short = message(1, 0, Body::Average(Arc::new(vec![1.0])));
    assert_eq!(
        bench.blamed(0, short),
        FaultKind::WrongShape {
            expected: VALUES,
            found: 1
        }
    );
    let mut values = vec![0.0; VALUES];
    values[3] = f64::NAN;
    let nan = message(1, 0, Body::Average(Arc::new(values)));
    assert_eq!(bench.blamed(0, nan), FaultKind::NotFinite { coordinate: 3 });
    let far = message(2, 0, block(0.0));
    assert_eq!(
        bench.blamed(0, far),
        FaultKind::OutOfStep {
            expected: 0,
            found: 5
        }
    );
    bench.send(0, scale(0.5));
    assert_eq!(
        bench.blamed(0, scale(0.6)),
        FaultKind::Duplicate { step: 0 }
    );
    bench.send(2, scale(0.5));
    assert_eq!(
        bench.blamed(0, scale(0.5)),
        FaultKind::OutOfStep {
            expected: 1,
            found: 0
        }
    );
}

#[test]
fn a_refused_message_does_not_take_the_place_of_a_valid_one() {
    let mut bench = Bench::started();
    bench.blamed(0, message(1, 0, Body::Scale(2.0)));
    bench.send(0, message(1, 0, Body::Scale(0.5)));
    bench.send(2, message(1, 0, Body::Scale(0.5)));
    assert!(bench.outbox.faults.is_empty());
    assert_eq!(
        bench.outbox.messages.len(),
        2,
        "the peer moved on to averaging"
    );
}

#[test]
fn silent_neighbours_are_reported_when_the_deadline_passes() {
    let mut bench = Bench::started();
    assert_eq!(bench.outbox.timers, [(Timer { step: 0 }, Time(10_000_000))]);
    bench.send(2, message(1, 0, Body::Scale(0.5)));
    bench
        .give(Input::Timer(Timer { step: 0 }))
        .expect("timers never break a peer");
    let fault = bench.outbox.faults.pop().expect("a fault");
    assert_eq!(
        (fault.culprit, fault.kind),
        (PeerIndex(0), FaultKind::Silent { step: 0 })
    );
    bench.send(0, message(1, 0, Body::Scale(0.5)));
    bench
        .give(Input::Timer(Timer { step: 0 }))
        .expect("timers never break a peer");
    assert!(
        bench.outbox.faults.is_empty(),
        "a deadline of a step that is over means nothing"
    );
}

/// Numbers that no honest peer sends are refused. From those at the bound follows nothing that neighbours would refuse.
#[test]
fn values_beyond_the_bound_are_refused_and_those_at_it_lead_to_none_beyond() {
    let mut bench = Bench::started();
    let block = |value| Body::Average(Arc::new(vec![value; VALUES]));
    for value in [f64::MAX, -1e200] {
        let coordinate = 0;
        let kind = bench.blamed(0, message(1, 0, block(value)));
        assert_eq!(kind, FaultKind::TooLarge { coordinate });
    }
    for from in [0, 2] {
        bench.send(from, message(1, 0, Body::Scale(0.5)));
    }
    let (plan, own) = (
        planned(parameters()).expect("valid"),
        schedule().peer(&Triangle, 1),
    );
    let most = |round: Round| plan.largest_sent(ReleaseId(1), own.growth(0, round.0));
    for round in (0..ROUNDS).map(Round) {
        for from in [0, 2] {
            let message = message(1, round.0, block(most(round)));
            let from = PeerIndex(from);
            // Columns that are alike have no basis, in the end.
            let taken = bench.give(Input::Message { from, message });
            assert!(
                matches!(taken, Ok(()) | Err(PeerError::NotFullRank { .. })),
                "{taken:?}"
            );
        }
    }
    assert!(bench.outbox.faults.is_empty());
    let mut told = 0;
    for (_, said) in &bench.outbox.messages {
        if let (Body::Average(values), ReleaseId(1)) = (&said.body, said.release) {
            assert!(values.iter().all(|v| v.abs() <= most(said.round)));
            told += 1;
        }
    }
    assert_eq!(told, ROUNDS);
}

#[test]
fn a_peer_refuses_to_run_with_other_noise_than_the_plan_calls_for() {
    let with = |own: f64, pairs: &[f64]| {
        let mut changed = parameters();
        changed.sigma_own = 0.5;
        changed.sigma_pairwise = 3.0;
        let mut setup = setup();
        setup.plan = Arc::new(planned(changed).expect("valid"));
        let pairs = pairs.iter().map(|&scale| own_noise(scale)).collect();
        setup.noise = PeerNoise::new(own_noise(own), pairs, own_noise(0.0));
        Peer::new(setup)
    };
    assert!(with(0.5, &[-3.0, 3.0]).is_ok());
    let refused: [(f64, &[f64]); 9] = [
        (0.0, &[-3.0, 3.0]),
        (0.25, &[-3.0, 3.0]),
        (0.5, &[-3.0, 1.0]),
        (f64::NAN, &[-3.0, 3.0]),
        // One term per partner, no fewer and no more, and none towards the wrong side.
        (0.5, &[]),
        (0.5, &[-3.0]),
        (0.5, &[3.0]),
        (0.5, &[-3.0, 3.0, 3.0]),
        (0.5, &[3.0, -3.0]),
    ];
    for (own, pairs) in refused {
        assert!(
            matches!(with(own, pairs), Err(PeerError::Noise { partners: 2, .. })),
            "{own} {pairs:?}"
        );
    }
}

#[test]
fn noise_partners_ascend_and_are_other_peers_of_the_plan() {
    for partners in [&[2, 0][..], &[0, 0], &[0, 1], &[0, 3]] {
        let mut wrong = setup();
        wrong.noise_partners = partners.iter().map(|&v| PeerIndex(v)).collect();
        assert!(
            matches!(Peer::new(wrong), Err(PeerError::NoisePartners { .. })),
            "{partners:?}"
        );
    }
    let mut without = setup();
    without.noise_partners.clear();
    assert!(Peer::new(without).is_ok(), "no pairwise noise, no partners");
}

#[test]
fn a_start_that_the_plan_does_not_name_or_that_is_not_orthonormal_is_refused() {
    let with = |start: Block, named: [u8; 32]| {
        let mut changed = parameters();
        changed.start = named;
        let mut setup = setup();
        setup.plan = Arc::new(planned(changed).expect("valid"));
        setup.start = Arc::new(start);
        match Peer::new(setup) {
            Ok(_) => None,
            Err(PeerError::Query { source, .. }) => Some(source),
            Err(other) => panic!("{other:?}"),
        }
    };
    assert_eq!(with(start(), start().digest()), None);
    let other = start_block(&Seed::from_u64(2), 4, 2).expect("rank 2");
    assert_eq!(with(other, start().digest()), Some(QueryError::OtherStart));
    // A plan that names a long X: its contributions would exceed the sensitivity.
    for change in [10.0, 1.0 + 1e-8, f64::NAN] {
        let mut long = start();
        long.scale(change);
        let named = long.digest();
        assert!(
            matches!(with(long, named), Some(QueryError::NotOrthonormal { .. })),
            "{change}"
        );
    }
    let narrow = start_block(&Seed::from_u64(1), 4, 1).expect("rank 1");
    let named = narrow.digest();
    assert!(matches!(
        with(narrow, named),
        Some(QueryError::Shape { columns: 1, .. })
    ));
}

#[test]
fn an_input_that_overflows_is_never_published() {
    let mut changed = parameters();
    changed.sigma_own = f64::MAX;
    let mut setup = setup();
    setup.plan = Arc::new(planned(changed).expect("valid"));
    setup.noise = PeerNoise::new(own_noise(f64::MAX), Vec::new(), own_noise(0.0));
    let session = setup.plan.session();
    let mut bench = Bench {
        peer: Peer::new(setup).expect("valid"),
        outbox: CollectingOutbox::default(),
    };
    bench.give(Input::Start).expect("starts");
    let mut outcome = Ok(());
    for from in [0, 2].map(PeerIndex) {
        let message = Message {
            session,
            ..message(1, 0, Body::Scale(1.0))
        };
        outcome = outcome.and(bench.give(Input::Message { from, message }));
    }
    assert!(
        matches!(outcome, Err(PeerError::Overflow { .. })),
        "{outcome:?}"
    );
    assert_eq!(bench.outbox.messages.len(), 1, "the scale only");
}

fn any_message() -> impl Strategy<Value = (u32, Message)> {
    let body = prop_oneof![
        any::<f64>().prop_map(Body::Scale),
        (0.0..1.0).prop_map(Body::Scale),
        proptest::collection::vec(any::<f64>(), 0..10).prop_map(|v| Body::Average(Arc::new(v))),
        proptest::collection::vec(-1e3..1e3, VALUES).prop_map(|v| Body::Average(Arc::new(v))),
        proptest::collection::vec(-1e3..1e3, VALUES).prop_map(|v| Body::Coordinates(Arc::new(v))),
        proptest::collection::vec(any::<u64>(), VALUES).prop_map(|v| Body::Residues(Arc::new(v))),
    ];
    (0_u32..4, 0_u32..4, 0_u32..5, body)
        .prop_map(|(from, release, round, body)| (from, message(release, round, body)))
}

proptest! {
    #[test]
    fn no_sequence_of_messages_breaks_a_peer(messages in proptest::collection::vec(any_message(), 0..60)) {
        let mut bench = Bench::started();
        for (from, message) in messages {
            bench.send(from, message);
        }
    }
}
