//! Programs in which peers pass shares of their mass: who meets whom in which round.

use std::sync::Arc;

use super::loss::Loss;
use super::neighbourhood::Neighbourhood;
use super::step::ScheduleError;

/// The exchanges of a schedule that passes mass, and what it was made for.
///
/// In a round a peer gives each neighbour it meets an equal share of its mass, keeps one such share and takes what they gave
/// (see `averaging/mass.rs`). Both ends of an edge meet in the same rounds, and each sends before it waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Passing {
    /// Who meets whom.
    pub contacts: Contacts,
    /// The loss that the number of rounds was chosen for.
    pub loss: Loss,
    /// The factor by which the spread between peers has shrunk at the end (see [`Schedule::contraction`](super::Schedule::contraction)).
    pub contraction: f64,
}

/// Who meets whom.
#[derive(Clone, Debug, PartialEq)]
pub enum Contacts {
    /// Everybody meets all neighbours in every round.
    All,
    /// Every peer's meetings, in ascending rounds, at least one entry each.
    Pairs(Arc<[Vec<Meeting>]>),
}

/// A round in which a peer meets one neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// The round, from 0.
    pub round: u32,
    /// The neighbour's position; `None` for a peer that meets nobody at all.
    pub with: Option<u32>,
}

impl Contacts {
    /// The meetings of these pairs of neighbours, one list per round.
    ///
    /// # Errors
    /// [`ScheduleError::Step`] and [`ScheduleError::Peers`] for a peer that meets two others in one round, or one that is not its
    /// neighbour.
    pub fn pairs(
        network: &dyn Neighbourhood,
        rounds: &[Vec<(u32, u32)>],
    ) -> Result<Self, ScheduleError> {
        let peers = network.peers();
        let mut meetings: Vec<Vec<Meeting>> = vec![Vec::new(); peers];
        for (round, pairs) in (0..).zip(rounds) {
            for &(a, b) in pairs {
                for (peer, other) in [(a, b), (b, a)] {
                    let peer = peer as usize;
                    let Some(own) = meetings.get_mut(peer) else {
                        return Err(ScheduleError::Peers {
                            found: peer + 1,
                            peers,
                        });
                    };
                    let position = network.neighbours(peer).binary_search(&other);
                    let busy = own.last().is_some_and(|last| last.round == round);
                    let (Ok(position), false) = (position, busy) else {
                        return Err(ScheduleError::Step { peer });
                    };
                    let with = Some(position as u32);
                    own.push(Meeting { round, with });
                }
            }
        }
        for own in meetings.iter_mut().filter(|own| own.is_empty()) {
            own.push(Meeting {
                round: 0,
                with: None,
            });
        }
        Ok(Self::Pairs(meetings.into()))
    }

    /// Messages that `peer` with so many neighbours sends in so many rounds.
    pub(super) fn messages(&self, peer: usize, degree: usize, rounds: u32) -> u64 {
        match self {
            Self::All => degree as u64 * u64::from(rounds),
            Self::Pairs(meetings) => {
                let met = meetings[peer].iter().filter(|one| one.with.is_some());
                met.count() as u64
            }
        }
    }

    /// Hashes who meets whom.
    pub(super) fn hash(&self, hasher: &mut blake3::Hasher) {
        match self {
            Self::All => {
                hasher.update(&[0]);
            }
            Self::Pairs(meetings) => {
                hasher.update(&[1]);
                for own in meetings.iter() {
                    hasher.update(&(own.len() as u64).to_le_bytes());
                    for meeting in own {
                        hasher.update(&meeting.round.to_le_bytes());
                        // No neighbour has this position.
                        let with = meeting.with.unwrap_or(u32::MAX);
                        hasher.update(&with.to_le_bytes());
                    }
                }
            }
        }
    }

    /// Bytes it takes in memory.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::All => 0,
            Self::Pairs(meetings) => {
                let of_peer = |own: &Vec<Meeting>| 24 + size_of::<Meeting>() * own.capacity();
                meetings.iter().map(of_peer).sum::<usize>() as u64
            }
        }
    }

    /// The part of one peer with so many neighbours.
    pub(super) fn of_peer(&self, peer: usize, degree: usize) -> OwnContacts {
        match self {
            Self::All => OwnContacts::All { degree },
            Self::Pairs(meetings) => {
                let mut heard = vec![Vec::new(); degree];
                for meeting in &meetings[peer] {
                    if let Some(with) = meeting.with {
                        heard[with as usize].push(meeting.round);
                    }
                }
                OwnContacts::Pairs {
                    meetings: meetings[peer].clone(),
                    heard,
                }
            }
        }
    }
}

