//! Members that leave while the others are agreeing: the list is drawn up again without them, where the session tolerates losses.
//!
//! # Agreement
//! A member begins with a list once it holds a Ready for it of every member on it ([`Assembly::agreed`]). It looks for them for the last list that it has
//! said Ready for itself, also while a shorter list is being drawn up. After it has begun it says no Ready.
//!
//! *Statement.* Let x begin with list R and z with list S, and both x and z be on R and on S. Then R = S, however messages are delayed, lost or said
//! again, and however often either process was started again.
//!
//! *Proof.* R is the last list that x said Ready for, and S the last list that z did. x holds z's Ready for R, so z said Ready for R, and if R ≠ S, before it
//! did for S. Lists that one member draws up only shrink, in all its processes ([`taking_up`](super::taking_up)), so S ⊊ R. By the same argument with x and z
//! exchanged, R ⊊ S: a contradiction. ∎
//!
//! That everybody who is left begins needs time limits, as every agreement in spite of crashes does: statements of a member that crashed must have
//! reached nobody or everybody by the time in which the shorter list is agreed on.
//!
//! *Beacon.* A list that is shorter by k members leaves k of the numbers out, and lists are shortened after numbers are revealed. A member that does
//! not reveal can see the beacon of n members and of n − 1, and choose. It can do more: the others follow a shorter list that it signs, so that it
//! chooses who is left out, up to s = n − `min_peers` of the n members: one of at most Σ_{k ≤ s} C(n, k) beacons, of which all who are left out notice it.
//! Further tries of the session file add none, since lists only shrink. Where losses are not tolerated s = 0 once a number is revealed, and the only
//! choice is to stop the session. Privacy does not depend on the beacon.

use super::assembly::{Assembled, Assembly, Output, Seat, Stage, Step};
use super::error::AssemblyError;
use super::identity::PublicId;
use super::statement::{Join, SECTIONS, Sections, Signed, Statement, hex};
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
        let (Some(members), true) = (self.current(), follows && self.may_shrink()) else {
            return Ok(false);
        };
        let stated = |id: &PublicId| self.rosters.get(id).map(|(roster, _)| *roster);
        let attempt = stated(&self.setup.identity.id()).map_or(0, |roster| roster.attempt);
        let ahead = self
            .listed(members)
            .filter_map(|seat| Some((seat.id, stated(&seat.id)?)))
            .filter(|(_, roster)| roster.attempt > attempt && !self.is_of_other_joins(roster))
            .max_by_key(|(_, roster)| roster.attempt);
        let left = self.left(members);
        // One attempt at a time, whatever number another states.
        let next = attempt.saturating_add(1);
        let rest = match ahead {
            Some((_, roster)) => members & roster.members,
            None if left != 0 => members,
            None => return Ok(false),
        };
        if next >= self.attempts() {
            return Err(self.differ(next, left));
        }
        if let Some((id, _)) = ahead
            && !self.is_enough(rest)
        {
            return Err(Box::new(AssemblyError::ShortList {
                by: self.name(&id),
                lacks: self.names(self.listed(members & !rest)),
            }));
        }
        self.list(next, rest & !left, now, out)?;
        Ok(true)
    }

    /// A member says that it leaves. Where it may come back, its own connection shows that it says so now and not in an earlier try.
    pub(super) fn gone(&mut self, signed: &Signed, over: &PublicId) -> Step {
        let Statement::Gone {
            about,
            text,
            is_final,
            ..
        } = &signed.statement
        else {
            return Ok(());
        };
        let from = signed.from;
        let holds = *is_final || from == *over;
        if !holds || from == self.setup.identity.id() || self.is_left_out(from) {
            return Ok(());
        }
        if self.setup.tolerates_losses {
            self.absent.insert(from);
            return Ok(());
        }
        Err(Box::new(AssemblyError::Left {
            member: self.name(&from),
            about: about.map(|about| self.name(&about)),
            why: text.clone(),
        }))
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
                member: self.name(&seat.id),
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
