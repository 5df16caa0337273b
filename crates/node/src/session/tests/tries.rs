//! A session file that is tried again, among honest members and one whose program is its own.
//!
//! The last member is the hostile one: its assembly runs, and what it says is replaced.

use super::*;

const MEMBERS: usize = 4;
const HOSTILE: usize = MEMBERS - 1;

fn setups() -> Vec<AssemblySetup> {
    let setups = (0..MEMBERS as u8).map(|number| AssemblySetup {
        patience: Span(5 * SECOND),
        ..setup(number, MEMBERS as u8)
    });
    setups.collect()
}

fn tolerant() -> Vec<AssemblySetup> {
    let tolerant = |setup| AssemblySetup {
        least: MEMBERS - 1,
        tolerates_losses: true,
        ..setup
    };
    setups().into_iter().map(tolerant).collect()
}

/// One try: how each ended, what each has written down, and all that each has signed.
struct Try {
    ends: Vec<End>,
    listed: Vec<Option<Listed>>,
    said: Vec<BTreeSet<Vec<u8>>>,
}

/// Plays a try in which the hostile member says this to each instead of what it should, and these to everybody at the start.
fn play(
    setups: Vec<AssemblySetup>,
    seed: u64,
    replayed: &[Vec<u8>],
    instead: impl Fn(&Statement, &[u8]) -> Vec<Vec<u8>> + 'static,
) -> Try {
    let mut network = Network::new(setups, seed);
    network.says = Box::new(move |from, _, bytes| {
        let signed = Signed::read(bytes, SESSION, |_| true).expect("a statement");
        match from == HOSTILE && signed.from == identity(HOSTILE as u8).id() {
            true => instead(&signed.statement, bytes),
            false => vec![bytes.to_vec()],
        }
    });
    for (number, bytes) in replayed.iter().enumerate() {
        for to in 0..HOSTILE {
            // Before others have started, and all the while.
            for at in [0, SECOND / 4, SECOND, SECOND + SECOND / 8] {
                let (from, bytes) = (identity(HOSTILE as u8).id(), bytes.clone());
                let at = Time(at + number as u64);
                network.due(at, to, Input::Received { from, bytes });
            }
        }
    }
    network.play();
    Try {
        ends: network
            .ends
            .into_iter()
            .map(|end| end.expect("an end"))
            .collect(),
        listed: network.listed,
        said: network.said,
    }
}

fn as_it_is(_: &Statement, bytes: &[u8]) -> Vec<Vec<u8>> {
    vec![bytes.to_vec()]
}

fn withholds(statement: &Statement, bytes: &[u8]) -> Vec<Vec<u8>> {
    match statement {
        Statement::Reveal(_) => Vec::new(),
        _ => vec![bytes.to_vec()],
    }
}

/// The setups of the next try, in which everybody has what it wrote down.
fn again(setups: Vec<AssemblySetup>, before: &Try) -> Vec<AssemblySetup> {
    let listed = before.listed.iter().cloned();
    let setups = setups.into_iter().zip(listed);
    setups
        .map(|(setup, listed)| AssemblySetup { listed, ..setup })
        .collect()
}

fn all_said(tries: &[&Try]) -> Vec<Vec<u8>> {
    let honest = |one: &&Try| one.said[..HOSTILE].to_vec();
    tries.iter().flat_map(honest).flatten().collect()
}

/// Whether a session file has one of these two.
fn is_said_once(first: &Statement, second: &Statement) -> bool {
    match (first, second) {
        (Statement::Roster(first), Statement::Roster(second)) => first.attempt == second.attempt,
        (Statement::Ready(first), Statement::Ready(second)) => first.roster() == second.roster(),
        (first, second) => {
            let once = [Kind::Join, Kind::Reveal, Kind::Finished];
            first.kind() == second.kind() && once.contains(&first.kind())
        }
    }
}

