//! Members that break the rules, each named for what it did.

use futures::{AsyncReadExt, AsyncWriteExt};

use super::super::frames::{MAX_CONTROL_FRAMES, MAX_CONTROL_LEN};
use super::super::streams::{CONTROL, EDGE};
use super::rogue::{Rogue, blame, message, pair, record};
use super::*;
use crate::node::equivocation::{Evidence, EvidenceError};
use crate::node::misbehaviour::Misbehaviour;
use crate::node::tests::beside_one_another;
use crate::protocol::wire::WireError;
use crate::protocol::{Body, FaultKind, SessionId};

/// What member 1 is blamed for when it says these records.
fn blame_for(said: &[Vec<u8>]) -> (Misbehaviour, Option<Evidence>) {
    let bytes = said.concat();
    blame(LIMIT, |rogue| rogue.say(bytes))
}

/// The first record that an honest member 1 could send, with another number in it.
fn first_record(value: f64, sequence: u64) -> Vec<u8> {
    record(&message(&pair(), 0, Body::Scale(value)), 1, sequence)
}

#[test]
fn another_session_is_refused_by_name_at_both_ends() {
    let found = SessionId([9; 16]);
    let expected = pair().plan().session();
    let wrong = Misbehaviour::WrongSession { expected, found };
    let greeting = [&[0x73, 4][..], &found.0].concat();
    let opens = |rogue: Rogue| rogue.insist(EDGE, greeting);
    assert_eq!(blame(LIMIT, opens), (wrong.clone(), None));
    // It only answers: the honest member is told by the answer.
    let answers = |mut rogue: Rogue| async move {
        rogue.session = found;
        rogue.answer(0).await;
    };
    assert_eq!(blame(LIMIT, answers), (wrong, None));
}

#[test]
fn greetings_that_are_none_are_refused() {
    let greets = |protocol: libp2p::StreamProtocol, greeting: Vec<u8>| {
        blame(LIMIT, |rogue| rogue.insist(protocol, greeting)).0
    };
    assert_eq!(greets(EDGE, vec![0xee; 18]), Misbehaviour::NotAGreeting);
    assert_eq!(greets(CONTROL, vec![0xee; 2]), Misbehaviour::NotAGreeting);
    let (found, expected) = (3, 4);
    let version = Misbehaviour::Version { found, expected };
    let greeting = [&[0x73, 3][..], &[0; 16]].concat();
    assert_eq!(greets(EDGE, greeting), version);
}

#[test]
fn records_beyond_the_plan_are_refused_before_they_come() {
    let announced = [&u32::MAX.to_le_bytes()[..], &1_u64.to_le_bytes()].concat();
    let (what, _) = blame_for(&[announced]);
    let too_long = |found| move |what: &Misbehaviour| matches!(what, Misbehaviour::Malformed(WireError::TooLong { found: f, .. }) if *f == found);
    assert!(too_long(u32::MAX as usize)(&what), "{what}");
}

#[test]
fn a_stream_that_is_ended_within_a_record_is_truncated() {
    beside_one_another([1, 12, 40, 100], |cut| {
        let play = move |rogue: Rogue| async move {
            let _inbound = rogue.answer(0).await;
            let bytes = first_record(0.5, 1);
            loop {
                let mut stream = rogue.open().await;
                stream.write_all(&bytes[..cut]).await.expect("is read");
                stream.close().await.expect("closes");
                // The honest member looks at its connection.
                let mut rest = Vec::new();
                let _ = stream.read_to_end(&mut rest).await;
            }
        };
        assert_eq!(blame(LIMIT, play), (Misbehaviour::Truncated, None));
    });
    // A frame that is shorter than its header says.
    let message = message(&pair(), 0, Body::Average(Arc::new(vec![0.5; 119])));
    let (what, _) = blame_for(&[first_record(0.5, 1), record(&message, 1, 2)]);
    let (found, expected) = (119, 120);
    let count = WireError::Count { found, expected };
    assert_eq!(what, Misbehaviour::Malformed(count));
}