/// Whom one peer meets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OwnContacts {
    All {
        degree: usize,
    },
    Pairs {
        meetings: Vec<Meeting>,
        /// Per neighbour: the rounds in which they meet, ascending.
        heard: Vec<Vec<u32>>,
    },
}

/// Whom a peer meets in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Met {
    /// All of so many neighbours.
    All(usize),
    /// The neighbour at this position.
    One(u32),
    Nobody,
}

impl Met {
    /// The positions, ascending.
    pub(crate) fn positions(self) -> std::ops::Range<usize> {
        match self {
            Self::All(degree) => 0..degree,
            Self::One(position) => position as usize..position as usize + 1,
            Self::Nobody => 0..0,
        }
    }

    /// How many, and the share that each is given.
    pub(crate) fn shares(self) -> (u32, f64) {
        let receivers = self.positions().len() as u32;
        (receivers, share(receivers))
    }
}

/// The share that each of so many receivers is given: what is kept is the same.
#[must_use]
pub fn share(receivers: u32) -> f64 {
    1.0 / (1.0 + f64::from(receivers))
}

impl OwnContacts {
    /// Neighbours of the peer.
    pub(super) fn degree(&self) -> usize {
        match self {
            Self::All { degree } => *degree,
            Self::Pairs { heard, .. } => heard.len(),
        }
    }

    /// Running totals that the peer keeps: one for all neighbours, or one each.
    pub(crate) fn streams(&self) -> usize {
        match self {
            Self::All { .. } => 1,
            Self::Pairs { heard, .. } => heard.len(),
        }
    }

    /// Whom it meets in the step at place `at` of its own, and in which round; nothing after its last one.
    pub(crate) fn step(&self, at: usize, rounds: u32) -> Option<(u32, Met)> {
        match self {
            Self::All { degree } => {
                (at < rounds as usize).then_some((at as u32, Met::All(*degree)))
            }
            Self::Pairs { meetings, .. } => {
                let meeting = meetings.get(at)?;
                Some((meeting.round, meeting.with.map_or(Met::Nobody, Met::One)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path of three.
    struct Path;

    impl Neighbourhood for Path {
        fn peers(&self) -> usize {
            3
        }

        fn neighbours(&self, peer: usize) -> &[u32] {
            [&[1][..], &[0, 2], &[1]][peer]
        }

        fn weights(&self, peer: usize) -> &[f64] {
            &[0.5, 0.5][..self.neighbours(peer).len()]
        }

        fn self_weight(&self, _peer: usize) -> f64 {
            0.0
        }
    }

    #[test]
    fn a_meeting_is_of_neighbours_and_of_one_pair_at_a_time() {
        let Ok(Contacts::Pairs(found)) = Contacts::pairs(&Path, &[vec![(1, 2)], vec![(0, 1)]])
        else {
            panic!("valid");
        };
        let met = |round, with| Meeting {
            round,
            with: Some(with),
        };
        assert_eq!(
            *found,
            [vec![met(1, 0)], vec![met(0, 1), met(1, 0)], vec![met(0, 0)]]
        );
        for (bad, error) in [
            (vec![(0, 2)], ScheduleError::Step { peer: 0 }),
            (vec![(0, 1), (1, 2)], ScheduleError::Step { peer: 1 }),
            (vec![(0, 3)], ScheduleError::Step { peer: 0 }),
            (vec![(3, 0)], ScheduleError::Peers { found: 4, peers: 3 }),
        ] {
            assert_eq!(Contacts::pairs(&Path, &[bad]), Err(error));
        }
        let idle = Contacts::pairs(&Path, &[vec![(0, 1)]]).expect("valid");
        let (own, met) = (idle.of_peer(2, 1), Met::Nobody);
        assert_eq!((own.step(0, 1), own.step(1, 1)), (Some((0, met)), None));
        assert_eq!((idle.messages(2, 1, 1), idle.messages(0, 1, 1)), (0, 1));
    }
}
