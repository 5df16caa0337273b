//! Evidence as files: what convicts, and what honest members sign and nobody can make convict.

use super::super::evidence::{EVIDENCE_MARK, Evidence};
use super::super::record::{Disruptions, Record, Statement};
use super::super::sets::LinkIndex;
use super::super::signed::Signed;
use super::Marks;
use crate::protocol::SessionId;
use crate::vocabulary::{PeerIndex, ReleaseId};

const SESSION: SessionId = SessionId([1; 16]);

fn stated(serial: u64, change: impl FnOnce(&mut Statement)) -> Signed {
    let mut statement = Statement {
        disruptions: Disruptions::none(17, 70),
        done: ReleaseId(1),
        certified: Vec::new(),
        sent: None,
        retries: 0,
    };
    change(&mut statement);
    let origin = PeerIndex(2);
    let record = Record::Statement {
        origin,
        serial,
        statement,
    };
    let bytes = record.signed_bytes(SESSION, |_| None).expect("a statement");
    let signature = Marks::of(origin).sign(&bytes);
    Signed { record, signature }
}

fn is_proof(files: [&[u8]; 2]) -> bool {
    let read = Evidence::read(files);
    read.is_some_and(|(session, evidence)| evidence.is_proof(session, &Marks(PeerIndex(0))))
}

#[test]
fn two_statements_come_back_from_files_and_nothing_else_does() {
    let first = stated(1, |one| one.disruptions.restarts[3] = 1);
    let second = stated(1, |one| one.disruptions.restarts[4] = 1);
    let evidence = Evidence::of(&first, &second).expect("a contradiction");
    let files = evidence.files(SESSION);
    let [one, two] = &files;
    assert_eq!(
        Evidence::read([one, two]),
        Some((SESSION, evidence.clone()))
    );
    assert!(is_proof([one, two]) && is_proof([two, one]));
    assert!(!is_proof([one, one]));
    // Those of another session, and whatever is changed or cut, convict nobody.
    let elsewhere = evidence.files(SessionId([2; 16]));
    assert!(!is_proof([&elsewhere[0], &elsewhere[1]]));
    assert!(!is_proof([one, &elsewhere[1]]));
    for at in 0..two.len() {
        let mut changed = two.clone();
        changed[at] ^= 1;
        assert!(!is_proof([one, &changed]), "byte {at}");
        assert!(!is_proof([one, &two[..at]]), "{at} bytes");
    }
    // Lengths that no file has take no memory.
    let mut long = two.clone();
    long[EVIDENCE_MARK.len() + 16..][..8].fill(0xff);
    assert_eq!(Evidence::read([one, &long]), None);
}

/// What a member signs one after the other, also after restarts, is no contradiction, and cannot be read as one: as if the session had other numbers of peers and links, the parts in which
/// two statements differ would be other parts of them.
#[test]
fn what_an_honest_member_signs_convicts_it_in_no_form() {
    let first = stated(1, |one| one.disruptions.restarts[2] = 1);
    let again = stated(2, |one| one.disruptions.restarts[2] = 2);
    let cut = stated(3, |one| {
        one.disruptions.restarts[2] = 2;
        one.disruptions.cuts.insert(LinkIndex(69));
    });
    let all = [first, again, cut];
    let mut tried = 0;
    for one in &all {
        for other in &all {
            assert_eq!(Evidence::of(one, other), None);
            for words in 0..4_u32 {
                for peers in 0..32_u32 {
                    let file = |signed: &Signed| {
                        let mut bytes = EVIDENCE_MARK.to_vec();
                        bytes.extend_from_slice(&SESSION.0);
                        bytes.extend_from_slice(&words.to_le_bytes());
                        bytes.extend_from_slice(&peers.to_le_bytes());
                        signed.append_to(&mut bytes);
                        bytes
                    };
                    let (one, other) = (file(one), file(other));
                    tried += usize::from(Evidence::read([&one, &other]).is_some());
                    assert!(!is_proof([&one, &other]), "{words} words, {peers} peers");
                }
            }
        }
    }
    assert!(tried > 0, "some can be read as a contradiction");
}
