//! Neighbours that are connected and say nothing: whoever holds the protocol up for longer than a step may take is suspected, and not those who wait for it.
//!
//! A process may show that it lives while its peer does not go on: it computes for ever, its disk hangs, a defect. Its neighbours wait for its next message, *their* neighbours for theirs,
//! and soon everybody waits for somebody. A driver that waits says so now and then, and how many hops away whoever it waits for is: one more than the farthest that its
//! neighbours say, and 1 where they say nothing. A neighbour is suspected once it has been waited for as long as a step may take, and
//! somewhat longer for every hop that it names. What it says meanwhile, and bytes of a long frame, begin that time anew; but if this peer itself gets no further, not for more than [`MOST`] times
//! as long: statements can be said again without end, and a frame can come byte by byte. So whoever is next to a silent member suspects it first; that is said to all, and they begin anew before they suspect anybody. A member that names hops
//! without end gains the number of members times a sixteenth of the time, and no more.

use std::time::Duration;

/// First byte of a frame that says that its sender waits; the second is how many hops away the cause is. No frame of the protocol begins with it.
pub(in crate::node) const WAITING: u8 = 0xf7;

/// In the time that a step may take, how often a driver looks whom it waits for, and says so.
const LOOKS: u32 = 32;

/// A hop more is this part of that time.
const PER_HOP: u32 = 16;

/// So many times as long as a step may take a neighbour is waited for that says something while this peer gets no further.
const MOST: u32 = 16;

/// What one driver knows of whom it waits for.
#[derive(Debug)]
pub(in crate::node) struct Stalling {
    limit: Duration,
    /// More hops are not believed.
    most: u8,
    places: Vec<Place>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// Since when it has been waited for.
    since: Option<Duration>,
    /// Since when it has been waited for without any progress of this peer.
    first: Option<Duration>,
    /// The hops that it says, and when it said so.
    hops: Option<(u8, Duration)>,
}

impl Stalling {
    /// For so many neighbours and members.
    pub(in crate::node) fn new(limit: Duration, neighbours: usize, members: usize) -> Self {
        Self {
            limit,
            most: u8::try_from(members).unwrap_or(u8::MAX),
            places: vec![Place::default(); neighbours],
        }
    }

    /// How often to look.
    pub(in crate::node) fn pause(&self) -> Duration {
        self.limit / LOOKS
    }

    /// Something of the protocol came from this neighbour.
    pub(in crate::node) fn heard(&mut self, place: usize) {
        if let Some(place) = self.places.get_mut(place) {
            *place = Place {
                first: place.first,
                ..Place::default()
            };
        }
    }

    /// This peer gets further, and waits for whatever is next.
    pub(in crate::node) fn advances(&mut self) {
        self.places.iter_mut().for_each(|place| place.first = None);
    }

    /// This neighbour says that it waits for somebody so many hops away.
    pub(in crate::node) fn waits(&mut self, place: usize, hops: u8, now: Duration) {
        let most = self.most;
        if let Some(place) = self.places.get_mut(place) {
            place.hops = Some((hops.min(most), now));
        }
    }

    /// The hops that this neighbour has said lately.
    fn hops(&self, place: usize, now: Duration) -> u8 {
        let said = self.places[place].hops;
        let said = said.filter(|(_, at)| now.saturating_sub(*at) <= 4 * self.pause());
        said.map_or(0, |(hops, _)| hops)
    }

