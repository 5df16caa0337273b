//! Members that crash while the others are agreeing.

use super::*;

/// So many members, one of which may be missing.
fn tolerant(members: u8) -> Vec<AssemblySetup> {
    let setups = (0..members).map(|number| AssemblySetup {
        least: usize::from(members) - 1,
        tolerates_losses: true,
        ..setup(number, members)
    });
    setups.collect()
}

/// What the others agree on when one of seven crashes at this time.
fn after_a_crash(seed: u64, at: u64, setups: Vec<AssemblySetup>) -> Vec<Option<End>> {
    let mut network = Network::new(setups, seed);
    let crashed = seed as usize % network.members.len();
    network.crash = Some((crashed, Time(at)));
    let mut ends = network.run();
    ends.remove(crashed);
    ends
}

#[test]
fn a_crash_at_any_moment_of_the_agreement_leaves_the_others_one_list() {
    let (mut with, mut without) = (0, 0);
    for seed in 0..300 {
        // Everybody has started after a second, and all have agreed half a second later.
        let at = SECOND + seed * SECOND / 600;
        let ends = after_a_crash(seed, at, tolerant(7));
        let first = ends[0].as_ref().expect("an end").agreed().clone();
        for end in &ends {
            assert_eq!(
                *end.as_ref().expect("an end").agreed(),
                first,
                "seed {seed}"
            );
        }
        match first.roster.len() {
            7 => with += 1,
            _ => without += 1,
        }
    }
    assert!(
        with > 30 && without > 30,
        "both occur: {with} and {without}"
    );
}

#[test]
fn a_session_that_needs_everybody_ends_when_one_falls_silent() {
    let setups = (0..7).map(|number| setup(number, 7)).collect();
    let ends = after_a_crash(1, SECOND + SECOND / 20, setups);
    for end in ends.iter().flatten() {
        assert!(end.error().contains("member"), "{}", end.error());
        assert!(matches!(end, End::Failed(_)));
    }
}

#[test]
fn with_lost_messages_members_never_begin_with_two_lists() {
    let mut began = 0;
    for seed in 0..200 {
        let mut network = Network::new(tolerant(5), seed);
        let crashed = seed as usize % 5;
        network.crash = Some((crashed, Time(SECOND + seed * SECOND / 100)));
        let mut lost = Seed::from_u64(seed + 1000).generator(Label::Scenario);
        network.delivers = Box::new(move |_, _| !lost.next_u32().is_multiple_of(3));
        let ids = network.ids.clone();
        let ends = network.run();
        let agreed: Vec<(PublicId, &Assembled)> = (0..5)
            .filter_map(|member| match ends[member].as_ref()? {
                End::Agreed(assembled) => Some((ids[member], &**assembled)),
                End::Failed(_) => None,
            })
            .collect();
        began += agreed.len();
        let lists = |assembled: &Assembled, id| assembled.roster.iter().any(|seat| seat.id == id);
        for (a, first) in &agreed {
            for (b, second) in &agreed {
                let both = lists(first, *b) && lists(second, *a);
                assert!(!both || first == second, "seed {seed}");
            }
        }
    }
    assert!(began > 600, "most begin: {began}");
}

#[test]
fn a_list_of_an_attempt_that_nobody_makes_is_passed_over() {
    let mut assembly = Assembly::new(tolerant(4).swap_remove(0));
    let mut out = Vec::new();
    assembly.handle(Input::Start, Time(0), &mut out);
    let far = Statement::Roster(Roster {
        attempt: u8::MAX,
        members: 0b11,
        joins: [1; 32],
    });
    let signed = Signed::new(&identity(1), SESSION, far);
    let received = Input::Received {
        from: identity(1).id(),
        bytes: signed.bytes.to_vec(),
    };
    assembly.handle(received, Time(1), &mut out);
    assert!(assembly.rosters.is_empty() && !assembly.is_over());
}