#[test]
fn frames_that_their_sender_did_not_sign_are_refused() {
    let sequence = 1;
    let refused = (Misbehaviour::Signature { sequence }, None);
    // Signed anew by somebody else: by the honest member itself.
    let message = message(&pair(), 0, Body::Scale(0.5));
    assert_eq!(blame_for(&[record(&message, 0, 1)]), refused);
    // Changed after it was signed.
    let mut changed = first_record(0.5, 1);
    changed[12 + 31] ^= 1;
    assert_eq!(blame_for(&[changed]), refused);
}

#[test]
fn records_that_are_sent_again_or_skip_others_are_refused() {
    let (one, two) = (first_record(0.5, 1), first_record(0.5, 2));
    let replayed = |sequence| (Misbehaviour::Replayed { sequence }, None);
    assert_eq!(blame_for(&[one.clone(), one.clone()]), replayed(1));
    // The same frame under another number.
    assert_eq!(blame_for(&[one, two.clone()]), replayed(2));
    let (expected, found) = (1, 2);
    let gap = Misbehaviour::Gap { expected, found };
    assert_eq!(blame_for(&[two]), (gap, None));
}

#[test]
fn two_frames_for_one_place_are_evidence_for_everybody() {
    for sequence in [1, 2, 3] {
        let said = [first_record(0.5, 1), first_record(0.25, sequence)];
        let (what, evidence) = blame_for(&said);
        assert_eq!(what, Misbehaviour::Equivocation { sequence });
        let evidence = evidence.expect("is proof");
        assert_eq!(evidence.culprit, id(1));
        assert_eq!(evidence.verify(), Ok(()));
        let mut forged = evidence.clone();
        forged.culprit = id(0);
        let culprit = id(0);
        assert_eq!(forged.verify(), Err(EvidenceError::Signature { culprit }));
        let mut forged = evidence;
        forged.second[40] ^= 1;
        assert!(forged.verify().is_err());
    }
}

#[test]
fn what_the_protocol_refuses_is_blamed_too() {
    let late = message(&pair(), 2, Body::Average(Arc::new(vec![0.5; 120])));
    let (what, _) = blame_for(&[record(&late, 1, 1)]);
    assert!(
        matches!(what, Misbehaviour::Protocol(FaultKind::OutOfStep { .. })),
        "{what}"
    );
    let silent = blame(Duration::from_secs(1), |rogue| rogue.say(Vec::new()));
    let step = 0;
    let expected = Misbehaviour::Protocol(FaultKind::Silent { step });
    assert_eq!(silent, (expected, None));
}

#[test]
fn acknowledgements_of_what_was_never_sent_are_refused() {
    // In the answer to the greeting.
    let answers = |rogue: Rogue| async move {
        let _stream = rogue.answer(7).await;
        std::future::pending().await
    };
    let refused = |what: &Misbehaviour| {
        matches!(
            what,
            Misbehaviour::Acknowledgement {
                found: 7,
                acknowledged: 0,
                ..
            }
        )
    };
    let (what, _) = blame(LIMIT, answers);
    assert!(refused(&what), "{what}");
    // Later.
    let later = |rogue: Rogue| async move {
        let mut stream = rogue.answer(0).await;
        stream
            .write_all(&7_u64.to_le_bytes())
            .await
            .expect("is read");
        stream.flush().await.expect("is read");
        std::future::pending().await
    };
    let (what, _) = blame(LIMIT, later);
    assert!(refused(&what), "{what}");
}

#[test]
fn control_frames_beyond_the_limits_are_refused() {
    let says = |frames: Vec<Arc<[u8]>>| {
        let play = |rogue: Rogue| async move {
            for frame in frames {
                rogue.hub().log.say_whatever(frame);
            }
            std::future::pending().await
        };
        blame(LIMIT, play).0
    };
    let found = MAX_CONTROL_LEN + 1;
    let limit = MAX_CONTROL_LEN;
    let too_long = Misbehaviour::ControlTooLong { found, limit };
    assert_eq!(says(vec![vec![0; found].into()]), too_long);
    let frames = (0..=MAX_CONTROL_FRAMES).map(|number| Arc::from(number.to_le_bytes()));
    let limit = MAX_CONTROL_FRAMES;
    assert_eq!(
        says(frames.collect()),
        Misbehaviour::ControlTooMany { limit }
    );
}
