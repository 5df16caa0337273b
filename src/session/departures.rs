//! Members that leave while the others are agreeing: the list is drawn up again without them, where the session tolerates losses.
//!
//! # Agreement
//! A member begins with a list once it holds a Ready for it of every member on it ([`Assembly::agreed`]). It looks for them for the last list that it has
//! said Ready for itself, also while a shorter list is being drawn up. After it has begun it says no Ready.
//!
//! *Statement.* Let x begin with list R and z with list S, both x and z be on R and on S, and neither process have been started again. Then R = S, however
//! messages are delayed or lost.
//!
//! *Proof.* R is the last list that x said Ready for, and S the last list that z did. x holds z's Ready for R, so z said Ready for R, and if R ≠ S, before it
//! did for S. Lists that one process draws up only shrink, so S ⊊ R. By the same argument with x and z exchanged, R ⊊ S: a contradiction. ∎
//!
//! That everybody who is left begins needs time limits, as every agreement in spite of crashes does: statements of a member that crashed must have
//! reached nobody or everybody by the time in which the shorter list is agreed on.
//!
//! *Beacon.* A list that is shorter by k members leaves k of the numbers out. Whoever controls f members can thus choose among at most 2^f beacons.
//! Privacy does not depend on the beacon.

use super::assembly::{Assembled, Assembly, Output, Seat, Stage, Step};
use super::error::AssemblyError;
use super::identity::PublicId;
use super::statement::{Join, SECTIONS, Sections, hex};
use crate::vocabulary::Time;

/// How often members try to agree on who joined, where nobody leaves.
const ATTEMPTS: u8 = 3;

impl Assembly {
    /// How many lists may be drawn up: every member that leaves takes one.
    pub(super) fn attempts(&self) -> u8 {
        let spare = self.setup.seats.len().saturating_sub(self.setup.least);
        match self.setup.tolerates_losses {
            true => ATTEMPTS.saturating_add(u8::try_from(spare).unwrap_or(u8::MAX)),
            false => ATTEMPTS,
        }
    }

    /// The members that take part as far as this one knows; `None` before the first list and after the agreement.
    pub(super) fn current(&self) -> Option<u128> {
        match &self.stage {
            Stage::Listing { members, .. } | Stage::Revealing { members } => Some(*members),
            Stage::Planning { assembled } | Stage::Comparing { assembled } => {
                Some(self.bits(assembled.roster.iter().map(|seat| seat.id)))
            }
            Stage::Joining | Stage::Told | Stage::Over => None,
        }
    }

    /// Members that have not done what this stage waits for.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = &Seat> {
        let all = self.bits(self.setup.seats.iter().map(|seat| seat.id));
        let members = match self.stage {
            Stage::Joining => all,
            _ => self.current().unwrap_or(0),
        };
        self.listed(members)
            .filter(|seat| !self.has_answered(seat.id))
    }

    fn has_answered(&self, id: PublicId) -> bool {
        match &self.stage {
            Stage::Joining => self.joins.contains_key(&id),
            Stage::Listing { attempt, .. } => {
                let roster = self.rosters.get(&id).map(|(roster, _)| roster);
                roster.is_some_and(|roster| roster.attempt >= *attempt)
            }
            Stage::Revealing { .. } => self.reveals.contains_key(&id),
            Stage::Planning { assembled } | Stage::Comparing { assembled } => {
                self.readies.contains_key(&(id, assembled.hash))
            }
            Stage::Told | Stage::Over => true,
        }
    }

    /// Draws up a shorter list where somebody has left, or where another member has drawn up one. Returns whether it did.
    pub(super) fn shorten(
        &mut self,
        now: Time,
        out: &mut Vec<Output>,
    ) -> Result<bool, Box<AssemblyError>> {
        let follows = matches!(self.stage, Stage::Listing { .. }) || self.setup.tolerates_losses;
        let (Some(members), true) = (self.current(), follows) else {
            return Ok(false);
        };
        let stated = |id: &PublicId| self.rosters.get(id).map(|(roster, _)| *roster);
        let attempt = stated(&self.setup.identity.id()).map_or(0, |roster| roster.attempt);
        let ahead = self
            .listed(members)
            .filter_map(|seat| stated(&seat.id))
            .filter(|roster| roster.attempt > attempt)
            .max_by_key(|roster| roster.attempt);
        let left = self.left(members);
        let (next, rest) = match ahead {
            Some(roster) => (roster.attempt, members & roster.members),
            None if left != 0 => (attempt.saturating_add(1), members),
            None => return Ok(false),
        };
        if next >= self.attempts() {
            return Err(Box::new(AssemblyError::Rosters {
                attempts: self.attempts(),
                members: self.listed(left).map(|seat| seat.name.clone()).collect(),
            }));
        }
        self.list(next, rest & !left, now, out)?;
        Ok(true)
    }

    /// The bits of those of these members that have left before they could be ready; none where every member is needed.
    fn left(&self, members: u128) -> u128 {
        if !self.setup.tolerates_losses {
            return 0;
        }
        let compares = matches!(self.stage, Stage::Planning { .. } | Stage::Comparing { .. });
        let is_absent = |seat: &&Seat| self.absent.contains(&seat.id);
        let is_ready = |seat: &Seat| compares && self.has_answered(seat.id);
        let left = self.listed(members).filter(is_absent);
        self.bits(left.filter(|seat| !is_ready(seat)).map(|seat| seat.id))
    }

    /// What is agreed on: the last list that this member has said Ready for, once everybody on it has.
    pub(super) fn agreed(&self) -> Result<Option<Box<Assembled>>, Box<AssemblyError>> {
        let Some(assembled) = &self.proposed else {
            return Ok(None);
        };
        if matches!(self.stage, Stage::Told | Stage::Over) {
            return Ok(None);
        }
        let own = (self.setup.identity.id(), assembled.hash);
        let Some((ours, _)) = self.readies.get(&own) else {
            return Ok(None);
        };
        let mut is_complete = true;
        for (seat, join) in assembled.roster.iter().zip(&assembled.joins) {
            match self.readies.get(&(seat.id, assembled.hash)) {
                Some((theirs, _)) => self.compare(seat, join, theirs, ours)?,
                None => {
                    is_complete = false;
                    let mut others = self.readies_of(seat.id);
                    if let (Some(theirs), false) = (others.next(), self.setup.tolerates_losses) {
                        self.compare(seat, join, theirs, ours)?;
                    }
                }
            }
        }
        Ok(is_complete.then(|| assembled.clone()))
    }

    /// What a member has said Ready for.
    pub(super) fn readies_of(&self, id: PublicId) -> impl Iterator<Item = &Sections> {
        let of_member = self.readies.range((id, [0; 32])..=(id, [u8::MAX; 32]));
        of_member.map(|(_, (sections, _))| sections)
    }

    fn compare(&self, seat: &Seat, join: &Join, theirs: &Sections, ours: &Sections) -> Step {
        let differs = theirs.0.iter().zip(&ours.0).position(|(a, b)| a != b);
        match differs {
            None => Ok(()),
            Some(at) => Err(Box::new(AssemblyError::OtherPlan {
                member: seat.name.clone(),
                section: SECTIONS[at],
                theirs: hex(&theirs.0[at][..8]),
                ours: hex(&ours.0[at][..8]),
                build_theirs: join.built(),
                build_ours: self.setup.join.built(),
            })),
        }
    }

    /// Whether it waits for [`Input::Planned`](super::Input::Planned).
    #[must_use]
    pub fn is_planning(&self) -> bool {
        matches!(self.stage, Stage::Planning { .. })
    }
}
