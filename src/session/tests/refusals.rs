//! Every reason not to begin has its own message and names its cause.

use super::*;

/// Errors of three members of whom the last is set up, or behaves, in some other way.
fn errors(change: impl Fn(&mut AssemblySetup)) -> Vec<String> {
    let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    change(&mut setups[2]);
    let ends = Network::new(setups, 4).run();
    ends.iter()
        .map(|end| end.as_ref().expect("an end").error())
        .collect()
}

#[test]
fn another_file_build_mode_or_wire_is_refused_by_name() {
    let file = errors(|setup| setup.session = SessionHash([4; 32]));
    assert!(
        file.iter()
            .any(|e| e.contains("member 2 has another session file")),
        "{file:?}"
    );
    assert!(file.iter().all(|e| e != "agreed"));
    let build = errors(|setup| setup.join.sampler = [8; 32]);
    assert!(
        build[..2]
            .iter()
            .any(|e| e.contains("member 2 runs undertone test (08080808)")),
        "{build:?}"
    );
    let mode = errors(|setup| setup.join.mode = Mode::Simulation);
    assert!(
        mode[..2]
            .iter()
            .any(|e| e.contains("member 2 runs a simulation")),
        "{mode:?}"
    );
    let wire = errors(|setup| setup.join.wire = (2, 3));
    assert!(
        wire[..2]
            .iter()
            .any(|e| e.contains("member 2 speaks versions 2 to 3")),
        "{wire:?}"
    );
    for all in [build, mode, wire] {
        assert!(all.iter().all(|e| e != "agreed"), "{all:?}");
    }
}

#[test]
fn a_restored_ledger_is_noticed_by_those_who_saw_it_longer() {
    let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    let known = LedgerHead {
        length: 7,
        hash: [1; 32],
    };
    setups[0].remembered.insert(identity(2).id(), known);
    let ends = Network::new(setups, 4).run();
    let errors: Vec<_> = ends
        .iter()
        .map(|end| end.as_ref().expect("an end").error())
        .collect();
    assert!(
        errors[0].contains("ledger of member 2 has 5 entries and had 7"),
        "{errors:?}"
    );
    assert!(
        errors[2].contains("member 0 has seen this ledger with 7 entries"),
        "{errors:?}"
    );
    // As many entries, but others: a fork.
    let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    let forked = LedgerHead {
        length: 5,
        hash: [99; 32],
    };
    setups[0].remembered.insert(identity(2).id(), forked);
    let ends = Network::new(setups, 4).run();
    assert!(
        ends.iter()
            .all(|end| end.as_ref().expect("an end").error() != "agreed")
    );
    // One that has grown, or is as it was, is fine.
    for length in [4, 5] {
        let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
        let hash = [2; 32];
        setups[0]
            .remembered
            .insert(identity(2).id(), LedgerHead { length, hash });
        let ends = Network::new(setups, 4).run();
        assert!(
            ends.iter()
                .all(|end| end.as_ref().expect("an end").error() == "agreed")
        );
    }
}

#[test]
fn two_processes_with_one_key_are_evidence_against_it() {
    let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    let mut second = setup(2, 3);
    second.join.ephemeral = [200; 32];
    setups.push(second);
    let ends = Network::new(setups, 4).run();
    let errors: Vec<_> = ends
        .iter()
        .map(|end| end.as_ref().expect("an end"))
        .collect();
    assert!(
        errors
            .iter()
            .any(|end| end.error().contains("two different Join statements"))
    );
    assert!(errors.iter().all(|end| end.error() != "agreed"));
    let evidence = errors.iter().find_map(|end| match end {
        End::Failed(AssemblyError::Contradiction { evidence, .. }) => Some(evidence),
        _ => None,
    });
    let (first, second) = &**evidence.expect("both statements");
    let read =
        |bytes: &[u8]| Signed::read(bytes, SESSION, |_| true).expect("signed by that member");
    assert_eq!(read(first).from, identity(2).id());
    assert_eq!(read(second).from, identity(2).id());
    assert_ne!(first, second);
}

#[test]
fn a_number_that_was_not_committed_to_is_refused() {
    let all = errors(|setup| setup.number = [50; 32]);
    assert!(
        all[..2]
            .iter()
            .any(|e| e.contains("member 2 revealed another number")),
        "{all:?}"
    );
    assert!(all.iter().all(|e| e != "agreed"));
}

#[test]
fn another_plan_names_its_first_section_and_both_builds() {
    for (at, section) in SECTIONS.iter().enumerate() {
        let setups = (0..3).map(|number| setup(number, 3)).collect();
        let mut network = Network::new(setups, 6);
        network.plans = Box::new(move |member, assembled| {
            let mut own = sections(assembled);
            if member == 2 {
                own.0[at] = [0; 32];
            }
            Ok(own)
        });
        let errors: Vec<_> = network
            .run()
            .iter()
            .map(|end| end.as_ref().expect("an end").error())
            .collect();
        // Whoever notices first names the other.
        let named = |e: &String| e.contains(section) && e.contains("0000000000000000");
        assert!(errors.iter().any(named), "{errors:?}");
        assert!(errors.iter().all(|e| e != "agreed"));
    }
}

#[test]
fn a_member_whose_own_policy_refuses_says_so_to_all() {
    let setups = (0..3).map(|number| setup(number, 3)).collect();
    let mut network = Network::new(setups, 6);
    network.plans = Box::new(|member, assembled| match member {
        2 => Err("max_epsilon is 1 and the session may spend 2".to_owned()),
        _ => Ok(sections(assembled)),
    });
    let errors: Vec<_> = network
        .run()
        .iter()
        .map(|end| end.as_ref().expect("an end").error())
        .collect();
    assert!(
        errors[0].starts_with("member 2 left: max_epsilon is 1"),
        "{errors:?}"
    );
    assert!(errors[2].starts_with("max_epsilon is 1"), "{errors:?}");
}

#[test]
fn members_that_fall_silent_are_named() {
    // Member 2 is cut off as soon as it has revealed: the others wait for its Ready.
    let setups = (0..3).map(|number| setup(number, 3)).collect();
    let mut network = Network::new(setups, 6);
    let mut said = 0;
    network.delivers = Box::new(move |from, _| {
        said += u32::from(from == 2);
        // Join, Roster and Reveal go to two members each.
        from != 2 || said <= 6
    });
    let ends = network.run();
    let error = ends[0].as_ref().expect("an end").error();
    assert!(
        error.contains("member 2 did not say that it has the plan within 20 s"),
        "{error}"
    );
    // And one that never reveals.
    let setups = (0..3).map(|number| setup(number, 3)).collect();
    let mut network = Network::new(setups, 6);
    let mut said = 0;
    network.delivers = Box::new(move |from, _| {
        said += u32::from(from == 2);
        from != 2 || said <= 4
    });
    let ends = network.run();
    let error = ends[0].as_ref().expect("an end").error();
    assert!(
        error.contains("member 2 did not reveal its number within 20 s"),
        "{error}"
    );
}
