//! Honest members agree, whatever the network does short of cutting somebody off.

use super::*;

#[test]
fn all_who_are_invited_agree_on_roster_and_beacon() {
    for members in 2..=9 {
        let setups = (0..members).map(|number| setup(number, members)).collect();
        let ends = Network::new(setups, u64::from(members)).run();
        let first = ends[0].as_ref().expect("an end").agreed().clone();
        assert_eq!(first.roster, seats(members));
        for end in &ends {
            assert_eq!(*end.as_ref().expect("an end").agreed(), first);
        }
        // The beacon is every member's: another number of one of them is another beacon.
        let mut setups: Vec<_> = (0..members).map(|number| setup(number, members)).collect();
        setups[1].number = [77; 32];
        setups[1].join.commitment = commitment(&[77; 32]);
        let other = Network::new(setups, 5).run();
        let other = other[0].as_ref().expect("an end").agreed();
        assert_ne!(other.beacon, first.beacon);
    }
}

#[test]
fn one_message_in_three_may_be_lost() {
    for seed in 0..40 {
        let setups = (0..5).map(|number| setup(number, 5)).collect();
        let mut network = Network::new(setups, seed);
        let mut coins = Seed::from_u64(seed).generator(Label::Loss);
        network.delivers = Box::new(move |_, _| !coins.next_u32().is_multiple_of(3));
        let ends = network.run();
        let first = ends[0].as_ref().expect("an end").agreed().clone();
        for end in &ends {
            assert_eq!(*end.as_ref().expect("an end").agreed(), first);
        }
    }
}

#[test]
fn members_that_never_hear_one_another_are_told_by_others() {
    let setups = (0..4).map(|number| setup(number, 4)).collect();
    let mut network = Network::new(setups, 8);
    // 0 and 3 have no connection; whatever 1 and 2 hold they say again.
    network.delivers = Box::new(|from, to| (from.min(to), from.max(to)) != (0, 3));
    for end in network.run() {
        assert_eq!(end.expect("an end").agreed().roster.len(), 4);
    }
}

/// Each hears six others only. Nobody has to say anything again, which would take two seconds, nor to be connected with more.
#[test]
fn what_is_passed_on_reaches_everybody() {
    let setups = (0..64).map(|number| setup(number, 64)).collect();
    let (ends, took) = Network::new(setups, 3).over_a_ring().run_timed();
    let first = ends[0].as_ref().expect("an end").agreed().clone();
    assert_eq!(first.roster.len(), 64);
    for end in &ends {
        assert_eq!(*end.as_ref().expect("an end").agreed(), first);
    }
    assert!(took < Span(2 * SECOND), "{took:?}");
}

/// Half of the members are absent, and some of the others are near to absent members only: connections with everybody help.
#[test]
fn members_without_anybody_near_are_heard_when_all_are_connected() {
    let near_to_first = near(
        SESSION,
        &seats(64).iter().map(|seat| seat.id).collect::<Vec<_>>(),
        identity(0).id(),
    );
    let near_to_first = near_to_first.expect("a large session");
    let is_here = |number: &u8| !near_to_first.contains(&identity(*number).id());
    let here = (0..64).filter(is_here).take(32);
    let setups = here.map(|number| AssemblySetup {
        least: 32,
        ..setup(number, 64)
    });
    for end in Network::new(setups.collect(), 3).over_a_ring().run() {
        assert_eq!(end.expect("an end").agreed().roster.len(), 32);
    }
}

#[test]
fn who_does_not_come_is_left_out_where_the_file_allows_it() {
    let mut setups: Vec<_> = (0..4).map(|number| setup(number, 5)).collect();
    for setup in &mut setups {
        setup.least = 4;
    }
    let ends = Network::new(setups, 2).run();
    let absent = identity(4).id();
    for end in &ends {
        let roster = &end.as_ref().expect("an end").agreed().roster;
        assert_eq!(roster.len(), 4);
        assert!(roster.iter().all(|seat| seat.id != absent));
    }
    // With all needed nobody goes on, and the missing member is named.
    let setups = (0..4).map(|number| setup(number, 5)).collect();
    for end in Network::new(setups, 2).run() {
        let error = end.expect("an end").error();
        assert!(
            error.contains("4 members joined") && error.contains("member 4"),
            "{error}"
        );
    }
}

#[test]
fn lists_that_differ_when_the_session_closes_become_one() {
    // Member 4 is heard by member 0 alone, and says its first word just before the end: the others' lists lack it.
    for seed in 0..10 {
        let mut setups: Vec<_> = (0..5).map(|number| setup(number, 6)).collect();
        for setup in &mut setups {
            setup.least = 3;
            // Nothing is said again before the lists are drawn up.
            setup.repeat = Span(30 * SECOND);
            setup.patience = Span(5 * SECOND);
        }
        let mut network = Network::new(setups, seed);
        network.delivers = Box::new(|from, to| from != 4 || to == 0);
        let ends = network.run();
        let rosters: Vec<Vec<Seat>> = ends[..4]
            .iter()
            .map(|end| end.as_ref().expect("an end").agreed().roster.clone())
            .collect();
        assert!(rosters.iter().all(|roster| *roster == rosters[0]));
        assert!((4..=5).contains(&rosters[0].len()));
    }
}

#[test]
fn sixty_four_members_agree_within_three_seconds_of_twenty_milliseconds_each_way() {
    let members = 64;
    let setups = (0..members).map(|number| setup(number, members)).collect();
    let mut network = Network::new(setups, 3);
    network.latency = SECOND / 50..SECOND / 50 + 1;
    let (ends, took) = network.run_timed();
    for end in &ends {
        assert_eq!(end.as_ref().expect("an end").agreed().roster.len(), 64);
    }
    // Four steps, and a tenth of a second for the plan: what processors need comes on top.
    assert!(took < Span(3 * SECOND), "{took:?}");
    assert!(took > Span(SECOND / 10), "{took:?}");
}
