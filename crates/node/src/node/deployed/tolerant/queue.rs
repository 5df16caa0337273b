//! What one end of a link has said to one life of the other and keeps until it has arrived.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::node::deployed::tolerance::Life;

/// The most frames that are kept for a neighbour, and the most bytes: so many times those of the longest frame, and 16 MiB. Nobody is sent as many while it takes
/// part and says what has arrived: without its word nobody goes on.
const MOST_FRAMES: usize = 1 << 16;
const MOST_LONG: usize = 16;
const MOST_SHORT: usize = 16 << 20;

/// Frames for one neighbour, numbered from 1 for each of its lives.
#[derive(Debug)]
pub(super) struct Queue {
    /// The most bytes that are kept.
    most: usize,
    /// Whose frames these are: nobody's in particular before the neighbour was ever heard of.
    life: Option<Life>,
    /// Those that have not arrived as far as is known, oldest first.
    kept: VecDeque<Arc<[u8]>>,
    bytes: usize,
    arrived: u64,
    sent: u64,
    /// Frames that were written again.
    resent: u64,
    written: u64,
}

impl Queue {
    /// Of frames of at most so many bytes.
    pub(super) fn of(longest: usize) -> Self {
        Self {
            most: longest.saturating_mul(MOST_LONG).saturating_add(MOST_SHORT),
            life: None,
            kept: VecDeque::new(),
            bytes: 0,
            arrived: 0,
            sent: 0,
            resent: 0,
            written: 0,
        }
    }

    /// Adds a frame; false if there are too many.
    pub(super) fn push(&mut self, frame: Arc<[u8]>) -> bool {
        if self.kept.len() >= MOST_FRAMES || self.bytes.saturating_add(frame.len()) > self.most {
            return false;
        }
        self.bytes += frame.len();
        self.kept.push_back(frame);
        true
    }

    /// From now on frames are for this life. What was kept for a former one is dropped; what was kept for whoever comes is for this one.
    pub(super) fn begin(&mut self, life: Life) {
        if self.life.is_some_and(|former| former != life) {
            self.clear();
        }
        self.life = Some(life);
    }

    /// What was kept is dropped; what comes is for the next life, whichever that is.
    pub(super) fn expect_another(&mut self) {
        self.clear();
        self.life = None;
    }

    /// Drops everything.
    pub(super) fn clear(&mut self) {
        self.kept.clear();
        (self.bytes, self.arrived, self.sent) = (0, 0, 0);
    }

    /// The frame of this number, which counts as sent from here on; nothing if it is not there, or the neighbour lives another life.
    pub(super) fn take(&mut self, life: Life, number: u64) -> Option<Arc<[u8]>> {
        if self.life != Some(life) {
            return None;
        }
        let at = usize::try_from(number.checked_sub(self.arrived + 1)?).ok()?;
        let frame = self.kept.get(at)?;
        self.written += frame.len() as u64;
        self.resent += u64::from(number <= self.sent);
        self.sent = self.sent.max(number);
        Some(Arc::clone(frame))
    }

    /// Everything up to this frame has arrived at this life; false if so much was not sent, or this takes back what had arrived.
    pub(super) fn arrived(&mut self, life: Life, last: u64) -> bool {
        if self.life != Some(life) {
            return true;
        }
        if last < self.arrived || last > self.sent {
            return false;
        }
        // Not more than are kept: those were sent.
        let gone = self.kept.drain(..(last - self.arrived) as usize);
        self.bytes -= gone.map(|frame| frame.len()).sum::<usize>();
        self.arrived = last;
        true
    }

    /// Whether everything has been written at least once.
    pub(super) fn is_written(&self) -> bool {
        self.sent == self.arrived + self.kept.len() as u64
    }

    /// Frames and bytes written, and frames written again.
    pub(super) fn counted(&self) -> (u64, u64) {
        (self.written, self.resent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(content: u8) -> Arc<[u8]> {
        Arc::from([content])
    }

    #[test]
    fn frames_are_kept_for_one_life_and_counted_anew_for_the_next() {
        let (first, second) = (Life::new(0, 0, 5), Life::new(1, 1, 6));
        let mut queue = Queue::of(1 << 20);
        assert!(queue.push(frame(1)) && queue.push(frame(2)));
        // Nobody has been heard of: there is nobody to write to.
        assert_eq!(queue.take(first, 1), None);
        queue.begin(first);
        assert_eq!(queue.take(first, 1), Some(frame(1)));
        assert_eq!(queue.take(second, 1), None);
        assert!(queue.arrived(first, 1) && !queue.arrived(first, 2) && !queue.arrived(first, 0));
        assert_eq!(queue.take(first, 2), Some(frame(2)));
        assert!(queue.is_written());
        // After a connection has broken, from where the neighbour is.
        assert_eq!(queue.take(first, 2), Some(frame(2)));
        assert_eq!(queue.counted(), (3, 1));
        queue.begin(second);
        assert_eq!(queue.take(second, 1), None);
        assert!(queue.push(frame(3)));
        // A word from the former life, which is late, is nothing.
        assert!(queue.arrived(first, 2));
        assert_eq!(queue.take(second, 1), Some(frame(3)));
        assert!(!queue.arrived(second, 2) && queue.arrived(second, 1));
    }

    /// Others tell of the restart before the neighbour comes: what is said from then on is for its next life, and not for the last.
    #[test]
    fn what_follows_a_restart_waits_for_the_life_that_is_to_come() {
        let (first, second) = (Life::new(0, 0, 5), Life::new(1, 1, 6));
        let mut queue = Queue::of(1 << 20);
        queue.begin(first);
        assert!(queue.push(frame(1)));
        queue.expect_another();
        assert!(queue.push(frame(2)));
        assert_eq!(queue.take(first, 1), None);
        queue.begin(second);
        assert_eq!(queue.take(second, 1), Some(frame(2)));
    }

    #[test]
    fn a_queue_has_an_end() {
        let mut queue = Queue::of(1 << 20);
        let long: Arc<[u8]> = Arc::from(vec![0; 8]);
        for _ in 0..MOST_FRAMES {
            assert!(queue.push(Arc::clone(&long)));
        }
        assert!(!queue.push(long));
        queue.clear();
        assert!(queue.push(frame(1)));
        // Whoever reads and says of nothing that it has arrived is left a few long frames.
        let longest = 8 << 20;
        let mut queue = Queue::of(longest);
        let long: Arc<[u8]> = Arc::from(vec![0; longest]);
        let taken = (0..100).take_while(|_| queue.push(Arc::clone(&long)));
        assert_eq!(taken.count(), MOST_LONG + 2);
    }
}
