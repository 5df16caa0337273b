//! Peers that exchange other values than f64.

use super::*;
use crate::privacy::ring::{Grid, Modulus};
use crate::protocol::RingParameters;
use crate::protocol::averaging::{Expected, PeerStep};

fn exchanging(values: Values, sigma_own: f64) -> (PeerSetup, SessionId) {
    let mut changed = parameters();
    changed.values = values;
    changed.sigma_own = sigma_own;
    let mut setup = setup();
    setup.plan = Arc::new(planned(changed).expect("valid"));
    setup.noise = PeerNoise::new(own_noise(sigma_own), Vec::new(), own_noise(0.0));
    let session = setup.plan.session();
    (setup, session)
}

fn of(session: SessionId, round: u32, body: Body) -> Message {
    Message {
        session,
        ..message(1, round, body)
    }
}

/// A sum that no f32 holds unless it is rounded.
fn thirds(rounded: bool) -> Body {
    let mut values: Vec<f64> = (0..VALUES).map(|i| (i + 1) as f64 / 3.0).collect();
    if rounded {
        Values::F32.round(&mut values);
    }
    Body::Average(Arc::new(values))
}

#[test]
fn a_peer_of_singles_says_and_publishes_nothing_but_singles() {
    let (setup, session) = exchanging(Values::F32, 0.1);
    let mut bench = Bench::started_with(setup);
    for from in [0, 2] {
        bench.send(from, of(session, 0, Body::Scale(0.9)));
    }
    for round in 0..ROUNDS {
        for from in [0, 2] {
            bench.send(from, of(session, round, thirds(true)));
        }
    }
    assert!(bench.outbox.faults.is_empty());
    let mut blocks = 0;
    for (_, said) in &bench.outbox.messages {
        if let Body::Average(values) = &said.body {
            assert_eq!(Values::F32.first_changed(values), None, "{}", said.round);
            blocks += 1;
        }
    }
    assert_eq!(blocks, ROUNDS);
    let published = bench.outbox.events.iter().find_map(|event| match event {
        Event::Published { input, .. } => Some(input.body()),
        _ => None,
    });
    let published = published.expect("an input");
    let first = &bench.outbox.messages[1].1.body;
    assert_eq!(*first, published, "what is published is what is sent");
    // The same peer of f64 says others: the check can fail.
    let (setup, session) = exchanging(Values::F64, 0.1);
    let mut bench = Bench::started_with(setup);
    for from in [0, 2] {
        bench.send(from, of(session, 0, Body::Scale(0.9)));
    }
    let Body::Average(values) = &bench.outbox.messages[1].1.body else {
        panic!("a block");
    };
    assert!(Values::F32.first_changed(values).is_some());
}

#[test]
fn a_neighbour_that_forgets_to_round_is_blamed() {
    let (setup, session) = exchanging(Values::F32, 0.0);
    let mut bench = Bench::started_with(setup);
    let kind = bench.blamed(0, of(session, 0, thirds(false)));
    let values = "f32";
    let coordinate = 0;
    assert_eq!(kind, FaultKind::OutOfRange { coordinate, values });
    // Where f64 travel nothing is rounded.
    let mut bench = Bench::started();
    bench.send(0, message(1, 0, Body::Scale(0.5)));
    bench.send(0, message(1, 0, thirds(false)));
    assert!(bench.outbox.faults.is_empty());
}

#[test]
fn sums_of_another_kind_than_the_plans_are_the_neighbours_fault() {
    let integers = |value| Body::Residues(Arc::new(vec![value; VALUES]));
    for values in [Values::F64, Values::F32] {
        let (setup, session) = exchanging(values, 0.0);
        let kind = Bench::started_with(setup).blamed(2, of(session, 0, integers(1)));
        let (expected, found) = (values.name(), "integers");
        assert_eq!(kind, FaultKind::OtherValues { expected, found });
    }
    for (modulus, most) in [
        (Modulus::Bits32, u64::from(u32::MAX)),
        (Modulus::Bits64, u64::MAX),
    ] {
        let (setup, session) = adding(modulus);
        let expected = setup.plan.values().name();
        let mut bench = Bench::started_with(setup);
        let kind = bench.blamed(2, of(session, 0, thirds(true)));
        let found = "real numbers";
        assert_eq!(kind, FaultKind::OtherValues { expected, found });
        if let Some(beyond) = most.checked_add(1) {
            let kind = bench.blamed(2, of(session, 0, integers(beyond)));
            let (coordinate, values) = (0, expected);
            assert_eq!(kind, FaultKind::OutOfRange { coordinate, values });
        }
        let kind = bench.blamed(2, of(session, 0, Body::Residues(Arc::new(vec![1]))));
        let (expected, found) = (VALUES, 1);
        assert_eq!(kind, FaultKind::WrongShape { expected, found });
        bench.send(2, of(session, 0, integers(most)));
        assert!(bench.outbox.faults.is_empty());
    }
}

