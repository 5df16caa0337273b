//! What one end of an edge has sent and keeps until it is acknowledged.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use futures::{AsyncWrite, AsyncWriteExt};

use super::super::setup::Written;
use super::LARGE;
use crate::node::equivocation::SignedStamp;
use crate::node::misbehaviour::Misbehaviour;
use crate::protocol::averaging::Phase;
use crate::protocol::wire::signed::{Stamp, record_head, signed_header};
use crate::protocol::wire::{Frame, PREFIX_LEN};
use crate::protocol::{Message, Values};
use crate::session::Identity;

/// Bytes that are handed to a stream at a time: what Yamux puts into one of its frames.
const PIECE: usize = 16 * 1024;

/// One signed frame, as it goes to every neighbour it is for. It is signed once and never again, and holds the values that the peer
/// holds: each writer makes their bytes anew, which nobody keeps.
#[derive(Debug)]
pub(in crate::node) struct Record {
    message: Message,
    values: Values,
    /// Its number within the message.
    frame: usize,
    signature: [u8; 64],
    phase: Phase,
    /// Whether it is the last of its message.
    is_last: bool,
}

impl Record {
    /// The record of frame number `frame` of a message, from 0, where sums exchange `values`. `piece` is memory, whose content is
    /// discarded.
    pub(in crate::node) fn of(
        message: &Message,
        values: Values,
        frame: usize,
        identity: &Identity,
        piece: &mut Vec<u8>,
    ) -> Self {
        let stamp = Stamp::of_frame(&Frame::of(message, values, frame), piece);
        Self {
            message: message.clone(),
            values,
            frame,
            signature: SignedStamp::by(identity, stamp).signature.to_bytes(),
            phase: Phase::of(&message.body),
            is_last: frame + 1 == crate::protocol::wire::frames(message, values),
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame::of(&self.message, self.values, self.frame)
    }

    /// Writes it as record `sequence` of an edge. `piece` is memory, whose content is discarded.
    ///
    /// # Errors
    /// The stream's.
    pub(in crate::node) async fn write(
        &self,
        sequence: u64,
        stream: &mut (impl AsyncWrite + Unpin),
        piece: &mut Vec<u8>,
    ) -> io::Result<()> {
        let frame = self.frame();
        piece.clear();
        piece.extend_from_slice(&record_head(frame.length(), sequence));
        piece.extend_from_slice(&signed_header(&frame));
        if let Some(bytes) = frame.in_memory().filter(|bytes| bytes.len() >= LARGE) {
            // What the peer holds is what travels: the stream copies it, and nobody else has to.
            stream.write_all(piece).await?;
            stream.write_all(bytes).await?;
            return stream.write_all(&self.signature).await;
        }
        let mut written = 0;
        loop {
            let room = (PIECE - piece.len()) / frame.width();
            let next = frame.values().min(written + room);
            frame.append_values(written..next, piece);
            written = next;
            if written == frame.values() {
                break;
            }
            stream.write_all(piece).await?;
            piece.clear();
        }
        piece.extend_from_slice(&self.signature);
        stream.write_all(piece).await
    }
}

/// The records of one directed edge at its sender, numbered from 1.
#[derive(Debug)]
pub(in crate::node) struct Sending {
    /// Those that are not acknowledged, oldest first.
    kept: VecDeque<Arc<Record>>,
    acknowledged: u64,
    /// The last one that has begun to be written.
    sent: u64,
    limit: usize,
    written: Written,
}

impl Sending {
    /// Keeps at most `limit` records.
    pub(in crate::node) fn new(limit: usize) -> Self {
        Self {
            kept: VecDeque::new(),
            acknowledged: 0,
            sent: 0,
            limit,
            written: Written::default(),
        }
    }

    /// Adds a record.
    ///
    /// # Errors
    /// [`Misbehaviour::Unacknowledged`] if the neighbour has left too many without acknowledgement.
    pub(in crate::node) fn push(&mut self, record: Arc<Record>) -> Result<(), Misbehaviour> {
        let limit = self.limit;
        if self.kept.len() >= limit {
            return Err(Misbehaviour::Unacknowledged { limit });
        }
        self.kept.push_back(record);
        Ok(())
    }

    /// The record of this number, if it is there and is not acknowledged.
    pub(in crate::node) fn get(&self, sequence: u64) -> Option<Arc<Record>> {
        let at = sequence.checked_sub(self.acknowledged + 1)?;
        self.kept.get(usize::try_from(at).ok()?).cloned()
    }

    /// Notes that a record is about to be written.
    pub(in crate::node) fn begin(&mut self, sequence: u64) {
        let Some(record) = self.get(sequence) else {
            return;
        };
        if sequence <= self.sent {
            self.written.resent += 1;
            return;
        }
        self.sent = sequence;
        self.written.messages += u64::from(record.is_last);
        let bytes = (PREFIX_LEN + record.frame().length()) as u64;
        self.written.bytes.add(record.phase, bytes);
    }

    /// Drops what is acknowledged.
    ///
    /// # Errors
    /// [`Misbehaviour::Acknowledgement`] of what was not sent, or if it takes one back.
    pub(in crate::node) fn acknowledge(&mut self, found: u64) -> Result<(), Misbehaviour> {
        let (acknowledged, sent) = (self.acknowledged, self.sent);
        if found < acknowledged || found > sent {
            return Err(Misbehaviour::Acknowledgement {
                found,
                acknowledged,
                sent,
            });
        }
        // Not more than are kept: those were sent.
        self.kept.drain(..(found - acknowledged) as usize);
        self.acknowledged = found;
        Ok(())
    }

