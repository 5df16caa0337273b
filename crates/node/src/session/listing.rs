//! Who takes part: lists of members, drawn up until all are alike.

use super::assembly::Output;
use super::assembly::{Assembly, Seat, Stage, Step};
use super::error::AssemblyError;
use super::identity::PublicId;
use super::statement::{Listed, Roster, Statement};
use crate::vocabulary::Time;

impl Assembly {
    /// The bits of these members.
    pub(super) fn bits(&self, members: impl Iterator<Item = PublicId>) -> u128 {
        let place = |id: PublicId| self.setup.seats.iter().position(|seat| seat.id == id);
        members
            .filter_map(place)
            .fold(0, |bits, place| bits | 1 << place)
    }

    pub(super) fn listed(&self, members: u128) -> impl Iterator<Item = &Seat> {
        let seats = self.setup.seats.iter().enumerate();
        seats.filter_map(move |(place, seat)| (members >> place & 1 == 1).then_some(seat))
    }

    /// The hash of the Joins of these members; `None` where one is not here.
    pub(super) fn joins_of(&self, members: u128) -> Option<[u8; 32]> {
        let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 session roster v1");
        hasher.update(&self.setup.session.0);
        for seat in self.listed(members) {
            let (_, signed) = self.joins.get(&seat.id)?;
            hasher.update(&signed.hash());
        }
        Some(*hasher.finalize().as_bytes())
    }

    /// States who joined, as far as this member knows.
    pub(super) fn list(
        &mut self,
        attempt: u8,
        members: u128,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Step {
        let own = self.bits([self.setup.identity.id()].into_iter());
        let joined = members.count_ones() as usize;
        if members & own == 0 {
            return Err(Box::new(AssemblyError::Excluded));
        }
        if joined < self.setup.least {
            let seats = self.setup.seats.iter().enumerate();
            let missing = seats.filter(|(place, _)| members >> place & 1 == 0);
            return Err(Box::new(AssemblyError::TooFew {
                joined,
                needed: self.setup.least,
                missing: self.names(missing.map(|(_, seat)| seat)),
            }));
        }
        let Some(joins) = self.joins_of(members) else {
            return Err(Box::new(AssemblyError::Excluded));
        };
        let roster = Roster {
            attempt,
            members,
            joins,
        };
        self.check_unsigned(&roster)?;
        let ours = self.rosters.get(&self.setup.identity.id());
        if ours.is_none_or(|(ours, _)| *ours != roster) {
            let joins = self.signed_joins().cloned().collect();
            out.push(Output::Listed(Box::new(Listed { roster, joins })));
        }
        self.enter(Stage::Listing { attempt, members }, now);
        self.state(Statement::Roster(roster), out)
    }

    /// Tries again with those whom all that answered have on their lists.
    pub(super) fn relist(
        &mut self,
        attempt: u8,
        members: u128,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Step {
        let of_attempt = |seat: &&Seat| {
            let roster = self.rosters.get(&seat.id).map(|(roster, _)| roster);
            roster.filter(|roster| roster.attempt == attempt).copied()
        };
        let answered = self.bits(
            self.listed(members)
                .filter(|seat| of_attempt(seat).is_some())
                .map(|seat| seat.id),
        );
        let all_list = self
            .listed(members)
            .filter_map(|seat| of_attempt(&seat))
            .fold(answered, |all, roster| all & roster.members);
        let next = attempt.saturating_add(1);
        if next >= self.attempts() || !self.is_enough(all_list) || !self.may_shrink() {
            let ours = self.rosters.get(&self.setup.identity.id());
            let ours = ours.map(|(roster, _)| *roster);
            let differ = self
                .listed(members)
                .filter(|seat| of_attempt(seat) != ours)
                .map(|seat| seat.id);
            return Err(self.differ(next, self.bits(differ)));
        }
        self.list(next, all_list, now, out)
    }

    /// Whether the list was drawn up without this member.
    pub(super) fn is_left_out(&self, id: PublicId) -> bool {
        let members = self.current();
        members.is_some_and(|members| members & self.bits([id].into_iter()) == 0)
    }
}