/// All of a triangle add up in one round.
fn adding_schedule() -> Schedule {
    let step = || PeerStep {
        round: 0,
        send_to: [0, 1].into(),
        expect: [0, 1]
            .map(|position| Expected {
                position,
                weight: 1.0,
            })
            .to_vec(),
        own: 1.0,
        own_at: 0,
    };
    let steps = (0..3).map(|_| vec![step()]).collect();
    Schedule::listed(&Triangle, 1.0, steps).expect("matched")
}

/// Peer 1 of three that add integers, with two masks of its own choice.
fn adding(modulus: Modulus) -> (PeerSetup, SessionId) {
    let mut changed = parameters();
    changed.sigma_own = 0.5;
    changed.averaging_rounds = 1;
    changed.schedule = adding_schedule().digest();
    changed.ring = Some(RingParameters {
        grid: Grid::of(12),
        modulus,
        clamp: 1 << 20,
    });
    let mut setup = setup();
    setup.plan = Arc::new(planned(changed).expect("valid"));
    setup.schedule = adding_schedule().peer(&Triangle, 1);
    let laws = Arc::clone(setup.plan.ring_laws().expect("integers"));
    let key = |with| {
        let root = Seed::from_u64(1).noise_root(Binding::to(&[]));
        root.key(NoiseLabel::PairwiseNoise, 1, with)
    };
    let own = Term::rounded(key(1), 0.5, Arc::clone(&laws));
    let masks =
        [(0, -1.0), (2, 1.0)].map(|(with, sign)| Term::mask(key(with), sign, Arc::clone(&laws)));
    setup.noise = PeerNoise::new(own, masks.to_vec(), own_noise(0.0));
    let session = setup.plan.session();
    (setup, session)
}

#[test]
fn a_peer_adds_residues_mod_2_to_the_k_and_no_other() {
    for (modulus, k) in [(Modulus::Bits32, 32), (Modulus::Bits64, 64)] {
        let sum_at = |bits: u32| {
            let (mut setup, session) = adding(modulus);
            setup.plan = Arc::new(SessionPlan::clone(&setup.plan).with_wrong_modulus(bits));
            let mut bench = Bench::started_with(setup);
            for from in [0, 2] {
                bench.send(from, of(session, 0, Body::Scale(0.9)));
            }
            let said = bench.outbox.messages.last().expect("a sum").1.body.clone();
            let Body::Residues(input) = &said else {
                panic!("residues: {said:?}");
            };
            // Two neighbours whose residues bring coordinate i of the sum to −(i + 1)², mod 2^k.
            let most = u64::MAX >> (64 - k);
            let first: Vec<u64> = (1..=VALUES as u64).map(|i| most / i).collect();
            let second = (1_u64..)
                .zip(input.iter().zip(&first))
                .map(|(i, (x, y))| x.wrapping_add(*y).wrapping_add(i * i).wrapping_neg() & most);
            let second = Body::Residues(Arc::new(second.collect()));
            bench.send(2, of(session, 0, second));
            bench.send(0, of(session, 0, Body::Residues(Arc::new(first))));
            let unit = bench.outbox.events.iter().find_map(|event| match event {
                Event::Released { terms, sum, .. } => {
                    let size = terms.steps().expect("a grid").size();
                    Some(sum.values().iter().map(|x| x / size).collect::<Vec<f64>>())
                }
                _ => None,
            });
            (input.iter().fold(0, |all, x| all | x), unit.expect("a sum"))
        };
        let (all, sum) = sum_at(k);
        let due = (1..=VALUES).map(|i| -((i * i) as f64));
        assert_eq!(sum, due.collect::<Vec<f64>>());
        // Masks fill the residues to the last bit, and not beyond.
        assert_eq!(64 - all.leading_zeros(), k);
        // A narrower modulus publishes other residues, and a wider one, where there is one, ends with other sums too.
        assert_ne!(sum_at(k - 1).0, all);
        if k < 64 {
            assert_ne!(sum_at(k + 1).1, sum);
        }
    }
}

#[test]
fn integers_are_refused_where_the_program_multiplies() {
    let (mut setup, _) = adding(Modulus::Bits32);
    let mut changed = setup.plan.parameters().clone();
    changed.schedule = schedule().digest();
    changed.averaging_rounds = ROUNDS;
    setup.plan = Arc::new(planned(changed).expect("valid"));
    setup.schedule = schedule().peer(&Triangle, 1);
    let refused = Peer::new(setup).expect_err("takes means");
    assert_eq!(refused, PeerError::Inexact { peer: PeerIndex(1) });
    assert!(refused.to_string().contains("tree"), "{refused}");
}

#[test]
fn an_input_beyond_the_range_of_singles_stops_the_peer_before_it_publishes() {
    for (values, stops) in [(Values::F32, true), (Values::F64, false)] {
        let (setup, session) = exchanging(values, 1e39);
        let mut bench = Bench::started_with(setup);
        let mut outcome = Ok(());
        for from in [0, 2].map(PeerIndex) {
            let message = of(session, 0, Body::Scale(1.0));
            outcome = outcome.and(bench.give(Input::Message { from, message }));
        }
        let overflow = matches!(outcome, Err(PeerError::Overflow { .. }));
        assert_eq!(overflow, stops, "{outcome:?}");
        assert_eq!(bench.outbox.messages.len(), if stops { 1 } else { 2 });
    }
}
