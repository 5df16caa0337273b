use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::protocol::message::{Body, Message, SessionId};
use crate::vocabulary::{ReleaseId, Round};

/// Values of f64 in a full frame.
const CHUNK: usize = CHUNK_BYTES / 8;

fn message(body: Body) -> Message {
    Message {
        session: SessionId([7; 16]),
        release: ReleaseId(2),
        round: Round(5),
        body,
    }
}

fn sum(values: impl IntoIterator<Item = f64>) -> Body {
    Body::Average(Arc::new(values.into_iter().collect()))
}

fn residues(values: &[u64]) -> Body {
    Body::Residues(Arc::new(values.to_vec()))
}

fn sizes(values: Values, count: usize) -> FrameSizes {
    FrameSizes::new(values, std::iter::once((count, false)))
}

fn encoded(body: &Body) -> Vec<u8> {
    encode_framed(&message(body.clone()), Values::F64)
}

/// Decodes exactly one message.
fn decode(bytes: &[u8], sizes: &FrameSizes) -> Result<Message, WireError> {
    let (message, rest) = decode_framed(bytes, sizes)?;
    assert!(rest.is_empty(), "{} bytes follow", rest.len());
    Ok(message)
}

fn header(bytes: &[u8]) -> (&[u8; HEADER_LEN], usize) {
    let (prefix, rest) = bytes.split_first_chunk::<PREFIX_LEN>().expect("a prefix");
    let length = u32::from_le_bytes(*prefix) as usize;
    (rest.first_chunk().expect("a header"), length)
}

#[test]
fn messages_of_every_kind_survive_the_wire() {
    let single = f64::from(0.1_f32);
    for (values, body, bytes) in [
        (Values::F64, Body::Scale(0.75), 8),
        (Values::F32, Body::Scale(0.1), 8),
        (Values::F64, sum([1.0, -2.5, 1e-300]), 24),
        (Values::F32, sum([1.0, -0.0, single]), 12),
        (Values::Residues32, residues(&[0, 1, u32::MAX.into()]), 12),
        (Values::Residues64, residues(&[0, 1, u64::MAX]), 24),
    ] {
        let sent = message(body);
        let bytes_sent = encode_framed(&sent, values);
        assert_eq!(bytes_sent.len(), framed_len(&sent.body, values));
        assert_eq!(bytes_sent.len(), PREFIX_LEN + HEADER_LEN + bytes);
        let sizes = sizes(values, 3);
        assert_eq!(decode(&bytes_sent, &sizes).as_ref(), Ok(&sent));
        let (_, length) = header(&bytes_sent);
        let prefix = (length as u32).to_le_bytes();
        assert_eq!(check_announced_len(prefix, &sizes), Ok(length));
    }
}

#[test]
fn the_layout_is_frozen() {
    let bytes = encoded(&Body::Scale(1.0));
    let mut expected = vec![39, 0, 0, 0, 0x55, 3];
    expected.extend([7; 16]);
    expected.extend([2, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0]);
    expected.extend(1.0_f64.to_le_bytes());
    assert_eq!(bytes, expected);
    // The second frame of a long message: 8 bytes follow a chunk.
    let bytes = encoded(&sum((0..=CHUNK).map(|k| k as f64)));
    let second = &bytes[PREFIX_LEN + HEADER_LEN + CHUNK_BYTES..];
    let mut expected = vec![39, 0, 0, 0, 0x55, 3];
    expected.extend([7; 16]);
    expected.extend([2, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 2, 0]);
    expected.extend((CHUNK as f64).to_le_bytes());
    assert_eq!(second, expected);
    let kinds = [
        (Values::F32, sum([1.0]), 4),
        (Values::Residues32, residues(&[9]), 5),
        (Values::Residues64, residues(&[9]), 6),
        (Values::F32, Body::Coordinates(Arc::new(vec![1.0])), 3),
    ];
    for (values, body, kind) in kinds {
        let bytes = encode_framed(&message(body), values);
        assert_eq!(bytes[PREFIX_LEN + 26], kind);
    }
}

#[test]
fn frames_of_other_versions_are_refused_by_name() {
    for version in [1, 2, 4, 255] {
        let mut old = encoded(&Body::Scale(1.0));
        old[PREFIX_LEN + 1] = version;
        let refused = decode(&old, &FrameSizes::from(1)).expect_err("another version");
        assert_eq!(refused, WireError::Version { found: version });
        assert!(refused.to_string().contains(&format!("version {version}")));
    }
}

