//! Bytes from members and strangers: refused by type, never a panic, nothing allocated beyond a statement's length.

use super::*;
use crate::session::identity::{Domain, SIGNATURE_LEN};

/// One statement of every kind.
fn all(identity: &Identity) -> Vec<Signed> {
    let earlier = SessionHash([8; 32]);
    let shown = Signed::new(identity, earlier, Statement::Join(join(1)));
    let statements = [
        Statement::Join(join(1)),
        Statement::Roster(Roster {
            attempt: 1,
            members: 0b101,
            joins: [6; 32],
        }),
        Statement::Reveal([1; 32]),
        Statement::Ready(Sections([[2; 32]; SECTIONS.len()])),
        Statement::LedgerBehind { join: shown.bytes },
        Statement::Gone {
            reason: Reason::Lost,
            about: Some(identity.id()),
            text: "gone".to_owned(),
            is_final: true,
        },
        Statement::Finished { result: [3; 32] },
        Statement::Stamps(Stamps {
            part: 1,
            parts: 3,
            stamps: vec![(2, [4; STAMP_BYTES]); 2],
        }),
    ];
    let sign = |statement| Signed::new(identity, SESSION, statement);
    statements.into_iter().map(sign).collect()
}

#[test]
fn every_kind_is_read_as_written_and_any_flipped_bit_is_refused() {
    let identity = identity(1);
    for signed in all(&identity) {
        let read = Signed::read(&signed.bytes, SESSION, |_| true);
        assert_eq!(read.as_ref(), Ok(&signed));
        for bit in 0..8 * signed.bytes.len() {
            let mut bytes = signed.bytes.to_vec();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(
                Signed::read(&bytes, SESSION, |_| true).is_err(),
                "bit {bit}"
            );
        }
        for length in 0..signed.bytes.len() {
            assert!(Signed::read(&signed.bytes[..length], SESSION, |_| true).is_err());
        }
        let mut longer = signed.bytes.to_vec();
        longer.push(0);
        assert!(Signed::read(&longer, SESSION, |_| true).is_err());
    }
}

#[test]
fn strangers_other_sessions_and_long_texts_are_refused() {
    let identity = identity(1);
    let signed = all(&identity).swap_remove(2);
    let stranger = Signed::read(&signed.bytes, SESSION, |_| false);
    assert_eq!(
        stranger,
        Err(StatementError::Stranger {
            from: identity.id()
        })
    );
    let other = SessionHash([8; 32]);
    let found = Signed::read(&signed.bytes, other, |_| true);
    assert_eq!(found, Err(StatementError::Session { found: SESSION }));
    let long = vec![0x53; MOST_BYTES + 1];
    let found = Signed::read(&long, SESSION, |_| true);
    assert_eq!(
        found,
        Err(StatementError::TooLong {
            found: MOST_BYTES + 1
        })
    );
    // What others are shown is printable, whatever was meant.
    let text = "\u{1b}[2J\n".repeat(100);
    let gone = Statement::Gone {
        reason: Reason::Failed,
        about: None,
        text,
        is_final: false,
    };
    let signed = Signed::new(&identity, SESSION, gone);
    let read = Signed::read(&signed.bytes, SESSION, |_| true).expect("valid");
    let Statement::Gone { text, .. } = read.statement else {
        panic!("another kind")
    };
    assert!(text.len() == 200 && text.chars().all(|c| (' '..='~').contains(&c)));
    // One letter more, rightly signed.
    let mut bytes = signed.bytes[..signed.bytes.len() - SIGNATURE_LEN].to_vec();
    let at = bytes.len() - 201;
    bytes[at] = 201;
    bytes.push(b'x');
    let signature = identity.sign(Domain("undertone 2026-11 session gone v2"), &bytes);
    bytes.extend_from_slice(&signature.to_bytes());
    let kind = Kind::Gone;
    let refused = Signed::read(&bytes, SESSION, |_| true);
    assert_eq!(refused, Err(StatementError::Body { kind }));
}

