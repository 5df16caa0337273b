//! Peers that exchange other values than f64.

use super::*;

fn exchanging(values: Values, sigma_own: f64) -> (PeerSetup, SessionId) {
    let mut changed = parameters();
    changed.values = values;
    changed.sigma_own = sigma_own;
    let mut setup = setup();
    setup.plan = Arc::new(Plan::new(changed).expect("valid"));
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
        Event::Published { input, .. } => Some(Arc::clone(input)),
        _ => None,
    });
    let published = Body::Average(published.expect("an input"));
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
    let (setup, session) = exchanging(Values::Residues32, 0.0);
    let mut bench = Bench::started_with(setup);
    let kind = bench.blamed(2, of(session, 0, thirds(true)));
    let (expected, found) = ("residues-32", "real numbers");
    assert_eq!(kind, FaultKind::OtherValues { expected, found });
    let kind = bench.blamed(2, of(session, 0, integers(1 << 32)));
    let (coordinate, values) = (0, "residues-32");
    assert_eq!(kind, FaultKind::OutOfRange { coordinate, values });
    let kind = bench.blamed(2, of(session, 1, Body::Residues(Arc::new(vec![1]))));
    let (expected, found) = (VALUES, 1);
    assert_eq!(kind, FaultKind::WrongShape { expected, found });
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
