//! A queue ordered by time, ties by order of insertion.

use std::collections::{BTreeMap, VecDeque};

use crate::vocabulary::Time;

/// Emptied buckets kept for their memory.
const SPARE: usize = 1024;

/// The pending events of a simulation: one bucket per point in time, first in, first out.
///
/// Messages that were sent together over equal links arrive together, so there are few points in time
/// whatever the number of peers, and an event costs O(1); with random latencies it costs O(log of the
/// number of points in time), which are whole microseconds.
#[derive(Debug)]
pub(super) struct Queue<T> {
    buckets: BTreeMap<Time, VecDeque<T>>,
    spare: Vec<VecDeque<T>>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            buckets: BTreeMap::new(),
            spare: Vec::new(),
        }
    }
}

impl<T> Queue<T> {
    pub(super) fn push(&mut self, at: Time, item: T) {
        let spare = &mut self.spare;
        self.buckets
            .entry(at)
            .or_insert_with(|| spare.pop().unwrap_or_default())
            .push_back(item);
    }

    pub(super) fn pop(&mut self) -> Option<(Time, T)> {
        let mut bucket = self.buckets.first_entry()?;
        let at = *bucket.key();
        // Buckets are never empty: the last item takes its bucket along.
        let item = bucket.get_mut().pop_front()?;
        if bucket.get().is_empty() {
            let emptied = bucket.remove();
            if self.spare.len() < SPARE {
                self.spare.push(emptied);
            }
        }
        Some((at, item))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_in_order_of_time_and_then_of_insertion() {
        let mut queue = Queue::default();
        for (at, item) in [(5, 'c'), (1, 'a'), (5, 'd'), (1, 'b')] {
            queue.push(Time(at), item);
        }
        let order: String = std::iter::from_fn(|| queue.pop().map(|(_, item)| item)).collect();
        assert_eq!(order, "abcd");
    }

    #[test]
    fn the_order_is_that_of_a_stable_sort_while_events_come_and_go() {
        let mut queue = Queue::default();
        let (mut now, mut seen) = (Time(0), Vec::new());
        let mut pushed = Vec::new();
        for turn in 0..3000_u64 {
            for copy in 0..2 {
                let at = Time(now.0 + turn * 7919 % 13 + copy);
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
        assert_eq!(seen, pushed);
        assert!(queue.spare.len() <= SPARE);
    }
}
