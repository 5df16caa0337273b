//! What one end of an edge has sent and keeps until it is acknowledged.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::error::Misbehaviour;
use super::super::evidence::SignedStamp;
use super::super::setup::Written;
use crate::protocol::averaging::Phase;
use crate::protocol::wire::signed::{Stamp, make_signed, record_head};
use crate::protocol::wire::{self, PREFIX_LEN, WireError};
use crate::protocol::{Message, Values};
use crate::session::Identity;

/// One signed frame, as it goes to every neighbour it is for. Its bytes are made once and never again.
#[derive(Debug)]
pub(in super::super) struct Record {
    /// The frame, with its prefix.
    framed: Vec<u8>,
    signature: [u8; 64],
    phase: Phase,
    /// Whether it is the last of its message.
    is_last: bool,
}

impl Record {
    /// The records of a message where sums exchange `values`.
    ///
    /// # Errors
    /// None for a message of this build.
    pub(in super::super) fn of(
        message: &Message,
        values: Values,
        identity: &Identity,
    ) -> Result<Vec<Arc<Self>>, WireError> {
        let frames = wire::frames(message, values);
        let record = |frame| {
            let mut framed = Vec::new();
            wire::encode_frame_into(message, values, frame, &mut framed);
            make_signed(&mut framed);
            let stamp = Stamp::of(&framed[PREFIX_LEN..])?;
            Ok(Arc::new(Self {
                signature: SignedStamp::by(identity, stamp).signature.to_bytes(),
                framed,
                phase: Phase::of(&message.body),
                is_last: frame + 1 == frames,
            }))
        };
        (0..frames).map(record).collect()
    }

    /// What goes before the frame as record `sequence` of an edge, the frame, and what goes after it.
    pub(in super::super) fn parts(&self, sequence: u64) -> ([u8; 12], &[u8], &[u8; 64]) {
        let frame = &self.framed[PREFIX_LEN..];
        (record_head(frame.len(), sequence), frame, &self.signature)
    }
}

/// The records of one directed edge at its sender, numbered from 1.
#[derive(Debug)]
pub(in super::super) struct Sending {
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
    pub(in super::super) fn new(limit: usize) -> Self {
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
    pub(in super::super) fn push(&mut self, record: Arc<Record>) -> Result<(), Misbehaviour> {
        let limit = self.limit;
        if self.kept.len() >= limit {
            return Err(Misbehaviour::Unacknowledged { limit });
        }
        self.kept.push_back(record);
        Ok(())
    }

    /// The record of this number, if it is there and is not acknowledged.
    pub(in super::super) fn get(&self, sequence: u64) -> Option<Arc<Record>> {
        let at = sequence.checked_sub(self.acknowledged + 1)?;
        self.kept.get(usize::try_from(at).ok()?).cloned()
    }

    /// Notes that a record is about to be written.
    pub(in super::super) fn begin(&mut self, sequence: u64) {
        let Some(record) = self.get(sequence) else {
            return;
        };
        if sequence <= self.sent {
            self.written.resent += 1;
            return;
        }
        self.sent = sequence;
        self.written.messages += u64::from(record.is_last);
        let bytes = record.framed.len() as u64;
        self.written.bytes.add(record.phase, bytes);
    }

    /// Drops what is acknowledged.
    ///
    /// # Errors
    /// [`Misbehaviour::Acknowledgement`] of what was not sent, or if it takes one back.
    pub(in super::super) fn acknowledge(&mut self, found: u64) -> Result<(), Misbehaviour> {
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
    pub(in super::super) fn is_clear(&self) -> bool {
        self.kept.is_empty()
    }

    pub(in super::super) fn written(&self) -> Written {
        self.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Body, SessionId};
    use crate::vocabulary::{ReleaseId, Round};

    fn record(round: u32) -> Arc<Record> {
        let identity = Identity::from_secret([7; 32].into());
        let message = Message {
            session: SessionId([3; 16]),
            release: ReleaseId(1),
            round: Round(round),
            body: Body::Scale(0.5),
        };
        let records = Record::of(&message, Values::F64, &identity).expect("a frame");
        assert_eq!(records.len(), 1);
        Arc::clone(&records[0])
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