#[test]
fn a_ledger_is_proven_by_a_join_of_any_session_and_by_nothing_else() {
    let identity = identity(1);
    let earlier = SessionHash([8; 32]);
    let signed = Signed::new(&identity, earlier, Statement::Join(join(1)));
    let proof = LedgerProof::read(&signed.bytes).expect("a Join");
    assert_eq!(Some(&proof), LedgerProof::of(&signed).as_ref());
    assert_eq!((proof.about(), proof.ledger().length), (identity.id(), 5));
    let head = |length, hash: u8| LedgerHead {
        length,
        hash: [hash; 32],
    };
    assert!(proof.refutes(&head(4, 1)) && proof.refutes(&head(5, 2)));
    assert!(!proof.refutes(&head(5, 1)) && !proof.refutes(&head(6, 2)));
    for bit in 0..8 * signed.bytes.len() {
        let mut bytes = signed.bytes.to_vec();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(LedgerProof::read(&bytes).is_err(), "bit {bit}");
    }
    for length in 0..signed.bytes.len() {
        assert!(LedgerProof::read(&signed.bytes[..length]).is_err());
    }
    let other = all(&identity);
    let others = other
        .iter()
        .filter(|one| one.statement.kind() != Kind::Join);
    for other in others {
        assert!(LedgerProof::read(&other.bytes).is_err());
    }
    // The longest Join fits.
    let mut longest = join(1);
    longest.build = "x".repeat(300);
    let longest = Signed::new(&identity, earlier, Statement::Join(longest));
    assert_eq!(longest.bytes.len(), MOST_JOIN);
    let behind = |join| Signed::new(&identity, SESSION, Statement::LedgerBehind { join });
    let told = behind(Arc::clone(&longest.bytes));
    assert_eq!(Signed::read(&told.bytes, SESSION, |_| true), Ok(told));
    let kind = Kind::LedgerBehind;
    let long = behind([0; MOST_JOIN + 1].into());
    let cut = Signed::read(&long.bytes, SESSION, |_| true).expect("cut");
    assert_eq!(cut.statement.kind(), kind);
}

/// Random bytes, and statements with random changes, to readers and to an assembly in the middle of its work.
fn fuzz(inputs: u32) {
    let identity = identity(1);
    let valid = all(&identity);
    let mut random = Seed::from_u64(12).generator(Label::Scenario);
    // Most inputs end an agreement, and to make another costs more signatures than to read one.
    let mut begun = Assembly::new(setup(0, 3));
    begun.handle(Input::Start, Time(0), &mut Vec::new());
    let mut assembly = begun.clone();
    let mut refused = 0;
    for input in 0..inputs {
        let mut bytes = match input % 3 {
            0 => {
                let mut bytes = vec![0; random.random_range(0..400)];
                random.fill_bytes(&mut bytes);
                bytes
            }
            _ => valid[random.random_range(0..valid.len())].bytes.to_vec(),
        };
        for _ in 0..random.random_range(1..4) {
            let Some(last) = bytes.len().checked_sub(1) else {
                break;
            };
            match random.random_range(0..3) {
                0 => bytes[random.random_range(0..=last)] = random.next_u32() as u8,
                1 => bytes.truncate(random.random_range(0..=last)),
                _ => bytes.insert(random.random_range(0..=last), random.next_u32() as u8),
            }
        }
        // As anybody's, whose key has to be looked at first, or as that of somebody invited.
        let read = match input % 4 {
            0 => Signed::read(&bytes, SESSION, |_| true),
            _ => begun.read(&bytes),
        };
        refused += u32::from(read.is_err());
        let from = identity.id();
        let mut out = Vec::new();
        assembly.handle(Input::Received { from, bytes }, Time(1), &mut out);
        if assembly.is_over() {
            assembly = begun.clone();
        }
    }
    // A change may put back what stood there: once in hundreds.
    assert!(refused > inputs - inputs / 50, "{refused} of {inputs}");
}

#[test]
fn a_hundred_thousand_broken_statements() {
    fuzz(100_000);
}

#[test]
#[ignore = "ten minutes: cargo test --lib session::tests::hostile::ten_million -- --ignored"]
fn ten_million_broken_statements() {
    fuzz(10_000_000);
}

/// A member as a session file has it.
fn member(number: u8) -> Member {
    Member {
        id: identity(number).id(),
        name: format!("member {number}"),
        addresses: vec!["/ip4/127.0.0.1/tcp/7655".to_owned()],
        reachable: true,
        rows: 10,
    }
}

/// What stands at the top of a session file.
fn session_table() -> SessionTable {
    SessionTable {
        version: 2,
        name: "test".to_owned(),
        nonce: "ab".repeat(32),
        convener: identity(0).id(),
        opens: "2026-12-01T08:00:00Z".parse().expect("a time"),
        closes: "2026-12-01T09:00:00Z".parse().expect("a time"),
        min_peers: 2,
        grace_seconds: 5,
        step_limit_seconds: 30,
        linger_seconds: 5,
    }
}