    /// Whether everything is acknowledged.
    pub(in crate::node) fn is_clear(&self) -> bool {
        self.kept.is_empty()
    }

    pub(in crate::node) fn written(&self) -> Written {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use crate::protocol::wire::signed::check_record_head;
    use crate::protocol::wire::{self, FrameSizes, HEADER_LEN};
    use crate::protocol::{Body, SessionId};
    use crate::vocabulary::{ReleaseId, Round};

    fn message(round: u32, body: Body) -> Message {
        Message {
            session: SessionId([3; 16]),
            release: ReleaseId(1),
            round: Round(round),
            body,
        }
    }

    fn record_of(message: &Message, frame: usize) -> Arc<Record> {
        let identity = Identity::from_secret([7; 32].into());
        let mut piece = vec![9; 5];
        Arc::new(Record::of(
            message,
            Values::F64,
            frame,
            &identity,
            &mut piece,
        ))
    }

    fn record(round: u32) -> Arc<Record> {
        record_of(&message(round, Body::Scale(0.5)), 0)
    }

    /// Frames of one value, of less and more than a piece, a full one and the one after it.
    #[test]
    fn records_are_written_as_head_frame_and_signature_whatever_their_length() {
        let full = wire::CHUNK_BYTES / 8;
        let id = Identity::from_secret([7; 32].into()).id();
        for count in [1, 2000, PIECE / 8, full, full + 3] {
            let values = (0..count).map(|k| k as f64 * 0.25);
            let message = message(0, Body::Average(Arc::new(values.collect())));
            for frame in 0..wire::frames(&message, Values::F64) {
                let (record, mut bytes, mut piece) = (record_of(&message, frame), vec![], vec![9]);
                block_on(record.write(7, &mut bytes, &mut piece)).expect("memory");
                let mut plain = Vec::new();
                wire::encode_frame_into(&message, Values::F64, frame, &mut plain);
                let (head, rest) = bytes.split_first_chunk().expect("a head");
                let length = plain.len() - PREFIX_LEN;
                let sizes = FrameSizes::from(count);
                assert_eq!(check_record_head(head, &sizes), Ok((length, 7)));
                let (header, values) = rest.split_at(HEADER_LEN);
                let (values, signature) = values.split_at(length - HEADER_LEN);
                assert_eq!(header[1], 4);
                assert_eq!(values, &plain[PREFIX_LEN + HEADER_LEN..]);
                let stamp = [header, blake3::hash(values).as_bytes()].concat();
                let signed = SignedStamp::from_bytes(&[&stamp, signature].concat());
                assert!(signed.expect("127 bytes").is_by(&id), "{count} {frame}");
                assert!(piece.capacity() <= 2 * PIECE);
            }
        }
    }

    #[test]
    fn records_are_kept_until_they_are_acknowledged_and_sent_again_unchanged() {
        let mut sending = Sending::new(8);
        let records = [0, 1, 2].map(record);
        for record in &records {
            sending.push(Arc::clone(record)).expect("room");
        }
        for sequence in [1, 2] {
            sending.begin(sequence);
        }
        assert_eq!(sending.acknowledge(1), Ok(()));
        assert!(sending.get(1).is_none() && sending.get(4).is_none());
        assert!(sending.get(0).is_none() && sending.get(u64::MAX).is_none());
        // The connection broke: the second goes again, the same allocation, and then the third.
        let again = sending.get(2).expect("kept");
        assert!(Arc::ptr_eq(&again, &records[1]));
        sending.begin(2);
        sending.begin(3);
        let written = sending.written();
        assert_eq!((written.messages, written.resent), (3, 1));
        let each = wire::framed_len(&Body::Scale(0.5), Values::F64) as u64;
        assert_eq!(written.bytes.total(), 3 * each);
        assert_eq!(sending.acknowledge(3), Ok(()));
        assert!(sending.is_clear());
    }

    #[test]
    fn acknowledgements_of_what_was_not_sent_or_taken_back_are_the_neighbours_fault() {
        let mut sending = Sending::new(8);
        for round in 0..4 {
            sending.push(record(round)).expect("room");
        }
        sending.begin(1);
        sending.begin(2);
        let refused = |found, acknowledged| {
            Err(Misbehaviour::Acknowledgement {
                found,
                acknowledged,
                sent: 2,
            })
        };
        assert_eq!(sending.acknowledge(3), refused(3, 0));
        assert_eq!(sending.acknowledge(u64::MAX), refused(u64::MAX, 0));
        assert_eq!(sending.acknowledge(2), Ok(()));
        assert_eq!(sending.acknowledge(1), refused(1, 2));
        assert_eq!(sending.acknowledge(2), Ok(()));
    }

    #[test]
    fn a_neighbour_that_acknowledges_nothing_is_at_fault_when_the_store_is_full() {
        let mut sending = Sending::new(2);
        let record = record(0);
        assert_eq!(sending.push(Arc::clone(&record)), Ok(()));
        assert_eq!(sending.push(Arc::clone(&record)), Ok(()));
        let limit = 2;
        let full = Err(Misbehaviour::Unacknowledged { limit });
        assert_eq!(sending.push(record), full);
    }
}
