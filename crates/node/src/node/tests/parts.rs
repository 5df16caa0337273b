//! Single nodes against neighbours that break the rules in the middle of a long message.

use std::sync::Arc;
use std::time::Duration;

use futures::AsyncWriteExt;

use super::rogue::{Rogue, against_in, fault};
use super::{HostError, LIMIT, Transport, beside_one_another, session_of, spread_rows};
use crate::engine::Session;
use crate::protocol::averaging::AveragingKind;
use crate::protocol::wire::{self, CHUNK_BYTES, HEADER_LEN, WireError};
use crate::protocol::{Body, FaultKind, Message, Values};
use crate::topology::Graph;
use crate::vocabulary::{PeerIndex, ReleaseId, Round};

/// Values of a full frame.
const CHUNK: usize = CHUNK_BYTES / 8;

/// Two peers whose only sum has 140,000 values: two frames.
fn session() -> Session {
    let graph = Graph::from_edges(2, &[(0, 1)]).expect("an edge");
    let rows = spread_rows(2, 70_000, 2);
    session_of(&graph, rows, 2, (1, 1), AveragingKind::Linear, 3)
}

/// What an honest peer 1 would say: the number in one frame, the sum in two.
fn frames(session: &Session) -> [Vec<u8>; 3] {
    let message = |body| Message {
        session: session.plan().session(),
        release: ReleaseId(1),
        round: Round(0),
        body,
    };
    let sum = vec![0.5; session.plan().most_values()];
    let sum = message(Body::Average(Arc::new(sum)));
    let number = message(Body::Scale(0.5));
    [(number, 0), (sum.clone(), 0), (sum, 1)].map(|(message, frame)| {
        let mut bytes = Vec::new();
        wire::encode_frame_into(&message, Values::F64, frame, &mut bytes);
        bytes
    })
}

/// How peer 0 ends when peer 1 says this and then nothing.
fn ends(session: &Session, said: &[&[u8]], stall: Duration) -> HostError {
    let bytes = said.concat();
    against_in(session, Transport::Memory, stall, |rogue| rogue.say(bytes))
}

#[test]
fn parts_that_are_not_the_one_that_is_due_are_malformed() {
    let session = session();
    let [number, first, second] = frames(&session);
    let wrong = |found, expected| FaultKind::Malformed(WireError::Part { found, expected });
    for (said, expected) in [
        ([&number[..], &second], wrong(CHUNK, 0)),
        (
            [&number, &[first.as_slice(), &first].concat()],
            wrong(0, CHUNK),
        ),
        (
            [&number, &[first.as_slice(), &number].concat()],
            FaultKind::Malformed(WireError::OtherMessage {
                arrived: CHUNK,
                expected: session.plan().most_values(),
            }),
        ),
    ] {
        assert_eq!(fault(ends(&session, &said, LIMIT)), expected);
    }
    // No frame is longer than a chunk, although the message is.
    let (found, limit) = (HEADER_LEN + CHUNK_BYTES + 8, HEADER_LEN + CHUNK_BYTES);
    let announced = (found as u32).to_le_bytes();
    let kind = fault(ends(&session, &[&number, &first, &announced], LIMIT));
    assert_eq!(
        kind,
        FaultKind::Malformed(WireError::TooLong { found, limit })
    );
}

#[test]
fn a_stream_that_stops_in_the_middle_of_a_message_is_a_silent_neighbour() {
    let session = session();
    let [number, first, second] = frames(&session);
    let stall = Duration::from_secs(4);
    let cuts = [&second[..0], &second[..20], &second[..1000]];
    beside_one_another(cuts, |cut| {
        let kind = fault(ends(&session, &[&number, &first, cut], stall));
        assert_eq!(kind, FaultKind::Silent { step: 1 });
    });
}

#[test]
fn a_stream_that_ends_in_the_middle_of_a_message_is_an_error_at_once() {
    let session = session();
    let [number, first, _] = frames(&session);
    let error = against_in(
        &session,
        Transport::Memory,
        LIMIT,
        |mut rogue: Rogue| async move {
            let _inbound = rogue.acknowledge().await;
            let mut stream = rogue.open().await;
            let bytes = [number, first].concat();
            stream.write_all(&bytes).await.expect("is read");
            stream.close().await.expect("closes");
            std::future::pending().await
        },
    );
    assert!(
        matches!(
            error,
            HostError::Disconnected {
                neighbour: PeerIndex(1),
                received: 1,
                expected: 2,
                ..
            }
        ),
        "{error:?}"
    );
}
