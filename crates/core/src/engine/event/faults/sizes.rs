//! How many bytes frames of tolerant peers take.

use crate::protocol::Values;
use crate::protocol::averaging::Phase;
use crate::protocol::regroup::{Record, Statement};
use crate::protocol::tolerant::Frame;
use crate::protocol::wire::{HEADER_LEN, PREFIX_LEN, framed_len};

/// A signature of Ed25519; those of virtual time are as long.
const SIGNATURE: usize = 64;

/// What a frame is for, and how many bytes it takes on a stream, between peers that exchange such values in a session of so many peers and links.
///
/// Numbers are those of memory: 4 bytes for a peer, link or release, 8 for a view or a serial number, one bit for a link that is cut and one byte for a peer's
/// restarts. A record is a header, what it says, and a signature.
pub(super) fn size(frame: &Frame, values: Values, (peers, links): (usize, usize)) -> (Phase, u64) {
    let (phase, bytes) = match frame {
        Frame::Step { message, .. } => (
            Phase::of(&message.body),
            // The session of a view is named by the message.
            framed_len(&message.body, values),
        ),
        Frame::Published { input, .. } => (Phase::Sums, framed_len(&input.body(), values)),
        Frame::Record(record) => (
            Phase::Agreement,
            PREFIX_LEN + HEADER_LEN + said(&record.record, (peers, links)) + SIGNATURE,
        ),
        Frame::Sealed { frame, share, .. } => (
            Phase::Sums,
            PREFIX_LEN + HEADER_LEN + share.len() + frame.len(),
        ),
        Frame::Key { .. } => (Phase::Sums, PREFIX_LEN + HEADER_LEN + ATTEMPT + 32),
        Frame::Share { .. } => (
            Phase::Agreement,
            PREFIX_LEN + HEADER_LEN + 8 + ATTEMPT + 4 + 4 + 1 + 32 + SIGNATURE,
        ),
    };
    (phase, bytes as u64)
}

const ATTEMPT: usize = 4 + 4 + 8;

fn said(record: &Record, (peers, links): (usize, usize)) -> usize {
    let origin = 4;
    origin
        + match record {
            Record::Cut { .. } => 4,
            Record::Restart { .. } => 1,
            Record::Held { .. } => ATTEMPT,
            Record::Finished { .. } => 0,
            Record::Statement {
                statement: Statement {
                    certified, sent, ..
                },
                ..
            } => {
                let disruptions = links.div_ceil(8) + peers;
                let sent = 1 + sent.map_or(0, |_| ATTEMPT);
                8 + disruptions + 4 + 1 + ATTEMPT * certified.len() + sent + 4
            }
        }
}
