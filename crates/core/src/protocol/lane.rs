//! Which messages come from one neighbour, in order.

use std::sync::Arc;

use super::averaging::{HeardRounds, PeerSchedule};
use super::message::Body;
use super::plan::{Exchanges, SessionPlan};
use super::wire::FrameSizes;
use crate::vocabulary::{ReleaseId, Round};

/// The messages of one neighbour over a session: their numbers, and the exchanges they belong to.
///
/// In every release first a number per round of max-consensus, then a block per round in which the averaging schedule lets the
/// neighbour send one, or one in every round in which own coordinates spread.
#[derive(Clone, Debug)]
pub struct Lane {
    plan: Arc<SessionPlan>,
    /// Per turn of the averaging schedule: when the neighbour sends a block.
    turns: Vec<HeardRounds>,
    /// Numbers in a message of a sum beside its values.
    extra: usize,
}

impl Lane {
    /// What the neighbour at `position` sends under this plan.
    ///
    /// # Panics
    /// If the schedule knows no such neighbour.
    #[must_use]
    pub fn of(plan: &Arc<SessionPlan>, schedule: &PeerSchedule, position: usize) -> Self {
        Self {
            plan: Arc::clone(plan),
            turns: schedule
                .turns()
                .iter()
                .map(|turn| turn.heard(position))
                .collect(),
            extra: schedule.extra_values(),
        }
    }

    /// How many values a message of each release holds.
    #[must_use]
    pub fn frame_sizes(&self) -> FrameSizes {
        self.plan.frame_sizes(self.extra)
    }

    /// Messages in so many exchanges.
    fn messages_of(&self, exchanges: Exchanges) -> u64 {
        (exchanges.agreements + exchanges.gatherings) * u64::from(self.plan.scale_rounds())
            + self.blocks_of(exchanges.sums)
    }

    /// Blocks in the first so many sums of a session.
    fn blocks_of(&self, sums: u64) -> u64 {
        let of = |turns: &[HeardRounds]| {
            turns
                .iter()
                .map(|turn| u64::from(turn.count()))
                .sum::<u64>()
        };
        let (cycles, rest) = (
            sums / self.turns.len() as u64,
            sums % self.turns.len() as u64,
        );
        cycles * of(&self.turns) + of(&self.turns[..rest as usize])
    }

    /// When the neighbour sends a block in this release.
    fn heard(&self, release: ReleaseId) -> &HeardRounds {
        let turn = self.plan.sums_before(release) % self.turns.len() as u64;
        &self.turns[turn as usize]
    }

    fn before(&self, release: ReleaseId) -> u64 {
        self.messages_of(self.plan.exchanges_before(release))
    }

    /// The number of the first message that whoever begins with this release takes; `is_agreed` where what comes before its sum is agreed on already.
    pub(super) fn first_of(&self, release: ReleaseId, is_agreed: bool) -> u64 {
        let agreement = match is_agreed {
            true => self.plan.agreement_rounds(release),
            false => 0,
        };
        self.before(release) + u64::from(agreement)
    }

    /// How many messages come over the session.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.before(ReleaseId(u32::MAX))
    }

    /// The number of a message among those of this neighbour, from 0; `None` if it has none to send there.
    #[must_use]
    pub fn number(&self, release: ReleaseId, round: Round, body: &Body) -> Option<u64> {
        self.plan.step(release, round, body)?;
        let agreement = self.plan.agreement_rounds(release);
        let index = match body {
            Body::Scale(_) => round.0,
            Body::Average(_) | Body::Residues(_) => {
                agreement + self.heard(release).index_of(round.0)?
            }
            Body::Coordinates(_) => agreement + round.0,
        };
        Some(self.before(release) + u64::from(index))
    }

    /// The exchange that message `number` belongs to, counted over the session; `None` after the last one.
    #[must_use]
    pub fn step(&self, number: u64) -> Option<u64> {
        if number >= self.messages() {
            return None;
        }
        let release = self
            .plan
            .release_at(number, |before| self.messages_of(before));
        let index = (number - self.before(release)) as u32;
        let agreement = self.plan.agreement_rounds(release);
        let within = match index.checked_sub(agreement) {
            None => index,
            Some(index) if self.plan.release(release)?.is_own() => agreement + index,
            Some(index) => agreement + self.heard(release).round(index)?,
        };
        Some(self.plan.first_step(release) + u64::from(within))
    }
}

/// The lanes of all neighbours of a peer.
#[derive(Debug)]
pub(super) enum Lanes {
    /// All are the same: one message per exchange, whose number is that of the exchange.
    Same,
    /// One each, with the number of the message that is due.
    Each(Vec<(Lane, u64)>),
}