/// No honest member has signed two statements of one place over these tries, nor accuses an honest one; what is kept as evidence convicts the
/// hostile one or nobody.
fn assert_honest(tries: &[&Try]) {
    let names: Vec<String> = (0..HOSTILE)
        .map(|number| format!("member {number}"))
        .collect();
    let accuses = |text: &str| names.iter().any(|name| text.contains(name.as_str()));
    for member in 0..HOSTILE {
        let said = tries.iter().flat_map(|one| &one.said[member]);
        let said: Vec<Statement> = said
            .map(|bytes| {
                Signed::read(bytes, SESSION, |_| true)
                    .expect("signed")
                    .statement
            })
            .collect();
        for (at, first) in said.iter().enumerate() {
            if let Statement::Gone { about, text, .. } = first {
                // A list that lacks somebody is its author's.
                let is_list =
                    text.starts_with("member 3 (") && text.contains("signed a list without");
                assert!(
                    about.is_none() && (is_list || !accuses(text)),
                    "{member}: {text}"
                );
            }
            for second in &said[at + 1..] {
                let both = is_said_once(first, second) && first != second;
                assert!(!both, "{member} signed {first:?} and {second:?}");
            }
        }
        for one in tries {
            match &one.ends[member] {
                End::Agreed(_) => {}
                // Whose word it is, and what it says.
                End::Failed(AssemblyError::Left { member, about, why }) => {
                    assert!(
                        about.is_none() || member.contains("member 3"),
                        "{about:?}: {why}"
                    );
                }
                End::Failed(AssemblyError::Contradiction { evidence, .. }) => {
                    for bytes in [&evidence.0, &evidence.1] {
                        let by = Signed::read(bytes, SESSION, |_| true).expect("signed").from;
                        assert_eq!(by, identity(HOSTILE as u8).id());
                    }
                }
                End::Failed(AssemblyError::ShortList { by, .. }) => assert!(!accuses(by), "{by}"),
                End::Failed(error) => assert!(!accuses(&error.to_string()), "{error}"),
            }
        }
    }
}

fn agreed(one: &Try) -> Vec<&Assembled> {
    one.ends[..HOSTILE].iter().map(End::agreed).collect()
}

#[test]
fn a_number_chosen_after_those_of_all_others_convicts_who_chose_it() {
    for seed in 0..20 {
        let first = play(setups(), seed, &[], withholds);
        assert!(
            first.ends[..HOSTILE]
                .iter()
                .all(|end| end.error() != "agreed")
        );
        // It knows all numbers, and comes with another of its own.
        let mut second = again(setups(), &first);
        second[HOSTILE].number = [99; 32];
        second[HOSTILE].join.commitment = commitment(&[99; 32]);
        second[HOSTILE].listed = None;
        let second = play(second, seed + 100, &[], as_it_is);
        assert_honest(&[&first, &second]);
        let ends = &second.ends[..HOSTILE];
        assert!(ends.iter().all(|end| end.error() != "agreed"), "{ends:?}");
        let is_evidence = |end: &End| {
            matches!(
                end,
                End::Failed(AssemblyError::Contradiction {
                    kind: Kind::Join,
                    ..
                })
            )
        };
        assert!(ends.iter().any(is_evidence), "{ends:?}");
    }
}

#[test]
fn what_was_said_in_an_earlier_try_changes_nothing_in_a_later_one() {
    for seed in 0..20 {
        let first = play(setups(), seed, &[], withholds);
        let said = all_said(&[&first]);
        assert!(said.len() >= 3 * HOSTILE, "Join, Roster and Reveal of each");
        let second = play(again(setups(), &first), seed + 100, &said, as_it_is);
        assert_honest(&[&first, &second]);
        let agreed = agreed(&second);
        assert!(agreed.iter().all(|one| *one == agreed[0]), "seed {seed}");
        // The numbers that were revealed are those that are used.
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session beacon v1");
        for seat in seats(MEMBERS as u8) {
            let number = (0..MEMBERS as u8).find(|number| identity(*number).id() == seat.id);
            hasher.update(&[number.expect("a member"); 32]);
        }
        assert_eq!(agreed[0].beacon, *hasher.finalize().as_bytes());
    }
}