#[test]
fn coordinates_may_be_missing_and_are_as_many_as_the_release_has() {
    let sizes = FrameSizes::new(Values::F64, [(2, false), (3, true)].into_iter());
    let missing = f64::NEG_INFINITY;
    let sent = Body::Coordinates(Arc::new(vec![1.0, missing, 2.0]));
    let decoded = decode(&encoded(&sent), &sizes).expect("release 2 has three");
    assert_eq!(decoded.body, sent);
    for bad in [f64::NAN, f64::INFINITY] {
        let body = Body::Coordinates(Arc::new(vec![1.0, bad, 2.0]));
        let refused = decode(&encoded(&body), &sizes);
        assert_eq!(refused, Err(WireError::NotFinite { coordinate: 1 }));
    }
    // Blocks of a sum may not be missing, and release 2 has none.
    assert!(decode(&encoded(&sum([1.0, missing])), &FrameSizes::from(2)).is_err());
    let (found, expected) = (2, 0);
    assert_eq!(
        decode(&encoded(&sum([1.0, 2.0])), &sizes),
        Err(WireError::Count { found, expected })
    );
}

#[test]
fn sums_of_other_values_than_the_plans_are_refused_by_name() {
    let all = [
        Values::F64,
        Values::F32,
        Values::Residues32,
        Values::Residues64,
    ];
    for sent in all {
        let body = match sent.is_residues() {
            true => residues(&[1, 2]),
            false => sum([1.0, 2.0]),
        };
        let bytes = encode_framed(&message(body), sent);
        for planned in all.into_iter().filter(|planned| *planned != sent) {
            let refused = decode(&bytes, &sizes(planned, 2));
            let (found, expected) = (sent.name(), planned.name());
            if bytes.len() - PREFIX_LEN > sizes(planned, 2).limit() {
                assert!(matches!(refused, Err(WireError::TooLong { .. })));
            } else {
                assert_eq!(refused, Err(WireError::Values { found, expected }));
            }
        }
    }
}

#[test]
fn singles_beyond_their_range_come_out_as_no_number() {
    // Who rounds looks for it before sending; whoever did not is refused.
    let bytes = encode_framed(&message(sum([1.0, 1e300])), Values::F32);
    assert_eq!(
        decode(&bytes, &sizes(Values::F32, 2)),
        Err(WireError::NotFinite { coordinate: 1 })
    );
}

#[test]
fn lies_about_lengths_and_bad_values_are_refused() {
    let good = encoded(&sum([1.0, 2.0]));
    let two = FrameSizes::from(2);
    let count = |found, expected| Err(WireError::Count { found, expected });
    assert_eq!(decode(&good, &FrameSizes::from(3)), count(2, 3));
    let changed = |at: usize, bytes: &[u8]| {
        let mut frame = good.clone();
        frame[at..at + bytes.len()].copy_from_slice(bytes);
        decode(&frame, &two)
    };
    let kind = changed(PREFIX_LEN + 26, &[77]);
    assert_eq!(kind, Err(WireError::Kind { found: 77 }));
    let nan = changed(PREFIX_LEN + HEADER_LEN + 8, &f64::NAN.to_le_bytes());
    assert_eq!(nan, Err(WireError::NotFinite { coordinate: 1 }));
    let mark = changed(PREFIX_LEN, &[0x54]);
    assert_eq!(mark, Err(WireError::NotAFrame));
    assert_eq!(changed(0, &[46]), count(2, 2), "half a value less");
    assert_eq!(changed(0, &[39]), count(1, 2));
    let limit = two.limit();
    assert_eq!(limit, HEADER_LEN + 16);
    let announced = |length: u32| check_announced_len(length.to_le_bytes(), &two);
    for found in [limit + 1, u32::MAX as usize] {
        let refused = announced(found as u32);
        assert_eq!(refused, Err(WireError::TooLong { found, limit }));
    }
    assert_eq!(announced(30), Err(WireError::TooShort { found: 30 }));
    // However large a message, no frame is longer than a chunk.
    let limit = FrameSizes::from(MAX_VALUES).limit();
    assert_eq!(limit, HEADER_LEN + CHUNK_BYTES);
}

