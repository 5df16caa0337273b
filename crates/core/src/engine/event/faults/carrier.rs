//! What links do to frames: latency, loss with resend, outages; order is kept.

use std::collections::BTreeMap;

use chacha20::ChaCha20Rng;
use rand::RngExt;

use super::schedule::{FaultSchedule, Outage};
use crate::engine::event::Latency;

/// How often a frame is sent at most: with nine in ten lost, one in 10⁹ takes 200 times.
const MOST_SENT: u32 = 1_000;

/// Where nobody says how long frames take.
const USUAL: Latency = Latency::Exponential { mean_micros: 1_000 };

/// When a link goes away, and when it comes back.
type Absence = (u64, Option<u64>);

/// All links of a run.
pub(super) struct Carrier {
    generator: ChaCha20Rng,
    latency: Latency,
    loss: f64,
    resend_micros: u64,
    /// Per link, lower end first, when it carries nothing.
    outages: BTreeMap<(u32, u32), Vec<Absence>>,
    /// When the last frame from one peer to another arrives: none overtakes another.
    last: BTreeMap<(usize, usize), u64>,
}

/// When a frame arrives, and what it went through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Carried {
    /// When it arrives; never, over a link that stays away.
    pub(super) at: Option<u64>,
    /// How often it was lost.
    pub(super) lost: u32,
    /// Whether it waited for the link.
    pub(super) has_waited: bool,
}

impl Carrier {
    /// The links of a run under this schedule, over links given with the lower end first.
    pub(super) fn new(schedule: &FaultSchedule, links: &[(u32, u32)]) -> Self {
        let mut outages: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (link, from, until) in all_outages(schedule, links) {
            outages.entry(link).or_default().push((from, until));
        }
        for list in outages.values_mut() {
            list.sort_unstable();
        }
        Self {
            generator: schedule.generator(),
            latency: schedule.latency.unwrap_or(USUAL),
            loss: schedule.loss,
            resend_micros: schedule.resend_micros,
            outages,
            last: BTreeMap::new(),
        }
    }

    /// One latency.
    pub(super) fn delay(&mut self) -> u64 {
        self.latency.draw(&mut self.generator) + 1
    }

    /// Carries one frame that is sent now.
    pub(super) fn carry(&mut self, now: u64, (from, to): (usize, usize)) -> Carried {
        let mut carried = Carried {
            at: None,
            lost: 0,
            has_waited: false,
        };
        let mut sent = now;
        for _ in 0..MOST_SENT {
            match self.back_from(sent, (from, to)) {
                Some(back) => {
                    carried.has_waited |= back > sent;
                    sent = back;
                }
                None => {
                    carried.has_waited = true;
                    return carried;
                }
            }
            if self.loss == 0.0 || !self.generator.random_bool(self.loss) {
                break;
            }
            carried.lost += 1;
            sent = sent.saturating_add(self.resend_micros);
        }
        let arrives = sent.saturating_add(self.delay());
        let last = self.last.entry((from, to)).or_default();
        let at = arrives.max(*last + 1);
        *last = at;
        carried.at = Some(at);
        carried
    }

    /// When this link carries something again; at once, if it does.
    fn back_from(&self, at: u64, (from, to): (usize, usize)) -> Option<u64> {
        let link = (from.min(to) as u32, from.max(to) as u32);
        let Some(list) = self.outages.get(&link) else {
            return Some(at);
        };
        let mut at = at;
        for &(from, until) in list {
            match until {
                _ if at < from => {}
                None => return None,
                Some(until) => at = at.max(until),
            }
        }
        Some(at)
    }
}

/// All times at which a link carries nothing: those that are listed, and those of links between the sides of a partition.
pub(super) fn all_outages(
    schedule: &FaultSchedule,
    links: &[(u32, u32)],
) -> Vec<((u32, u32), u64, Option<u64>)> {
    let mut all = Vec::new();
    for outage in &schedule.outages {
        let &Outage {
            from_micros,
            until_micros,
            link: (u, v),
        } = outage;
        all.push(((u.min(v), u.max(v)), from_micros, until_micros));
    }
    for partition in &schedule.partitions {
        let is_in = |peer: u32| partition.side.contains(&peer);
        for &(u, v) in links {
            if is_in(u) != is_in(v) {
                all.push(((u, v), partition.from_micros, partition.until_micros));
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn carrier(change: impl FnOnce(&mut FaultSchedule)) -> Carrier {
        let mut schedule = FaultSchedule::none(3);
        schedule.latency = Some(Latency::Constant { micros: 10 });
        change(&mut schedule);
        Carrier::new(&schedule, &[(0, 1), (0, 2), (1, 2)])
    }

    #[test]
    fn a_frame_that_is_lost_is_sent_again_and_none_overtakes_another() {
        let mut lossy = carrier(|schedule| {
            schedule.loss = 0.2;
            schedule.resend_micros = 100;
        });
        let (mut lost, mut last) = (0, 0);
        for now in 0..20_000 {
            let carried = lossy.carry(now, (0, 1));
            let at = carried.at.expect("it arrives");
            assert!(at > last && at > now + 100 * u64::from(carried.lost) + 10);
            last = at;
            lost += carried.lost;
        }
        // 20,000 times 0.2/0.8, with a standard deviation of 80: within six, a false alarm of 2e-9.
        assert!((4_520..5_480).contains(&lost), "{lost}");
    }

    #[test]
    fn frames_wait_for_a_link_and_never_come_over_one_that_stays_away() {
        let mut broken = carrier(|schedule| {
            schedule.outages.push(Outage {
                from_micros: 100,
                until_micros: Some(500),
                link: (1, 0),
            });
            schedule.partitions.push(super::super::Partition {
                from_micros: 450,
                until_micros: None,
                side: vec![2],
            });
        });
        let arrives = |carrier: &mut Carrier, now, link| carrier.carry(now, link).at;
        assert_eq!(arrives(&mut broken, 50, (0, 1)), Some(61));
        assert_eq!(arrives(&mut broken, 100, (0, 1)), Some(511));
        assert_eq!(arrives(&mut broken, 499, (0, 1)), Some(512));
        assert_eq!(arrives(&mut broken, 300, (1, 0)), Some(511));
        assert_eq!(arrives(&mut broken, 300, (0, 2)), Some(311));
        assert_eq!(arrives(&mut broken, 450, (0, 2)), None);
        assert_eq!(arrives(&mut broken, 600, (0, 1)), Some(611));
    }
}
