//! Frames and records of every run under faults go through the bytes that deployed peers exchange and keep: one in four, or runs would take longer.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::engine::event::faults::interceptor::Interception;
use crate::protocol::regroup::RegroupSetup;
use crate::protocol::tolerant::{DiskRecord, Format, Frame};

/// Of so many frames and records one is changed, to see what becomes of it.
const CHANGED_EVERY: u8 = 2;

/// How many frames and records there were in this process.
static SEEN: AtomicU32 = AtomicU32::new(0);

/// Whether this one goes through bytes. Which ones do makes no difference to a run.
fn is_chosen() -> bool {
    SEEN.fetch_add(1, Ordering::Relaxed).is_multiple_of(4)
}

/// Receivers read what was written, and so does a peer that starts again.
pub(super) struct ThroughBytes;

impl Interception for ThroughBytes {
    fn frame(&self, _: (usize, usize), format: &dyn Fn() -> Format, frame: Frame) -> Frame {
        match is_chosen() {
            true => sent(&format(), &frame),
            false => frame,
        }
    }

    fn record(&self, format: &dyn Fn() -> Format, record: DiskRecord) -> DiskRecord {
        match is_chosen() {
            true => kept(&format(), &record),
            false => record,
        }
    }
}

/// A frame, as its receiver reads it.
fn sent(format: &Format, frame: &Frame) -> Frame {
    let bytes = format.frame_bytes(frame);
    assert!(bytes.len() <= format.longest());
    let again = format.frame(&bytes).expect("what was written is read");
    assert_eq!(format.frame_bytes(&again), bytes);
    for changed in changes(&bytes) {
        if let Ok(read) = format.frame(&changed) {
            assert_eq!(format.frame_bytes(&read), changed, "one frame, one text");
        }
    }
    again
}

/// A record, as whoever starts again reads it.
fn kept(format: &Format, record: &DiskRecord) -> DiskRecord {
    let bytes = format.record_bytes(record);
    let again = format.record(&bytes).expect("what was written is read");
    assert_eq!(format.record_bytes(&again), bytes);
    for changed in changes(&bytes) {
        // Checksums keep such bytes away; nothing panics all the same.
        let _ = format.record(&changed);
    }
    again
}

/// The same bytes with a bit changed, cut off, and with one more; of most none, or runs would take twice as long.
fn changes(bytes: &[u8]) -> Vec<Vec<u8>> {
    let digest = *blake3::hash(bytes).as_bytes();
    if !digest[0].is_multiple_of(CHANGED_EVERY) {
        return Vec::new();
    }
    let mut place = [0; 4];
    place.copy_from_slice(&digest[1..5]);
    let place = u32::from_le_bytes(place) as usize % bytes.len();
    let mut flipped = bytes.to_vec();
    flipped[place] ^= 1 << (digest[5] % 8);
    let longer = [bytes, &[0]].concat();
    vec![flipped, bytes[..place].to_vec(), longer]
}

/// A number that is announced and that no bytes follow takes no memory.
#[test]
fn announced_numbers_are_bounded_by_the_bytes_that_are_there() {
    use std::sync::Arc;

    use crate::algorithm::PublicState;
    use crate::linalg::Block;
    use crate::protocol::averaging::AveragingKind;
    use crate::vocabulary::{PeerIndex, ReleaseId, Span};

    let scene = super::scene(8, AveragingKind::Tree, 3);
    let setup = RegroupSetup {
        me: PeerIndex(0),
        session: scene.session.plan().session(),
        signatures: scene.views.signatures(PeerIndex(0)),
        links: Arc::new(scene.views.session().public().links().expect("a graph")),
        tolerance: super::tolerance(8, 2, 1),
        last: ReleaseId(3),
        patience: Span(1),
    };
    let format = Format::new(&setup, scene.session.plan());
    let state = PublicState::new(Arc::new(Block::zeros(2, 1)));
    let bytes = format.record_bytes(&DiskRecord::State(state));
    assert!(format.record(&bytes).is_ok());
    let mut past = bytes.to_vec();
    let end = past.len();
    past[end - 4..].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(format.record(&past).is_err());
    // Rows and columns stand after the kind, a number and what was agreed on.
    let mut rows = bytes.to_vec();
    rows[14..22].copy_from_slice(&[0xff; 8]);
    assert!(format.record(&rows).is_err());
}