#[test]
fn every_message_cut_short_is_refused() {
    for (values, body) in [
        (Values::F64, sum([1.0, 2.0, 3.0])),
        (Values::F32, sum([1.0, 2.0, 3.0])),
        (Values::Residues32, residues(&[1, 2, 3])),
        (Values::Residues64, residues(&[1, 2, 3])),
    ] {
        let bytes = encode_framed(&message(body), values);
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], &sizes(values, 3)).is_err(), "{end}");
        }
    }
    // Cut within and between the frames of a long message.
    let long = 2 * CHUNK + 3;
    let bytes = encoded(&sum((0..long).map(|k| k as f64)));
    let frame = PREFIX_LEN + HEADER_LEN + CHUNK_BYTES;
    for end in [
        frame - 1,
        frame,
        frame + 1,
        frame + 20,
        2 * frame,
        bytes.len() - 8,
    ] {
        let arrived = end / frame * CHUNK + (end % frame).saturating_sub(35) / 8;
        let refused = decode(&bytes[..end], &FrameSizes::from(long));
        let expected = long;
        assert_eq!(
            refused,
            Err(WireError::Incomplete { arrived, expected }),
            "{end}"
        );
    }
}

#[test]
fn a_long_message_goes_in_full_frames_one_after_the_other() {
    for (values, chunk) in [(Values::F64, CHUNK), (Values::F32, 2 * CHUNK)] {
        for (count, expected) in [
            (chunk, 1),
            (chunk + 1, 2),
            (2 * chunk, 2),
            (2 * chunk + 1, 3),
        ] {
            let sent = message(sum((0..count).map(|k| f64::from(k as f32 / 3.0))));
            assert_eq!(frames(&sent, values), expected);
            let bytes = encode_framed(&sent, values);
            assert_eq!(bytes.len(), framed_block_len(count, values));
            let mut part = Vec::new();
            let parts = (0..expected).flat_map(|frame| {
                encode_frame_into(&sent, values, frame, &mut part);
                assert!(part.len() <= PREFIX_LEN + HEADER_LEN + CHUNK_BYTES);
                part.clone()
            });
            assert!(
                bytes.iter().copied().eq(parts),
                "the same bytes frame by frame"
            );
            assert_eq!(decode(&bytes, &sizes(values, count)), Ok(sent));
        }
    }
    let sent = message(Body::Residues(Arc::new((0..=2 * CHUNK as u64).collect())));
    let bytes = encode_framed(&sent, Values::Residues32);
    assert_eq!(frames(&sent, Values::Residues32), 2);
    let sizes = sizes(Values::Residues32, 2 * CHUNK + 1);
    assert_eq!(decode(&bytes, &sizes), Ok(sent));
}

#[test]
fn parts_out_of_order_repeated_missing_overlong_or_of_another_message_are_refused() {
    let count = 2 * CHUNK + 1;
    let sizes = FrameSizes::from(count);
    let sent = message(sum((0..count).map(|k| k as f64)));
    let part = |message: &Message, frame| {
        let mut bytes = Vec::new();
        encode_frame_into(message, Values::F64, frame, &mut bytes);
        bytes
    };
    let parts: Vec<Vec<u8>> = (0..3).map(|frame| part(&sent, frame)).collect();
    let said = |order: &[usize]| {
        let bytes: Vec<u8> = order.iter().flat_map(|&k| parts[k].clone()).collect();
        decode(&bytes, &sizes)
    };
    assert_eq!(said(&[0, 1, 2]), Ok(sent.clone()));
    let wrong = |found, expected| Err(WireError::Part { found, expected });
    assert_eq!(said(&[1]), wrong(CHUNK, 0), "the first is missing");
    assert_eq!(said(&[0, 0]), wrong(0, CHUNK), "repeated");
    assert_eq!(said(&[0, 2]), wrong(2 * CHUNK, CHUNK), "one is missing");
    assert_eq!(
        said(&[0, 1, 1]),
        wrong(CHUNK, 2 * CHUNK),
        "repeated at the end"
    );

    // Shorter or longer parts than the one way to cut.
    let cut = |values: usize| {
        let mut bytes = parts[0][..PREFIX_LEN + HEADER_LEN + 8 * values].to_vec();
        bytes[..PREFIX_LEN].copy_from_slice(&((HEADER_LEN + 8 * values) as u32).to_le_bytes());
        bytes
    };
    for found in [0, 1, CHUNK - 1] {
        let expected = CHUNK;
        let refused = decode(&cut(found), &sizes);
        assert_eq!(refused, Err(WireError::Count { found, expected }));
    }
    let mut long = [parts[0].clone(), parts[1].clone(), parts[1].clone()].concat();
    let at = 2 * parts[0].len() + PREFIX_LEN + 27;
    long[at..at + 4].copy_from_slice(&(2 * CHUNK as u32).to_le_bytes());
    let (found, expected) = (CHUNK, 1);
    let refused = decode(&long, &sizes);
    assert_eq!(
        refused,
        Err(WireError::Count { found, expected }),
        "overlong"
    );

    let others = [
        Message {
            session: SessionId([8; 16]),
            ..sent.clone()
        },
        Message {
            release: ReleaseId(3),
            ..sent.clone()
        },
        Message {
            round: Round(6),
            ..sent.clone()
        },
    ];
    for other in &others {
        let bytes = [parts[0].clone(), part(other, 1)].concat();
        let (arrived, expected) = (CHUNK, count);
        let refused = decode(&bytes, &sizes);
        assert_eq!(refused, Err(WireError::OtherMessage { arrived, expected }));
    }
    let mut other_kind = [parts[0].clone(), parts[1].clone()].concat();
    other_kind[parts[0].len() + PREFIX_LEN + 26] = 3;
    let refused = decode(&other_kind, &sizes);
    assert!(matches!(refused, Err(WireError::OtherMessage { .. })));
}