const STATED: Stated = Stated {
    sigma_own: 0.5,
    sigma_pairwise: 2.0,
};

/// A session file.
fn session_file(
    session: &SessionTable,
    members: Vec<Member>,
    columns: &[&str],
    stated: Stated,
) -> Result<String, InvitationError> {
    let columns = columns.iter().map(|&name| name.to_owned()).collect();
    let plan = toml::Table::from_iter([("name".to_owned(), "plan".into())]);
    Invitation::write(session.clone(), members, columns, stated, plan)
}

#[test]
fn session_files_that_are_none_are_refused() {
    let session = session_table();
    let text =
        session_file(&session, vec![member(0), member(1)], &["a", "b"], STATED).expect("valid");
    let invitation = Invitation::read(text.as_bytes()).expect("valid");
    assert_eq!(invitation.columns, ["a", "b"]);
    assert_eq!(invitation.plan["name"].as_str(), Some("plan"));
    assert!(invitation.members[0].id < invitation.members[1].id);
    let refusal = |result: Result<String, InvitationError>| match result {
        Ok(_) => "written".to_owned(),
        Err(error) => error.to_string(),
    };
    let both = || vec![member(0), member(1)];
    let mut nameless = both();
    nameless[1].name = "member 0".to_owned();
    let mut doubled = both();
    doubled[1].id = doubled[0].id;
    let mut unreachable = both();
    unreachable[0].addresses.clear();
    let of = |change: &dyn Fn(&mut SessionTable)| {
        let mut session = session.clone();
        change(&mut session);
        refusal(session_file(&session, both(), &["a"], STATED))
    };
    let nan = Stated {
        sigma_own: f64::NAN,
        ..STATED
    };
    let refused = [
        (
            refusal(session_file(&session, vec![member(0)], &["a"], STATED)),
            "2 to 128 members",
        ),
        (
            refusal(session_file(
                &session,
                vec![member(0), member(0)],
                &["a"],
                STATED,
            )),
            "different names",
        ),
        (
            refusal(session_file(&session, nameless, &["a"], STATED)),
            "different names",
        ),
        (
            refusal(session_file(&session, doubled, &["a"], STATED)),
            "one identity is there twice",
        ),
        (
            refusal(session_file(&session, unreachable, &["a"], STATED)),
            "give it an address",
        ),
        (
            refusal(session_file(&session, both(), &[], STATED)),
            "1,048,576 columns",
        ),
        (
            refusal(session_file(&session, both(), &["a", "a"], STATED)),
            "a name of its own",
        ),
        (
            refusal(session_file(&session, both(), &["a"], nan)),
            "finite",
        ),
        (of(&|s| s.version = 3), "version 2"),
        (of(&|s| s.min_peers = 3), "at most all of the invited"),
        (of(&|s| s.nonce = "ab".to_owned()), "64 hexadecimal digits"),
        (of(&|s| s.step_limit_seconds = 0), "at most a day"),
        (of(&|s| s.name = "\u{7}".to_owned()), "can be seen"),
    ];
    for (found, expected) in &refused {
        assert!(found.contains(expected), "{found}: expected {expected}");
    }
}

/// No text of a session file holds what cannot be seen, no two members have one name in two spellings, and addresses are those that can be dialled.
#[test]
fn texts_that_cannot_be_told_apart_are_refused() {
    let named = |name: &str, other: &str| {
        let mut both = vec![member(0), member(1)];
        (both[0].name, both[1].name) = (name.to_owned(), other.to_owned());
        session_file(&session_table(), both, &["a"], STATED)
    };
    assert!(named("h1", "H1").is_ok(), "they look different");
    for (name, other) in [
        ("h1", "h1\u{200b}"),
        ("h1", "\u{2066}h2"),
        ("h1", " h2"),
        ("h1", "h\t2"),
        ("h1", "ｈ1"),
        ("\u{e9}", "e\u{301}"),
        ("h1", "h1"),
    ] {
        let refused = named(name, other).expect_err(other).to_string();
        assert!(refused.contains("can be seen"), "{other:?}: {refused}");
        assert!(!refused.contains(['\u{200b}', '\u{2066}']), "{refused:?}");
    }
    let both = || vec![member(0), member(1)];
    let titled = |name: &str| {
        let table = SessionTable {
            name: name.to_owned(),
            ..session_table()
        };
        session_file(&table, both(), &["a"], STATED)
    };
    assert!(titled("Charité, Haus 3").is_ok());
    for name in ["", "a\u{202e}b", "\u{2066}", &"x".repeat(65)] {
        assert!(titled(name).is_err(), "{name:?}");
    }
    let columns = session_file(&session_table(), both(), &["a", "a\u{200b}"], STATED);
    let refused = columns.expect_err("one is hidden").to_string();
    assert!(refused.contains("a text of the file"), "{refused}");
    for address in [
        "/ip4/127.0.0.1/tcp/7902\u{1b}[31m\nX",
        "/unix/etc/passwd",
        "h1:7902",
    ] {
        let mut both = both();
        both[1].addresses.push(address.to_owned());
        let refused = session_file(&session_table(), both, &["a"], STATED);
        let refused = refused.expect_err(address).to_string();
        assert!(
            refused.contains("member.addresses of \"member 1\""),
            "{refused}"
        );
        assert!(!refused.contains('\u{1b}'), "{refused:?}");
    }
    // Keys and texts of the plan, at every depth.
    for plan in [
        "name = 'a\u{200b}'",
        "'a\u{200b}' = 1",
        "a = [{ b = ['\u{feff}'] }]",
    ] {
        let plan = toml::from_str(plan).expect("TOML");
        let columns = vec!["a".to_owned()];
        let refused = Invitation::write(session_table(), both(), columns, STATED, plan);
        assert!(refused.is_err());
    }
}