#[test]
fn a_session_is_not_tried_again_without_a_member_that_knows_the_numbers() {
    let members = |setups: Vec<AssemblySetup>| {
        let setups = setups.into_iter();
        setups
            .map(|setup| AssemblySetup { least: 3, ..setup })
            .collect::<Vec<_>>()
    };
    let first = play(members(setups()), 3, &[], withholds);
    let mut second = again(members(setups()), &first);
    second.truncate(HOSTILE);
    let mut network = Network::new(second, 4);
    network.play();
    for end in &network.ends {
        let Some(End::Failed(AssemblyError::OtherMembers { missing })) = end else {
            panic!("{end:?}")
        };
        assert!(
            missing.len() == 1 && missing[0].starts_with("member 3 ("),
            "{missing:?}"
        );
    }
}

#[test]
fn lists_only_shrink_from_one_try_to_the_next_where_losses_are_tolerated() {
    for seed in 0..40 {
        // One honest member crashes while the others agree, and one that is hostile says nothing of its plan.
        let mut network = Network::new(tolerant(), seed);
        network.crash = Some((1, Time(SECOND + seed * SECOND / 80)));
        network.says =
            Box::new(
                |from, _, bytes| match from == HOSTILE && bytes[2] == Kind::Ready as u8 {
                    true => Vec::new(),
                    false => vec![bytes.to_vec()],
                },
            );
        network.play();
        let crashed = End::Failed(AssemblyError::Excluded);
        let first = Try {
            ends: network
                .ends
                .into_iter()
                .map(|end| end.unwrap_or(crashed.clone()))
                .collect(),
            listed: network.listed,
            said: network.said,
        };
        let second = again(tolerant(), &first);
        let second = play(second, seed + 1000, &all_said(&[&first]), as_it_is);
        // Whoever crashed, or was cut off by who did, is named as missing: it was.
        for member in 0..HOSTILE {
            let said = [&first, &second]
                .into_iter()
                .flat_map(|one| &one.said[member]);
            let said: Vec<_> = said
                .map(|b| {
                    Signed::read(b, SESSION, |_| true)
                        .expect("signed")
                        .statement
                })
                .collect();
            for (at, one) in said.iter().enumerate() {
                for other in &said[at + 1..] {
                    assert!(
                        !is_said_once(one, other) || one == other,
                        "seed {seed}: {one:?} {other:?}"
                    );
                }
            }
        }
        for end in first.ends[..HOSTILE].iter().chain(&second.ends[..HOSTILE]) {
            assert!(
                !matches!(end, End::Failed(AssemblyError::Contradiction { .. })),
                "{end:?}"
            );
        }
        let began: Vec<_> = second.ends[..HOSTILE]
            .iter()
            .filter_map(|end| match end {
                End::Agreed(assembled) => Some(assembled),
                End::Failed(_) => None,
            })
            .collect();
        assert!(began.iter().all(|one| *one == began[0]), "seed {seed}");
    }
}

/// The hash of the Joins of these members, as a list has it.
fn joins_of(members: u128) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session roster v1");
    hasher.update(&SESSION.0);
    for (place, seat) in seats(MEMBERS as u8).iter().enumerate() {
        if members >> place & 1 == 1 {
            let number = (0..MEMBERS as u8).find(|number| identity(*number).id() == seat.id);
            let number = number.expect("a member");
            let signed = Signed::new(&identity(number), SESSION, Statement::Join(join(number)));
            hasher.update(&signed.hash());
        }
    }
    *hasher.finalize().as_bytes()
}

/// Attempts that nobody makes, and lists that lack an honest member, under every number, of Joins that there are and others.
#[test]
fn a_list_under_a_number_far_ahead_names_its_author_at_most() {
    for (seed, attempt) in [1, 2, 3, 130, 254, 255].into_iter().enumerate() {
        for (least, is_true) in [(3, true), (3, false), (4, true), (4, false)] {
            let mut setups = setups();
            setups.iter_mut().for_each(|setup| setup.least = least);
            let all = setups[0].seats.iter();
            let target = all.clone().position(|seat| seat.id == identity(0).id());
            let members = 0b1111 & !(1 << target.expect("invited"));
            let joins = match is_true {
                true => joins_of(members),
                false => [1; 32],
            };
            let one = play(setups, seed as u64, &[], move |statement, bytes| {
                match statement {
                    Statement::Roster(_) => {}
                    // It hears its own list from others, and stays.
                    Statement::Gone { .. } => return Vec::new(),
                    _ => return vec![bytes.to_vec()],
                }
                let far = Statement::Roster(Roster {
                    attempt,
                    members,
                    joins,
                });
                vec![
                    Signed::new(&identity(HOSTILE as u8), SESSION, far)
                        .bytes
                        .to_vec(),
                ]
            });
            assert_honest(&[&one]);
            // Its author is named, or the others go on without it or without whom it leaves out.
            let ends = &one.ends[..HOSTILE];
            let is_named = ends.iter().any(|end| end.error().contains("member 3"));
            let goes_on = ends.iter().filter(|end| end.error() == "agreed").count();
            assert!(
                is_named || (goes_on > 1 && least == 3),
                "{attempt}: {ends:?}"
            );
        }
    }
}