#[test]
fn memory_is_taken_as_frames_come_and_never_for_more_than_the_release() {
    let count = MAX_VALUES;
    let sizes = FrameSizes::from(count);
    let mut first = vec![0; PREFIX_LEN + HEADER_LEN];
    let one = message(sum([0.0]));
    encode_frame_into(&one, Values::F64, 0, &mut first);
    let (head, _) = header(&first);
    let full = HEADER_LEN + CHUNK_BYTES;
    let mut arriving = Arriving::new(head, full, &sizes, Memory::default()).expect("agrees");
    let zeros = vec![0; CHUNK_BYTES];
    for frame in 1..=5 {
        let (held, taken) = arriving.memory();
        assert_eq!(held, (frame - 1) * CHUNK);
        assert!(taken <= (2 * held).max(frame * CHUNK), "{frame}: {taken}");
        arriving.take(&zeros).expect("zeros");
        let mut next = *head;
        next[27..31].copy_from_slice(&((frame * CHUNK) as u32).to_le_bytes());
        arriving.next_frame(&next, full).expect("the next");
    }
    // Of a release that is little more than a chunk, no more than it has.
    let sizes = FrameSizes::from(CHUNK + 1);
    let mut arriving = Arriving::new(head, full, &sizes, Memory::default()).expect("agrees");
    arriving.take(&zeros).expect("zeros");
    let mut next = *head;
    next[27..31].copy_from_slice(&(CHUNK as u32).to_le_bytes());
    assert!(arriving.next_frame(&next, full).is_err(), "too long");
    arriving
        .next_frame(&next, HEADER_LEN + 8)
        .expect("the rest");
    assert_eq!(arriving.memory(), (CHUNK, CHUNK + 1));
}

#[test]
fn values_arrive_piece_by_piece_into_the_memory_that_is_there() {
    let sent = message(sum((0..10).map(f64::from)));
    let bytes = encode_framed(&sent, Values::F64);
    let ((head, length), tail) = (header(&bytes), &bytes[PREFIX_LEN + HEADER_LEN..]);
    let old = vec![7.0; 10];
    let place = old.as_ptr();
    let memory = Memory::of(Body::Average(Arc::new(old)));
    let ten = FrameSizes::from(10);
    let mut arriving = Arriving::new(head, length, &ten, memory).expect("agrees");
    assert_eq!(arriving.missing(), 80);
    for piece in tail.chunks(24) {
        arriving.take(piece).expect("whole values");
    }
    let mut more = Arriving::new(head, length, &ten, Memory::default()).expect("agrees");
    assert!(more.take(&tail[..7]).is_err(), "half a value");
    assert!(more.take(&[0; 88]).is_err(), "more than announced");
    assert!(more.next_frame(head, length).is_err(), "this one is open");
    assert!(more.finish().is_err(), "nothing has come");
    let message = arriving.finish().expect("complete");
    assert_eq!(message, sent);
    let Body::Average(values) = message.body else {
        panic!("a block was sent");
    };
    assert_eq!(values.as_ptr(), place, "the values moved");
    let held = Arc::new(vec![1.0]);
    let memory = Memory::of(Body::Average(Arc::clone(&held)));
    assert_eq!(memory.capacity(), 0, "somebody else holds it");
}

#[test]
fn encoding_uses_the_memory_that_is_there() {
    let sent = message(sum([1.0, 2.0]));
    let old = vec![9; 400];
    let place = old.as_ptr();
    let bytes = encode_framed_into(&sent, Values::F64, old);
    assert_eq!(bytes, encode_framed(&sent, Values::F64));
    assert_eq!(bytes.as_ptr(), place);
}

