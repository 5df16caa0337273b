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

/// A Join of this member for an earlier session, when its ledger was like this.
fn earlier(number: u8, length: u64, hash: u8) -> Signed {
    let mut join = join(number);
    join.ledger = LedgerHead {
        length,
        hash: [hash; 32],
    };
    Signed::new(
        &identity(number),
        SessionHash([8; 32]),
        Statement::Join(join),
    )
}

fn shown(number: u8, length: u64, hash: u8) -> Remembered {
    let proof = LedgerProof::of(&earlier(number, length, hash));
    Remembered::Shown(proof.expect("a Join"))
}

/// How three members end of whom the first remembers this of the last, whose ledger has 5 lines.
fn with_memory(seen: Remembered, seed: u64) -> Vec<End> {
    let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    setups[0].remembered.insert(identity(2).id(), seen);
    let ends = Network::new(setups, seed).run();
    ends.into_iter().map(|end| end.expect("an end")).collect()
}

#[test]
fn another_ledger_of_the_same_length_is_not_called_a_shorter_one() {
    let ends = with_memory(shown(2, 5, 1), 0);
    let said = ends[0].error();
    assert!(
        said.contains("has 5 entries and had 5 other before"),
        "{said}"
    );
}

#[test]
fn a_restored_ledger_is_noticed_by_those_who_saw_it_longer_and_shown_to_all() {
    let mut shown_to_second = 0;
    for seed in 0..20 {
        let ends = with_memory(shown(2, 7, 1), seed);
        let errors: Vec<_> = ends.iter().map(End::error).collect();
        assert!(
            errors[0].contains("ledger of member 2 has 5 entries and had 7"),
            "{errors:?}"
        );
        // Words overtake one another here: the owner may hear that somebody leaves before it is shown why.
        let shown = |e: &String| e.contains("has seen this ledger with 7 entries");
        assert!(
            shown(&errors[2]) || errors[2].contains("left: the ledger of member 2"),
            "{errors:?}"
        );
        // With what a repair needs.
        let needed = format!("length = 7, hash = \"{}\"", "01".repeat(32));
        assert!(
            !shown(&errors[2]) || errors[2].contains(&needed),
            "{errors:?}"
        );
        assert!(
            errors[1].contains("ledger of member 2")
                || (errors[1].starts_with("member 2 left") && shown(&errors[1])),
            "{errors:?}"
        );
        shown_to_second += u32::from(errors[1].starts_with("the ledger of member 2"));
    }
    // What is shown may arrive after the word that it is over.
    assert!(shown_to_second >= 5, "{shown_to_second}");
    // As many entries, but others: a fork.
    let ends = with_memory(shown(2, 5, 99), 4);
    assert!(ends.iter().all(|end| end.error() != "agreed"));
    // One that has grown, or is as it was, is fine.
    for length in [4, 5] {
        let ends = with_memory(shown(2, length, 2), 4);
        assert!(ends.iter().all(|end| end.error() == "agreed"));
    }
    // What an operator was told is reason enough for this member; to the others it says no more than that it leaves.
    let told = Remembered::Told(LedgerHead {
        length: 7,
        hash: [1; 32],
    });
    let errors: Vec<_> = with_memory(told, 4).iter().map(End::error).collect();
    assert!(
        errors[0].starts_with("the ledger of member 2"),
        "{errors:?}"
    );
    for error in &errors[1..] {
        assert!(error.starts_with("member 0 left"), "{errors:?}");
    }
}

/// How three members end to whom member 1 says, before and while they agree, that the ledger of whoever signed these bytes went back.
fn with_claim(join: &[u8], at: u64) -> Vec<String> {
    let setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
    let mut network = Network::new(setups, 4);
    let statement = Statement::LedgerBehind { join: join.into() };
    let signed = Signed::new(&identity(1), SESSION, statement);
    for to in [0, 2] {
        let (from, bytes) = (identity(1).id(), signed.bytes.to_vec());
        network.due(Time(at), to, Input::Received { from, bytes });
    }
    let ends = network.run();
    let ends = ends.iter().map(|end| end.as_ref().expect("an end").error());
    ends.collect()
}

#[test]
fn a_claim_that_shows_nothing_stops_nobody_and_one_that_shows_it_stops_all() {
    let mut forged = earlier(2, 7, 1).bytes.to_vec();
    // Its length: before the hash and the signature.
    let at = forged.len() - 64 - 32 - 8;
    forged[at] = 9;
    let unfounded: [&[u8]; 7] = [
        b"",
        b"nothing",
        &forged,
        // As long as it is now, shorter, of a member that was not invited, and no Join.
        &earlier(2, 5, 2).bytes,
        &earlier(2, 4, 2).bytes,
        &earlier(7, 9, 1).bytes,
        &Signed::new(&identity(2), SESSION, Statement::Reveal([2; 32])).bytes,
    ];
    let mut stopped = Vec::new();
    for at in (0..10).map(|tenths| tenths * SECOND / 8) {
        for join in unfounded {
            let ends = with_claim(join, at);
            assert!(ends.iter().all(|end| end == "agreed"), "{ends:?}");
        }
        // Nobody remembered it: what was shown before its Join came is remembered from then on. What comes after the end is too late.
        let ends = with_claim(&earlier(2, 7, 1).bytes, at);
        let agreed = ends.iter().filter(|end| *end == "agreed").count();
        for end in ends.iter().filter(|end| *end != "agreed") {
            assert!(
                end.contains("the ledger of member 2 has 5 entries and had 7")
                    || end.contains("has seen this ledger with 7 entries"),
                "{ends:?}"
            );
        }
        stopped.push(agreed == 0);
    }
    // Before anybody's Join, and in the middle.
    let before = stopped.iter().take_while(|stopped| **stopped).count();
    assert!((3..10).contains(&before), "{stopped:?}");
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

/// Member 2 has told member 0 one thing before, and tells everybody another.
#[test]
fn two_lists_or_two_numbers_of_one_member_are_evidence() {
    let joins = [0; 32];
    let roster = Roster {
        attempt: 0,
        members: 0b11,
        joins,
    };
    let others = [Statement::Roster(roster), Statement::Reveal([50; 32])];
    for statement in others {
        let kind = statement.kind();
        let mut setups: Vec<_> = (0..3).map(|number| setup(number, 3)).collect();
        // Nobody waits for what is never alike.
        setups
            .iter_mut()
            .for_each(|setup| setup.patience = Span(5 * SECOND));
        let mut network = Network::new(setups, 4);
        let signed = Signed::new(&identity(2), SESSION, statement);
        let (from, bytes) = (identity(2).id(), signed.bytes.to_vec());
        network.due(Time(0), 0, Input::Received { from, bytes });
        let ends = network.run();
        let End::Failed(AssemblyError::Contradiction {
            member, evidence, ..
        }) = ends[0].clone().expect("an end")
        else {
            panic!("{kind}: {ends:?}")
        };
        assert_eq!(without_ids(&member), "member 2");
        for bytes in [&evidence.0, &evidence.1] {
            let read = Signed::read(bytes, SESSION, |_| true).expect("signed");
            assert_eq!((read.from, read.statement.kind()), (identity(2).id(), kind));
        }
        assert!(
            ends.iter()
                .all(|end| end.as_ref().expect("an end").error() != "agreed")
        );
    }
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
