//! Bytes that nobody honest sends: no panic, no memory beyond the limit.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::executor::block_on;
use futures::io::{AsyncRead, AsyncWrite, Cursor};
use rand::{Rng, RngExt};

use super::super::edge::{Receiving, Stopped, read_record};
use super::super::frames::{self, MAX_CONTROL_LEN, Unreadable};
use super::super::streams::{answer_control, answer_edge};
use super::rogue::{message, pair, record};
use super::*;
use crate::node::equivocation::{Evidence, SIGNED_STAMP_LEN};
use crate::protocol::wire::FrameSizes;
use crate::protocol::{Body, Lane, SessionId};
use crate::vocabulary::{Label, Seed};

/// A stream that says this and hears nothing.
struct Said(Cursor<Vec<u8>>);

impl AsyncRead for Said {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Said {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(Ok(buffer.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// What came of inputs, so that every outcome is seen to occur.
#[derive(Debug, Default)]
struct Seen {
    greetings: u64,
    control: u64,
    messages: u64,
    refused: u64,
}

/// Feeds so many inputs to every parser: valid bytes with a few changed, cut or random ones.
fn fuzz(inputs: u64) -> Seen {
    let session = pair();
    let name = session.plan().session();
    let setup = session.peer_setup(PeerIndex(0), None);
    let sizes = Lane::of(&setup.plan, &setup.schedule, 0).frame_sizes();
    let signed = |round, body| record(&message(&session, round, body), 1, 1);
    let valid = [
        signed(0, Body::Scale(0.5)),
        signed(3, Body::Average(Arc::new(vec![0.5; 120]))),
        signed(7, Body::Coordinates(Arc::new(vec![0.5; 3]))),
    ];
    let mut stream = Seed::from_u64(23).key(Label::Identity, 0, 0).stream(0, 0);
    let mut seen = Seen::default();
    let (mut greeting, mut control) = (vec![0x73, 4], vec![0x71, 2]);
    greeting.extend(name.0);
    control.extend(40_u32.to_le_bytes());
    control.extend([7; 40]);
    let mut piece = Vec::new();
    for input in 0..inputs {
        let mut changed = |valid: &[u8]| {
            let mut bytes = valid.to_vec();
            for _ in 0..stream.random_range(0..3_u32) {
                let at = stream.random_range(0..bytes.len());
                bytes[at] = stream.random();
            }
            if stream.random_range(0..8_u32) == 0 {
                let length = stream.random_range(0..=bytes.len());
                bytes.truncate(length);
                stream.fill_bytes(&mut bytes);
            }
            bytes
        };
        let said = Said(Cursor::new(changed(&greeting)));
        seen.greetings += u64::from(block_on(answer_edge(&mut { said }, name, 0)).is_ok());
        seen.control += u64::from(control_frame(changed(&control), &mut seen.refused));
        let bytes = changed(&valid[(input % 3) as usize]);
        record_of(bytes, &sizes, &mut piece, &mut seen);
        let (first, second) = piece.split_at(piece.len().min(SIGNED_STAMP_LEN));
        let evidence = Evidence {
            culprit: id(1),
            first: first.to_vec(),
            second: second.to_vec(),
        };
        assert!(evidence.verify().is_err());
    }
    seen
}

fn control_frame(bytes: Vec<u8>, refused: &mut u64) -> bool {
    let mut said = Said(Cursor::new(bytes));
    if block_on(answer_control(&mut said)).is_err() {
        return false;
    }
    match block_on(frames::read(&mut said)) {
        Ok(frame) => {
            assert!(frame.len() <= MAX_CONTROL_LEN);
            true
        }
        Err(Unreadable::Misbehaved(_)) => {
            *refused += 1;
            false
        }
        Err(Unreadable::Broken) => false,
    }
}

fn record_of(bytes: Vec<u8>, sizes: &FrameSizes, piece: &mut Vec<u8>, seen: &mut Seen) {
    let mut receiving = Receiving::new(id(1), sizes.clone());
    let mut said = Said(Cursor::new(bytes));
    let wanted = std::future::ready(true);
    piece.clear();
    let read = block_on(read_record(&mut said, &mut receiving, wanted, piece));
    assert!(piece.capacity() <= 2 * sizes.limit());
    match read {
        Ok(taken) => seen.messages += u64::from(taken.message.is_some()),
        Err(Stopped::Misbehaved(_)) => seen.refused += 1,
        Err(Stopped::Broken { .. } | Stopped::Unwanted) => {}
    }
}

fn assert_all_occurred(seen: &Seen, inputs: u64) {
    for count in [seen.greetings, seen.control, seen.messages, seen.refused] {
        assert!(count > inputs / 100 && count < 2 * inputs, "{seen:?}");
    }
}

/// Every input goes to four parsers: greetings, control frames, records and evidence.
#[test]
fn a_hundred_thousand_inputs_do_no_harm() {
    let inputs = 30_000;
    let seen = fuzz(inputs);
    assert_all_occurred(&seen, inputs);
}

#[test]
#[ignore = "ten million inputs take half an hour: cargo test --release ten_million_inputs_do_no_harm -- --ignored"]
fn ten_million_inputs_do_no_harm() {
    let inputs = 3_400_000;
    let seen = fuzz(inputs);
    assert_all_occurred(&seen, inputs);
}

/// Frames that a member has really signed, with whatever it liked in them: contents, order and kinds are checked behind the signature.
#[test]
fn signed_nonsense_does_no_harm() {
    let session = pair();
    let setup = session.peer_setup(PeerIndex(0), None);
    let sizes = Lane::of(&setup.plan, &setup.schedule, 0).frame_sizes();
    let mut stream = Seed::from_u64(29).key(Label::Identity, 0, 0).stream(0, 0);
    let mut receiving = Receiving::new(id(1), sizes);
    let (mut taken, mut refused, mut piece) = (0, 0, Vec::new());
    for _ in 0..3000 {
        let count = stream.random_range(0..130_usize);
        let value = f64::from_bits(stream.random());
        let body = match stream.random_range(0..4_u32) {
            0 => Body::Scale(value),
            1 => Body::Average(Arc::new(vec![value; count])),
            2 => Body::Residues(Arc::new(vec![value.to_bits(); count])),
            _ => Body::Average(Arc::new(vec![value; 120])),
        };
        let mut message = message(&session, stream.random_range(0..40), body);
        message.release.0 = stream.random_range(0..4);
        message.session = if stream.random() {
            message.session
        } else {
            SessionId(stream.random())
        };
        let sequence = receiving.last() + stream.random_range(0..3_u64);
        let mut said = Said(Cursor::new(record(&message, 1, sequence)));
        let before = receiving.last();
        let wanted = std::future::ready(true);
        match block_on(read_record(&mut said, &mut receiving, wanted, &mut piece)) {
            Ok(record) => {
                assert_eq!(
                    (record.sequence, receiving.last()),
                    (before + 1, before + 1)
                );
                taken += 1;
            }
            Err(Stopped::Misbehaved(blame)) => {
                let (_, evidence) = *blame;
                assert_eq!(receiving.last(), before);
                assert!(evidence.is_none_or(|evidence| evidence.verify().is_ok()));
                refused += 1;
            }
            Err(stopped) => panic!("{stopped:?}"),
        }
    }
    assert!(taken > 300 && refused > 300, "{taken} {refused}");
}