fn any_values() -> impl Strategy<Value = Values> {
    prop_oneof![
        Just(Values::F64),
        Just(Values::F32),
        Just(Values::Residues32),
        Just(Values::Residues64),
    ]
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic_and_what_is_accepted_is_the_only_encoding(
        bytes in proptest::collection::vec(any::<u8>(), 0..200), values in any_values(), count in 0_usize..20,
    ) {
        if let Ok((message, rest)) = decode_framed(&bytes, &sizes(values, count)) {
            let used = bytes.len() - rest.len();
            prop_assert_eq!(&encode_framed(&message, values)[..], &bytes[..used]);
        }
    }

    #[test]
    fn corrupted_frames_never_panic_and_what_is_accepted_is_the_only_encoding(
        values in any_values(), position in 0_usize..59, bit in 0_u32..8, cut in 0_usize..70,
    ) {
        let body = match values.is_residues() {
            true => residues(&[1, 2, 3]),
            false => sum([1.0, 2.0, 3.0]),
        };
        let mut bytes = encode_framed(&message(body), values);
        let at = position % bytes.len();
        bytes[at] ^= 1 << bit;
        let end = cut.min(bytes.len());
        if let Ok((message, rest)) = decode_framed(&bytes[..end], &sizes(values, 3)) {
            prop_assert_eq!(encode_framed(&message, values), &bytes[..end - rest.len()]);
        }
    }
}

#[test]
fn a_frame_is_made_of_any_pieces_that_its_values_are_cut_into() {
    let floats = sum((0..CHUNK + 700).map(|k| k as f64 / 3.0));
    let singles = sum((0..3000).map(|k| f64::from(k as f32 / 3.0)));
    let integers = residues(&(0..3000_u64).map(|k| k << 20).collect::<Vec<_>>());
    let coordinates = Body::Coordinates(Arc::new(vec![f64::NEG_INFINITY, 2.0, 3.0]));
    for (values, body) in [
        (Values::F64, floats),
        (Values::F32, singles),
        (Values::Residues32, integers.clone()),
        (Values::Residues64, integers),
        (Values::F64, coordinates),
        (Values::F64, Body::Scale(0.25)),
        (Values::F64, sum([])),
    ] {
        let sent = message(body);
        let mut all = Vec::new();
        for number in 0..frames(&sent, values) {
            let frame = Frame::of(&sent, values, number);
            let mut whole = Vec::new();
            encode_frame_into(&sent, values, number, &mut whole);
            assert_eq!(whole.len(), PREFIX_LEN + frame.length());
            for step in [1, 511, 513, CHUNK] {
                let mut pieces = (frame.length() as u32).to_le_bytes().to_vec();
                pieces.extend(frame.header());
                for first in (0..frame.values()).step_by(step) {
                    frame.append_values(first..frame.values().min(first + step), &mut pieces);
                }
                assert!(
                    pieces == whole,
                    "{values:?}, frame {number}, {step} at a time"
                );
            }
            all.extend(whole);
        }
        assert!(all == encode_framed(&sent, values));
    }
}

#[test]
fn a_frame_that_is_forgotten_comes_again_and_those_before_it_stay() {
    let sent = message(sum((0..CHUNK + 9).map(|k| k as f64)));
    let sizes = FrameSizes::from(CHUNK + 9);
    let frame = |number| {
        let mut bytes = Vec::new();
        encode_frame_into(&sent, Values::F64, number, &mut bytes);
        let (head, length) = header(&bytes);
        (*head, length, bytes[PREFIX_LEN + HEADER_LEN..].to_vec())
    };
    let (first, second) = (frame(0), frame(1));
    let begun = || Arriving::new(&first.0, first.1, &sizes, Memory::default()).expect("agrees");
    let mut arriving = begun();
    arriving.take(&first.2[..80]).expect("ten values");
    assert!(!arriving.forget_frame(), "nothing is left of the message");
    let mut arriving = begun();
    arriving.take(&first.2).expect("a frame");
    for (cut, bytes) in [(8, &second.2), (72, &second.2), (40, &first.2)] {
        arriving.next_frame(&second.0, second.1).expect("the next");
        // Whatever it held, even what is not its own.
        arriving.take(&bytes[..cut]).expect("numbers");
        assert!(arriving.forget_frame());
        assert!(!arriving.is_complete());
    }
    arriving.next_frame(&second.0, second.1).expect("the next");
    arriving.take(&second.2).expect("nine values");
    assert!(arriving.finish().expect("complete") == sent);
}
