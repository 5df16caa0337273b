//! The least that must go wrong for a run to fail.

use super::schedule::FaultSchedule;

/// A schedule that still `fails`, of which nothing can be taken any more: without any one of its entries, or without its loss of frames, it does not. How often
/// `fails` was asked comes with it.
///
/// Entries are taken in halves first, then in quarters, down to single ones (delta debugging: Zeller & Hildebrandt, *IEEE Trans. Softw. Eng.* 28, 2002), until a
/// whole pass over single ones takes nothing. A schedule that does not fail is returned as it is.
///
/// # Cost
/// O(n²) runs for n entries at worst, O(n log n) where few entries matter.
pub fn shrink<P: Clone>(
    schedule: &FaultSchedule<P>,
    mut fails: impl FnMut(&FaultSchedule<P>) -> bool,
) -> (FaultSchedule<P>, usize) {
    let mut asked = 1;
    let mut least = schedule.clone();
    if !fails(&least) {
        return (least, asked);
    }
    let mut ask = |tried: &FaultSchedule<P>| {
        asked += 1;
        fails(tried)
    };
    // Whatever does not matter for the failure is as in a schedule where nothing happens.
    let calmer: [fn(&mut FaultSchedule<P>); 2] =
        [|tried| tried.loss = 0.0, |tried| tried.latency = None];
    for calm in calmer {
        let mut tried = least.clone();
        calm(&mut tried);
        if (tried.loss, tried.latency) != (least.loss, least.latency) && ask(&tried) {
            least = tried;
        }
    }
    let mut size = least.listed().div_ceil(2);
    while size > 0 && least.listed() > 0 {
        let before = least.listed();
        let mut start = 0;
        while start < least.listed() {
            let end = (start + size).min(least.listed());
            let tried = least.without(start..end);
            match ask(&tried) {
                true => least = tried,
                false => start = end,
            }
        }
        let is_stuck = least.listed() == before;
        size = match (size, is_stuck) {
            (1, true) => 0,
            (1, false) => 1,
            (size, _) => size.div_ceil(2),
        };
    }
    (least, asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::event::faults::{Crash, CrashPoint};

    fn crashes(peers: impl Iterator<Item = u32>) -> FaultSchedule {
        let crashes = peers.map(|peer| Crash {
            peer,
            after: peer,
            at: CrashPoint::Frame,
            restart_micros: None,
        });
        FaultSchedule {
            crashes: crashes.collect(),
            loss: 0.1,
            ..FaultSchedule::none(1)
        }
    }

    fn has(schedule: &FaultSchedule, peer: u32) -> bool {
        schedule.crashes.iter().any(|crash| crash.peer == peer)
    }

    #[test]
    fn what_is_left_is_what_matters() {
        let all = crashes(0..100);
        let (least, asked) = shrink(&all, |tried| {
            has(tried, 17) && has(tried, 18) && has(tried, 90)
        });
        assert_eq!(
            least,
            FaultSchedule {
                loss: 0.0,
                ..crashes([17, 18, 90].into_iter())
            }
        );
        assert!(asked < 80, "{asked} runs");
        // Either of two is enough: one of them is left.
        let (least, _) = shrink(&all, |tried| has(tried, 3) || has(tried, 70));
        assert_eq!(least.listed(), 1);
        // Only many together fail.
        let (least, _) = shrink(&all, |tried| tried.listed() >= 10);
        assert_eq!(least.listed(), 10);
        let (least, _) = shrink(&all, |tried| tried.loss > 0.0);
        assert_eq!((least.listed(), least.loss), (0, 0.1));
    }

    #[test]
    fn what_does_not_fail_stays_as_it_is() {
        let all = crashes(0..5);
        let mut asked = 0;
        let (same, runs) = shrink(&all, |_| {
            asked += 1;
            false
        });
        assert_eq!((same, runs, asked), (all, 1, 1));
    }
}
