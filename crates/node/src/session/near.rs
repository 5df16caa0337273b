//! Whom members of a large session are connected with from the beginning, and what they pass on.

use std::collections::{BTreeMap, BTreeSet};

use super::identity::PublicId;
use super::statement::SessionHash;

/// Up to so many members, every two have a connection from the beginning.
pub const MOST_IN_A_MESH: usize = 32;

/// How many statements are passed on in all: seven eighths of what a connection carries.
const MOST_RELAYED: u32 = 3584;

/// The members that `own` is connected with from the beginning; `None` where that is everybody.
///
/// A connection costs both ends about a millisecond of computation and three round trips, and s members would have s(s − 1)/2 of them before the
/// first word. So members stand on a ring, in the order of a hash that depends on the session, and each is connected with those 1, 4, 16 and 64
/// places away, on both sides, as far as these are less than half the ring: 6 of 63 where there are 64 members. Whatever is new to a member it passes on to these. A
/// word reaches all in at most 7 steps, since every distance around the ring is a sum of few of these, as numbers have few digits in base 4. Whoever waits for long is connected with everybody, so that members who are absent cut nobody off for good.
///
/// Nobody can choose a place by choosing a key: the hash of the session file is made later. It would gain little: every statement is signed, so
/// that whoever passes it on can hold it back, which ends the agreement, and nothing else.
#[must_use]
pub fn near(
    session: SessionHash,
    members: &[PublicId],
    own: PublicId,
) -> Option<BTreeSet<PublicId>> {
    if members.len() <= MOST_IN_A_MESH {
        return None;
    }
    let place = |id: &PublicId| {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session ring v1");
        hasher.update(&session.0).update(id.bytes());
        *hasher.finalize().as_bytes()
    };
    let mut ring: Vec<_> = members.iter().map(|id| (place(id), *id)).collect();
    ring.sort_unstable();
    let count = ring.len();
    let own_place = ring.iter().position(|(_, id)| *id == own)?;
    let steps = std::iter::successors(Some(1), |step| Some(4 * step));
    let steps = steps.take_while(|step| 2 * step < count);
    let both = steps.flat_map(|step| [own_place + step, own_place + count - step]);
    Some(both.map(|place| ring[place % count].1).collect())
}

/// What has been passed on, so that nobody can have others say without end what it signs.
///
/// Every member has an equal part of what is passed on: 28 statements of 128 members, 108 of 33. An honest one makes its Join, a list and a word that it is
/// ready for every departure, and a few more. What somebody says again that was passed on already is not counted.
#[derive(Debug)]
pub struct Relays {
    most: u32,
    of: BTreeMap<PublicId, u32>,
}

impl Relays {
    /// Among so many members.
    #[must_use]
    pub fn among(members: usize) -> Self {
        let members = u32::try_from(members).unwrap_or(u32::MAX).max(1);
        Self {
            most: MOST_RELAYED / members,
            of: BTreeMap::new(),
        }
    }

    /// Whether one more statement of this member may be passed on, which is counted.
    pub fn allow(&mut self, by: PublicId) -> bool {
        let count = self.of.entry(by).or_default();
        *count = count.saturating_add(1);
        *count <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::super::Identity;
    use super::*;

    fn ids(count: u8) -> Vec<PublicId> {
        let secrets = (0..count).map(|number| [number + 1; 32]);
        secrets
            .map(|secret| Identity::from_secret(secret.into()).id())
            .collect()
    }

    /// How many steps a word takes to reach everybody but these; `None` if it does not.
    fn steps(near: &BTreeMap<PublicId, BTreeSet<PublicId>>, absent: &[PublicId]) -> Option<usize> {
        let mut missing: BTreeSet<_> = near.keys().copied().collect();
        for id in absent {
            missing.remove(id);
        }
        let mut front = vec![missing.pop_first()?];
        let mut steps = 0;
        while !missing.is_empty() && !front.is_empty() {
            let next = front.iter().flat_map(|id| &near[id]);
            let next: BTreeSet<_> = next.filter(|id| missing.contains(*id)).copied().collect();
            missing.retain(|id| !next.contains(id));
            front = next.into_iter().collect();
            steps += 1;
        }
        missing.is_empty().then_some(steps)
    }

    #[test]
    fn small_sessions_are_meshes() {
        let members = ids(MOST_IN_A_MESH as u8);
        assert_eq!(near(SessionHash([1; 32]), &members, members[0]), None);
    }

    /// Both ends know of a connection, words arrive within the steps that are promised, and no five members part the others: of all pairs of
    /// neighbours of one member and of 2000 random five.
    #[test]
    fn large_sessions_hold_together() {
        use rand::seq::IndexedRandom;
        for (count, degree, most) in [(33, 6, 4), (64, 6, 5), (65, 6, 5), (128, 6, 7)] {
            let members = ids(count);
            let session = SessionHash([count; 32]);
            let of = |id: &PublicId| {
                let near = near(session, &members, *id).expect("more than a mesh has");
                (*id, near)
            };
            let all: BTreeMap<_, _> = members.iter().map(of).collect();
            for (id, near) in &all {
                assert!(near.iter().all(|other| all[other].contains(id)));
                assert_eq!((near.len(), near.contains(id)), (degree, false));
            }
            let taken = steps(&all, &[]).expect("connected");
            assert!(taken <= most, "{count}: {taken}");
            let mut random =
                crate::vocabulary::Seed::from_u64(5).generator(crate::vocabulary::Label::Scenario);
            for _ in 0..2000 {
                let absent: Vec<_> = members.sample(&mut random, degree - 1).copied().collect();
                assert!(steps(&all, &absent).is_some(), "{count}");
            }
            for near in all.values() {
                let mut absent: Vec<_> = near.iter().copied().collect();
                absent.pop();
                assert!(steps(&all, &absent).is_some(), "{count}");
            }
            let others = SessionHash([0; 32]);
            assert!(
                members
                    .iter()
                    .any(|id| near(others, &members, *id).as_ref() != all.get(id))
            );
        }
    }

    #[test]
    fn nobody_is_passed_on_without_end() {
        for (count, most) in [(33, 108), (64, 56), (128, 28)] {
            let (mut relays, members) = (Relays::among(count), ids(2));
            let allowed = (0..1000).filter(|_| relays.allow(members[0])).count();
            assert_eq!(allowed, most);
            assert!(relays.allow(members[1]));
        }
    }
}
