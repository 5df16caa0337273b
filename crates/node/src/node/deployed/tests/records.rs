//! Records that come in pieces, in part, again, or changed on their way: at the receiver, without any stream.

use futures::executor::block_on;

use super::super::edge::{Blame, Receiving, Record};
use super::*;
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::wire::signed::{RECORD_HEAD_LEN, check_record_head};
use crate::protocol::wire::{CHUNK_BYTES, FrameSizes, HEADER_LEN, WireError};
use crate::protocol::{Body, Message, SessionId, Values};
use crate::vocabulary::{ReleaseId, Round};

/// Values of a message of two frames.
const COUNT: usize = CHUNK_BYTES / 8 + 5000;

/// Bytes before the values of a record.
const BEFORE: usize = RECORD_HEAD_LEN + HEADER_LEN;

fn message(round: u32, value: impl Fn(usize) -> f64) -> Message {
    Message {
        session: SessionId([3; 16]),
        release: ReleaseId(1),
        round: Round(round),
        body: Body::Average(Arc::new((0..COUNT).map(value).collect())),
    }
}

/// Frame number `frame` of a message as record `sequence`, signed by member 1.
fn record(message: &Message, frame: usize, sequence: u64) -> Vec<u8> {
    let (mut bytes, mut piece) = (Vec::new(), Vec::new());
    let record = Record::of(message, Values::F64, frame, &identity(1), &mut piece);
    block_on(record.write(sequence, &mut bytes, &mut piece)).expect("memory");
    bytes
}

fn receiving() -> Receiving {
    Receiving::new(id(1), FrameSizes::from(COUNT))
}

/// Begins this record and takes so many bytes of its values, `step` at a time.
fn begin(receiving: &mut Receiving, bytes: &[u8], values: usize, step: usize) {
    let (head, rest) = bytes.split_first_chunk().expect("a head");
    let head = check_record_head(head, receiving.sizes()).expect("of the plan");
    let (header, rest) = rest.split_first_chunk().expect("a header");
    receiving.begin(head, header).expect("signed");
    assert_eq!(receiving.missing(), rest.len() - 64);
    rest[..values]
        .chunks(step)
        .for_each(|piece| receiving.take(piece));
}

fn take(receiving: &mut Receiving, bytes: &[u8], step: usize) -> Result<Option<Message>, Blame> {
    begin(receiving, bytes, bytes.len() - BEFORE - 64, step);
    assert_eq!(receiving.missing(), 0);
    receiving.end(*bytes.last_chunk().expect("a signature"))
}

fn blamed(result: Result<Option<Message>, Blame>) -> Misbehaviour {
    let (what, evidence) = *result.expect_err("no honest record");
    assert!(evidence.is_none());
    what
}

#[test]
fn records_that_break_off_anywhere_come_again_and_make_the_same_message() {
    let sent = message(0, |k| k as f64 / 3.0);
    let records = [record(&sent, 0, 1), record(&sent, 1, 2)];
    let mut receiving = receiving();
    for (at, bytes) in records.iter().enumerate() {
        let values = bytes.len() - BEFORE - 64;
        // The last has all values and no signature.
        for cut in [0, 8, 40_000 / (1 + at), values - 8, values] {
            begin(&mut receiving, bytes, cut, 4096);
            receiving.forget();
            assert_eq!(receiving.last(), at as u64);
            assert_eq!(receiving.is_within_a_message(), at == 1);
        }
        // Without a word that the last one is forgotten.
        begin(&mut receiving, bytes, 16, 8);
        let done = take(&mut receiving, bytes, 32 * 1024).expect("honest");
        assert_eq!(done.is_some(), at == 1);
        if let Some(done) = done {
            assert!(done == sent, "every bit");
        }
    }
    assert_eq!(receiving.last(), 2);
}

#[test]
fn what_was_changed_after_it_was_signed_is_refused_and_counts_nothing() {
    let sent = message(0, |k| k as f64 / 3.0);
    let honest = record(&sent, 0, 1);
    let mut receiving = receiving();
    let sequence = 1;
    let refused = Misbehaviour::Signature { sequence };
    let piece = 32 * 1024;
    let swap = |first: usize, second: usize, length: usize| {
        let mut bytes = honest.clone();
        let (head, tail) = bytes.split_at_mut(BEFORE + second);
        head[BEFORE + first..][..length].swap_with_slice(&mut tail[..length]);
        bytes
    };
    // One bit of the first, a middle and the last value; two values; two pieces in each other's place.
    let last = honest.len() - BEFORE - 64 - 8;
    let bits = [0, 500_000, last].map(|at| {
        let mut bytes = honest.clone();
        bytes[BEFORE + at] ^= 1;
        bytes
    });
    let swaps = [
        swap(0, 8, 8),
        swap(0, 3 * piece, piece),
        swap(piece, last, 8),
    ];
    for changed in bits.iter().chain(&swaps) {
        assert_eq!(blamed(take(&mut receiving, changed, piece)), refused);
        assert_eq!(
            (receiving.last(), receiving.is_within_a_message()),
            (0, false)
        );
    }
    // A value that is none is the sender's fault only if the sender has signed it.
    let mut infinite = honest.clone();
    infinite[BEFORE + 80..][..8].copy_from_slice(&f64::NAN.to_le_bytes());
    assert_eq!(blamed(take(&mut receiving, &infinite, piece)), refused);
    let infinite = message(0, |k| if k == 10 { f64::INFINITY } else { 0.0 });
    let found = blamed(take(&mut receiving, &record(&infinite, 0, 1), piece));
    let coordinate = 10;
    let expected = Misbehaviour::Malformed(WireError::NotFinite { coordinate });
    assert_eq!(found, expected);
    assert!(take(&mut receiving, &honest, piece).is_ok_and(|message| message.is_none()));
    assert_eq!(
        (receiving.last(), receiving.is_within_a_message()),
        (1, true)
    );
}

#[test]
fn a_second_content_in_the_middle_of_a_message_is_evidence_and_the_message_goes_on_without_it() {
    let (sent, other) = (message(0, |k| k as f64), message(0, |k| k as f64 + 1.0));
    let mut receiving = receiving();
    assert!(take(&mut receiving, &record(&sent, 0, 1), 8192).is_ok());
    for sequence in [1, 2, 9] {
        let said = take(&mut receiving, &record(&other, 0, sequence), 8192);
        let (what, evidence) = *said.expect_err("two contents");
        assert_eq!(what, Misbehaviour::Equivocation { sequence });
        assert_eq!(evidence.expect("a proof").verify(), Ok(()));
        let again = take(&mut receiving, &record(&sent, 0, sequence), 8192);
        assert_eq!(blamed(again), Misbehaviour::Replayed { sequence });
        assert_eq!(receiving.last(), 1);
    }
    let (expected, found) = (2, 3);
    let early = take(&mut receiving, &record(&sent, 1, 3), 8192);
    assert_eq!(blamed(early), Misbehaviour::Gap { expected, found });
    let done = take(&mut receiving, &record(&sent, 1, 2), 8192).expect("honest");
    assert!(done == Some(sent), "every bit");
}