#[test]
fn an_accusation_without_evidence_names_its_author_and_is_signed_by_nobody_else() {
    for seed in 0..10 {
        let one = play(setups(), seed, &[], |statement, bytes| {
            let Statement::Reveal(_) = statement else {
                return vec![bytes.to_vec()];
            };
            let accusation = Statement::Gone {
                reason: Reason::Lost,
                about: Some(identity(1).id()),
                text: "signed two different frames for one place of the protocol".to_owned(),
                is_final: true,
            };
            vec![
                Signed::new(&identity(HOSTILE as u8), SESSION, accusation)
                    .bytes
                    .to_vec(),
            ]
        });
        assert_honest(&[&one]);
        for end in &one.ends[..HOSTILE] {
            let said = end.error();
            assert!(
                said.starts_with("member 3 left, and gives member 1 as the reason"),
                "{said}"
            );
        }
    }
}

/// Nobody but those near hears it from whom it is.
#[test]
fn a_member_that_leaves_a_large_session_ends_it_for_all_at_once() {
    let setups = (0..64).map(|number| setup(number, 64)).collect();
    let mut network = Network::new(setups, 3).over_a_ring();
    network.plans = Box::new(|member, assembled| match member {
        2 => Err("max_epsilon is 1".to_owned()),
        _ => Ok(sections(assembled)),
    });
    let took = network.play();
    assert!(took < Span(3 * SECOND), "{took:?}");
    for (member, end) in network.ends.iter().enumerate() {
        let Some(End::Failed(error)) = end else {
            panic!("{member}: {end:?}")
        };
        // Who has heard it from its author has the reason; nobody says it as its own.
        let said = without_ids(&error.to_string());
        let first = said.contains("max_epsilon is 1");
        assert!(
            !first || member == 2 || said.starts_with("member 2 left"),
            "{said}"
        );
        assert!(
            first || said.ends_with("left: another member has left"),
            "{said}"
        );
    }
}

#[test]
fn a_key_without_a_secret_is_refused_with_its_join() {
    // Zero, one, and a point of order eight.
    let mut one = [0; 32];
    one[0] = 1;
    let mut order_eight = [0; 32];
    let digits = "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800";
    for (at, byte) in order_eight.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("a byte");
    }
    for key in [[0; 32], one, order_eight] {
        let mut plain = setups();
        plain[HOSTILE].join.ephemeral = key;
        let ended = play(plain, 1, &[], as_it_is);
        assert_honest(&[&ended]);
        let named = "member 3 joined with a key that gives no secret";
        let named = ended.ends[..HOSTILE]
            .iter()
            .filter(|end| end.error().contains(named));
        assert!(named.count() > 0, "{:?}", ended.ends);
        let mut tolerant = tolerant();
        tolerant[HOSTILE].join.ephemeral = key;
        let ended = play(tolerant, 1, &[], as_it_is);
        assert_honest(&[&ended]);
        for assembled in agreed(&ended) {
            assert_eq!(assembled.roster.len(), MEMBERS - 1);
        }
    }
}

#[test]
fn names_that_are_blamed_have_ids_beside_them() {
    let one = play(setups(), 1, &[], withholds);
    let id = identity(HOSTILE as u8).id();
    let silent = format!("{} did not reveal", id.beside("member 3"));
    let says = |end: &End| matches!(end, End::Failed(error) if error.to_string().contains(&silent));
    assert!(one.ends[..HOSTILE].iter().any(says), "{:?}", one.ends);
}