    /// Looks, given whom is waited for at this time: the neighbours to suspect, and what to tell the others, if there is anything to tell. Time in which a neighbour has `moved` bytes
    /// of a long frame is no waiting.
    pub(in crate::node) fn look(
        &mut self,
        waited: &[usize],
        now: Duration,
        moved: impl Fn(usize) -> Duration,
    ) -> (Vec<usize>, Option<u8>) {
        for (place, known) in self.places.iter_mut().enumerate() {
            known.first = known
                .first
                .or(Some(now))
                .filter(|_| waited.contains(&place));
            known.since = match known.since {
                _ if !waited.contains(&place) => None,
                None => Some(now),
                Some(since) => Some(since.max(moved(place))),
            };
        }
        let (mut suspects, mut most) = (Vec::new(), None);
        for &place in waited {
            let Some(&Place {
                since: Some(since),
                first: Some(first),
                ..
            }) = self.places.get(place)
            else {
                continue;
            };
            let hops = self.hops(place, now);
            let waited = now.saturating_sub(since);
            let more = self.limit * u32::from(hops) / PER_HOP;
            let in_all = now.saturating_sub(first);
            if waited > self.limit + more || in_all > MOST * self.limit + more {
                suspects.push(place);
            } else if waited > Duration::ZERO {
                let own = hops.saturating_add(1).min(self.most);
                most = most.max(Some(own));
            }
        }
        (suspects, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(32);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A chain 0 – 1 – 2 – …, whose first member says nothing: each waits for the one before it. When each would suspect it, if nobody cut anything.
    fn chain(length: usize) -> Vec<u64> {
        let mut all: Vec<Stalling> = (0..length).map(|_| Stalling::new(LIMIT, 1, 8)).collect();
        let mut first = vec![0; length];
        for second in 0..200 {
            for member in 0..length {
                let (suspects, tells) = all[member].look(&[0], at(second), |_| Duration::ZERO);
                if !suspects.is_empty() && first[member] == 0 {
                    first[member] = second;
                }
                if let (Some(hops), Some(next)) = (tells, all.get_mut(member + 1)) {
                    next.waits(0, hops, at(second));
                }
            }
        }
        first
    }

    #[test]
    fn whoever_is_next_to_a_silent_member_suspects_it_first() {
        let first = chain(5);
        assert_eq!(first[0], 33);
        assert!(
            first.windows(2).all(|pair| pair[0] + 2 <= pair[1]),
            "{first:?}"
        );
    }

    #[test]
    fn what_comes_or_moves_or_is_not_waited_for_begins_anew() {
        let still = |_| Duration::ZERO;
        let mut one = Stalling::new(LIMIT, 2, 4);
        assert_eq!(one.look(&[1], at(1), still), (vec![], None));
        assert_eq!(one.look(&[1], at(20), still), (vec![], Some(1)));
        one.heard(1);
        assert_eq!(one.look(&[1], at(30), still), (vec![], None));
        assert_eq!(one.look(&[], at(40), still), (vec![], None));
        assert_eq!(one.look(&[1], at(50), still), (vec![], None));
        let moves = |_| at(70);
        assert_eq!(one.look(&[1], at(75), moves), (vec![], Some(1)));
        assert_eq!(one.look(&[1], at(102), moves), (vec![], Some(1)));
        assert_eq!(one.look(&[1], at(103), moves), (vec![1], None));
        // Hops without end are as many as there are members.
        one.waits(1, 200, at(103));
        assert_eq!(one.look(&[1], at(104), moves), (vec![], Some(4)));
        one.waits(1, 200, at(110));
        assert_eq!(one.look(&[1], at(110), moves), (vec![], Some(4)));
        one.waits(1, 200, at(111));
        assert_eq!(one.look(&[1], at(111), moves), (vec![1], None));
    }

    /// A neighbour that says something now and then, or sends a frame byte by byte, is suspected once this peer has got no further for many times the limit.
    #[test]
    fn whoever_talks_and_lets_nobody_get_further_is_suspected() {
        for talks in [true, false] {
            let mut one = Stalling::new(LIMIT, 1, 4);
            let mut play = |from: u64| {
                (from..from + 1000).find(|second| {
                    if talks && second % 20 == 0 {
                        one.heard(0);
                    }
                    let moved = |_| if talks { at(0) } else { at(*second) };
                    let (suspects, _) = one.look(&[0], at(*second), moved);
                    // It gets further once.
                    if *second == 300 {
                        one.advances();
                    }
                    !suspects.is_empty()
                })
            };
            assert_eq!(play(1), Some(301 + 16 * 32 + 1), "{talks}");
        }
    }
}
