//! A session file that is run again: what a member has signed in an earlier process holds in every later one.
//!
//! A session that ended before anybody was ready may be tried again until it closes. What was signed then can be said again by everybody, so a
//! member must never sign anything that contradicts it, and never reveal its number for commitments that may still be chosen.
//!
//! *Rule.* Before a member signs a list it writes down the list and all Joins that it holds, as signed ([`Listed`](super::Listed)). In every later process
//!
//! 1. another Join of a member whose Join it wrote down is a contradiction, and the two are the evidence against who signed both;
//! 2. it begins with the list that it signed last, under that list's number, and goes on from there with shorter ones under higher numbers;
//! 3. where losses are not tolerated it signs no shorter list: it refuses if a member of that list has not joined when the session closes.
//!
//! *Statement.* Over all its processes a member signs one list under each number, each a subset of the one before, one number for the beacon, and
//! one set of hashes for each list that it is ready for. *Proof.* Numbers of lists only grow within a process ([`Assembly::list`]), and by 2. from
//! one process to the next; a list is intersected with others and nothing else. The number for the beacon is a function of session file and secret,
//! both of which the Join fixes; hashes are a function of file, list, Joins and numbers, and by 1. there is one of each. ∎
//!
//! *Beacon.* A member reveals after it has signed a list, so by 1. no commitment changes after a number was revealed. What is left to a member that
//! knows all numbers first is who is on the list: see [`departures`](super::departures).

use super::assembly::{Assembly, Seat, Step};
use super::error::AssemblyError;
use super::near::MOST_IN_A_MESH;
use super::statement::{Roster, Signed};

impl Assembly {
    /// The Join that this member wrote down of who has signed this other one.
    pub(super) fn other_join(&self, signed: &Signed) -> Option<&Signed> {
        let joins = self.setup.listed.iter().flat_map(|listed| &listed.joins);
        let mut of_member = joins.filter(|join| join.from == signed.from);
        of_member.find(|join| join.bytes != signed.bytes)
    }

    /// Whether everybody has joined that is waited for: who was on the last list, or all that are invited.
    pub(super) fn is_complete(&self) -> bool {
        let joined = self.bits(self.joins.keys().copied());
        self.wanted() & !joined == 0
    }

    fn wanted(&self) -> u128 {
        let all = self.bits(self.setup.seats.iter().map(|seat| seat.id));
        let listed = self.setup.listed.as_ref();
        listed.map_or(all, |listed| all & listed.roster.members)
    }

    /// The list that this process begins with, and its number.
    pub(super) fn first_list(&self) -> Result<(u8, u128), Box<AssemblyError>> {
        let members = self.wanted() & self.bits(self.joins.keys().copied());
        let Some(listed) = &self.setup.listed else {
            return Ok((0, members));
        };
        let Roster { attempt, .. } = listed.roster;
        let missing = self.wanted() & !members;
        let next = attempt.saturating_add(1);
        match missing {
            0 => Ok((attempt, members)),
            _ if !self.setup.tolerates_losses => Err(Box::new(AssemblyError::OtherMembers {
                missing: self.names(self.listed(missing)),
            })),
            _ if next >= self.attempts() => Err(self.differ(next, missing)),
            _ => Ok((next, members)),
        }
    }

    /// Whether a shorter list may still be signed: where losses end the session, in the first process alone.
    pub(super) fn may_shrink(&self) -> bool {
        self.setup.tolerates_losses || self.setup.listed.is_none()
    }

    /// That no list is agreed on after so many attempts; among these members are those that keep it from that.
    pub(super) fn differ(&self, attempts: u8, members: u128) -> Box<AssemblyError> {
        let is_false = |seat: &&Seat| {
            let roster = self.rosters.get(&seat.id);
            roster.is_some_and(|(roster, _)| self.is_of_other_joins(roster))
        };
        let seats = || self.listed(members);
        Box::new(AssemblyError::Rosters {
            attempts,
            members: self.names(seats().filter(is_false)),
            silent: self.names(seats().filter(|seat| !is_false(seat))),
        })
    }

    /// Whether a list is of other Joins than those that are here. Where everybody tells everybody what it holds, two Joins of one member come together.
    pub(super) fn is_of_other_joins(&self, roster: &Roster) -> bool {
        let ours = self.joins_of(roster.members);
        ours.is_some_and(|ours| ours != roster.joins)
    }

    /// These members as they are named in errors.
    pub(super) fn names<'a>(&self, seats: impl Iterator<Item = &'a Seat>) -> Vec<String> {
        seats.map(|seat| self.name(&seat.id)).collect()
    }

    /// Whether there may be `members` of them.
    pub(super) fn is_enough(&self, members: u128) -> bool {
        members.count_ones() as usize >= self.setup.least
    }

    /// What this member tells the others as it ends with this error.
    ///
    /// Whoever left has said so itself, and who is left out has nothing to say. Not everybody in a large session hears whoever left, and learns from
    /// those near that there is an end; why, only its author says.
    pub(super) fn last_words(&self, error: &AssemblyError) -> Option<String> {
        match error {
            AssemblyError::Excluded => None,
            AssemblyError::Left { .. } if self.setup.seats.len() <= MOST_IN_A_MESH => None,
            AssemblyError::Left { .. } => Some("another member has left".to_owned()),
            error => Some(error.to_string()),
        }
    }

    /// Checks that this member has signed no other list under this number or a later one.
    pub(super) fn check_unsigned(&self, roster: &Roster) -> Step {
        let own = self.setup.identity.id();
        match self.rosters.get(&own) {
            Some((held, _)) if held != roster && held.attempt >= roster.attempt => {
                Err(self.differ(held.attempt.saturating_add(1), 0))
            }
            _ => Ok(()),
        }
    }
}
