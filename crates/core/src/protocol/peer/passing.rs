//! What a peer does while mass is passed, and when a message is lost.

use super::phase::Phase;
use super::{Peer, PeerError};
use crate::protocol::averaging::mass::Holding;
use crate::protocol::averaging::{Met, OwnContacts, Part};
use crate::protocol::finite::first_not_finite;
use crate::protocol::lane::Lanes;
use crate::protocol::message::Body;
use crate::protocol::outbox::{Outbox, Targets};
use crate::protocol::plan::Terms;
use crate::protocol::release_error::ReleaseError;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Time};

impl Peer {
    /// This peer's meetings, where mass is passed.
    fn contacts(&self) -> Option<&OwnContacts> {
        match self.setup.schedule.part() {
            Part::Passing(contacts) => Some(contacts),
            Part::Recurrence { .. } | Part::Listed { .. } => None,
        }
    }

    /// Round and neighbours of the peer's own step at place `at`.
    pub(super) fn meeting(&self, at: usize) -> Option<(u32, Met)> {
        self.contacts()?.step(at, self.setup.schedule.rounds())
    }

    /// What a peer with this input begins with, where mass is passed.
    pub(super) fn holding_of(&self, input: &[f64]) -> Option<Holding> {
        let contacts = self.contacts()?;
        let neighbours = self.setup.neighbours.len();
        Some(Holding::new(input, contacts.streams(), neighbours))
    }

    /// Gives shares in the meeting at place `at`, and waits for those of others.
    pub(super) fn meet(
        &mut self,
        (at, terms, mut holding): (usize, Terms, Holding),
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let Some((round, met)) = self.meeting(at) else {
            // Peers have at least one step, and go on to those they have.
            return Err(self.failed(ReleaseError::OutOfOrder));
        };
        let agreement = self.setup.plan.agreement_rounds(self.release());
        let first = self.setup.plan.first_step(self.release());
        self.step = first + u64::from(agreement) + u64::from(round);
        let to = match met {
            Met::All(0) | Met::Nobody => None,
            Met::All(_) => Some((0, Targets::All)),
            Met::One(position) => {
                let targets = Targets::Positions([position].as_slice().into());
                Some((position as usize, targets))
            }
        };
        if let Some((stream, targets)) = to {
            let total = holding.give(stream, met.shares());
            if first_not_finite(&total).is_some() {
                return Err(self.failed(ReleaseError::Overflow));
            }
            self.say(targets, Round(round), Body::Average(total), outbox);
        }
        // Whoever is waited for may itself have waited in every round since this peer last met somebody.
        let before = at.checked_sub(1).and_then(|before| self.meeting(before));
        let rounds = before.map_or(round + 1, |(before, _)| round - before);
        self.phase = Phase::Pass { at, terms, holding };
        self.wait(rounds, now, outbox);
        Ok(())
    }

    /// Takes the shares of the meeting at place `at`, and goes on to the next one.
    pub(super) fn met<'m>(
        &mut self,
        (at, terms, mut holding): (usize, Terms, Holding),
        bodies: impl Iterator<Item = &'m Body>,
        now: Time,
        outbox: &mut impl Outbox,
    ) -> Result<(), PeerError> {
        let positions = self.meeting(at).map_or(0..0, |(_, met)| met.positions());
        for (position, body) in positions.zip(bodies) {
            // The plan maps this step to blocks: others were refused when they came.
            if let Body::Average(total) = body {
                holding.take(position, total);
            }
        }
        if first_not_finite(holding.mass()).is_some() {
            return Err(self.failed(ReleaseError::Overflow));
        }
        if self.meeting(at + 1).is_some() {
            return self.meet((at + 1, terms, holding), now, outbox);
        }
        let values = holding.estimate(self.setup.schedule.factor());
        let values = values.ok_or_else(|| self.failed(ReleaseError::Overflow))?;
        self.conclude(terms, values, now, outbox)
    }

    /// What stands in for a lost message of the neighbour at `position`: the total it last told.
    pub(super) fn unheard(&self, position: usize) -> Option<Body> {
        match &self.phase {
            Phase::Pass { holding, .. } => Some(Body::Average(holding.last_heard(position))),
            _ => None,
        }
    }

    /// Notes that a message will not come.
    ///
    /// # Errors
    /// [`PeerError::Lost`] for one that the schedule cannot do without.
    pub(super) fn lose(
        &mut self,
        from: PeerIndex,
        (release, round): (ReleaseId, Round),
    ) -> Result<(), PeerError> {
        let peer = self.setup.index;
        let missing = PeerError::Lost {
            peer,
            from,
            release,
            round,
        };
        let position = self.setup.neighbours.binary_search(&from);
        let (Ok(position), Some(_), Lanes::Each(lanes)) = (position, self.contacts(), &self.lanes)
        else {
            return Err(missing);
        };
        let (lane, due) = &lanes[position];
        let body = Body::Average(std::sync::Arc::default());
        let number = lane.number(release, round, &body).ok_or(missing.clone())?;
        if number < *due || self.is_finished() {
            // It came before its loss was told, or its step is over.
            return Ok(());
        }
        if number > due + 1 {
            return Err(missing);
        }
        let step = self.setup.plan.step(release, round, &body);
        let now = self.started && step == Some(self.step);
        self.inbox.lose(position, number, now);
        Ok(())
    }
}