/// What a parser of TOML looks out for.
const MARKS: &[u8] = b"0123456789[]{}=\"\n#.,-+eE_";

/// Session files with random changes: each is another session, or none.
fn fuzz_files(inputs: u32) {
    let mut random = Seed::from_u64(13).generator(Label::Scenario);
    let both = vec![member(0), member(1)];
    let text = session_file(&session_table(), both, &["a", "b"], STATED).expect("valid");
    let invitation = Invitation::read(text.as_bytes()).expect("valid");
    let mut read = 0;
    for input in 0..inputs {
        let mut bytes = match input % 16 {
            0 => {
                let mut bytes = vec![0; random.random_range(0..200)];
                random.fill_bytes(&mut bytes);
                bytes
            }
            _ => text.clone().into_bytes(),
        };
        for _ in 0..random.random_range(1..4) {
            let Some(last) = bytes.len().checked_sub(1) else {
                break;
            };
            let at = random.random_range(0..=last);
            match random.random_range(0..6) {
                0 => bytes[at] = random.next_u32() as u8,
                1 => bytes[at] ^= 1 << random.random_range(0..8),
                2 => bytes.insert(at, MARKS[random.random_range(0..MARKS.len())]),
                3 => drop(bytes.remove(at)),
                4 => bytes.truncate(at),
                _ => {
                    let piece = bytes[at..(at + 30).min(bytes.len())].to_vec();
                    let times = random.random_range(0..5);
                    bytes.splice(at..at, piece.repeat(times));
                }
            }
        }
        if let Ok(other) = Invitation::read(&bytes) {
            let same = bytes == text.as_bytes();
            assert!(same == (other.hash() == invitation.hash()));
            assert!((2..=MOST_MEMBERS).contains(&other.members.len()));
            read += u32::from(!same);
        }
    }
    // Some changes leave a session file, or nothing was tested but the parser.
    assert!((inputs / 100..inputs / 2).contains(&read), "{read}");
}

#[test]
fn a_hundred_thousand_broken_session_files() {
    fuzz_files(100_000);
}

#[test]
#[ignore = "minutes: cargo test --lib session::tests::hostile::ten_million -- --ignored"]
fn ten_million_broken_session_files() {
    fuzz_files(10_000_000);
}

#[test]
fn stamps_are_bounded_in_number_and_length() {
    let identity = identity(1);
    let of = |part, parts, count| {
        let stamps = vec![(0, [7; STAMP_BYTES]); count];
        let stamps = Stamps {
            part,
            parts,
            stamps,
        };
        Signed::new(&identity, SESSION, Statement::Stamps(stamps))
    };
    let read = |signed: &Signed| Signed::read(&signed.bytes, SESSION, |_| true);
    let full = of(MOST_PARTS - 1, MOST_PARTS, MOST_STAMPS);
    assert!(full.bytes.len() <= MOST_BYTES);
    assert_eq!(read(&full), Ok(full.clone()));
    for (part, parts) in [(0, 0), (1, 1), (0, MOST_PARTS + 1), (255, 255)] {
        let kind = Kind::Stamps;
        let refused = Err(StatementError::Body { kind });
        assert_eq!(read(&of(part, parts, 1)), refused, "{part} of {parts}");
    }
}
