//! A queue ordered by time, ties by order of insertion, for events that are never pushed into the past.

/// Slots of a level: one per value of a byte.
const SLOTS: usize = 256;

/// Emptied slots kept for their memory.
const SPARE: usize = 1024;

/// The pending events of a simulation: a radix heap of radix 256.
///
/// An event waits at the level of the highest byte in which its time differs from the present, in the slot of that byte's
/// value. When the present reaches a slot, its events move to lower levels, so each event is written a few
/// times (at most as often as the longest delay has bytes, and once more), always at the end of one of few
/// arrays. That costs O(1) per event and no memory is visited at random, whatever the number of events.
///
/// Equal times are always in one slot: those above the present's level are not touched when the present
/// moves, and a slot that is dealt out is dealt out in order. So ties stay in order of insertion.
#[derive(Debug)]
pub(super) struct Queue<T> {
    now: u64,
    levels: Vec<Level<T>>,
    /// Events of this very moment that have been popped, from the start of their slot.
    popped: usize,
    spare: Vec<Vec<(u64, T)>>,
}

#[derive(Debug)]
struct Level<T> {
    slots: Vec<Vec<(u64, T)>>,
    /// One bit per slot: whether anything is in it.
    filled: [u64; SLOTS / 64],
}

impl<T> Level<T> {
    fn new() -> Self {
        Self {
            slots: (0..SLOTS).map(|_| Vec::new()).collect(),
            filled: [0; SLOTS / 64],
        }
    }

    fn first(&self) -> Option<usize> {
        let word = self.filled.iter().position(|word| *word != 0)?;
        Some(64 * word + self.filled[word].trailing_zeros() as usize)
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            now: 0,
            levels: Vec::new(),
            popped: 0,
            spare: Vec::new(),
        }
    }
}

impl<T: Copy> Queue<T> {
    /// Schedules `item`. A time before that of the last event popped counts as the present.
    pub(super) fn push(&mut self, at: u64, item: T) {
        let at = at.max(self.now);
        let differing = at ^ self.now;
        let level = (63 - (differing | 1).leading_zeros() as usize) / 8;
        while self.levels.len() <= level {
            self.levels.push(Level::new());
        }
        let slot = (at >> (8 * level)) as usize % SLOTS;
        let Level { slots, filled } = &mut self.levels[level];
        let events = &mut slots[slot];
        if events.capacity() == 0
            && let Some(spare) = self.spare.pop()
        {
            *events = spare;
        }
        events.push((at, item));
        filled[slot / 64] |= 1 << (slot % 64);
    }

    /// The next event.
    pub(super) fn pop(&mut self) -> Option<(u64, T)> {
        loop {
            let (level, slot) = self
                .levels
                .iter()
                .enumerate()
                .find_map(|(level, slots)| Some((level, slots.first()?)))?;
            if level == 0 {
                // One point in time: in order of insertion, and more may be pushed meanwhile.
                let events = &self.levels[0].slots[slot];
                let (at, item) = events[self.popped];
                self.popped += 1;
                if self.popped == events.len() {
                    self.popped = 0;
                    let emptied = self.take(0, slot);
                    self.recycle(emptied);
                }
                self.now = at;
                return Some((at, item));
            }
            let events = self.take(level, slot);
            // The earliest is the present now: all others differ from it in a lower byte only.
            if let Some(first) = events.iter().map(|(at, _)| *at).min() {
                self.now = first;
            }
            for &(at, item) in &events {
                self.push(at, item);
            }
            self.recycle(events);
        }
    }

    fn take(&mut self, level: usize, slot: usize) -> Vec<(u64, T)> {
        let Level { slots, filled } = &mut self.levels[level];
        filled[slot / 64] &= !(1 << (slot % 64));
        std::mem::take(&mut slots[slot])
    }

    fn recycle(&mut self, mut emptied: Vec<(u64, T)>) {
        emptied.clear();
        if self.spare.len() < SPARE {
            self.spare.push(emptied);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_then_of_insertion() {
        let mut queue = Queue::default();
        for (at, item) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b')] {
            queue.push(at, item);
        }
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, item)| item)).collect();
        assert_eq!(order, "abcd");
    }

    /// Three thousand turns of two pushes and a pop, then the rest; delays below `longest`, and often equal times.
    fn against_a_stable_sort(longest: u64) {
        let mut queue = Queue::default();
        let (mut now, mut seen) = (0, Vec::new());
        let mut pushed = Vec::new();
        for turn in 0..3000_u64 {
            for copy in 0..2 {
                let delay = (turn * 7919).wrapping_mul(turn + 3) % longest;
                // Coarse times, so that events of early and late turns meet in one point in time.
                let at = if turn % 3 == 0 {
                    now + delay + copy
                } else {
                    (now + delay).next_multiple_of(1 + longest / 8)
                };
                pushed.push((at, pushed.len()));
                queue.push(at, pushed.len() - 1);
            }
            let (at, item) = queue.pop().expect("more comes than goes");
            assert!(at >= now);
            now = at;
            seen.push((at, item));
        }
        seen.extend(std::iter::from_fn(|| queue.pop()));
        pushed.sort_by_key(|(at, _)| *at);
        assert_eq!(seen, pushed, "{longest}");
        assert!(queue.spare.len() <= SPARE);
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort_while_events_come_and_go() {
        for longest in [1, 13, 256, 300, 65_536, 70_000, 20_000_000, 1 << 40] {
            against_a_stable_sort(longest);
        }
    }

    #[test]
    fn the_past_is_the_present() {
        let mut queue = Queue::default();
        queue.push(1000, 'a');
        assert_eq!(queue.pop(), Some((1000, 'a')));
        queue.push(1001, 'c');
        queue.push(3, 'b');
        assert_eq!(queue.pop(), Some((1000, 'b')));
        assert_eq!(queue.pop(), Some((1001, 'c')));
        assert_eq!(queue.pop(), None);
    }
}
