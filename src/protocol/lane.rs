//! Which messages come from one neighbour, in order.

use super::averaging::{HeardRounds, PeerProgram};
use super::message::Body;
use super::plan::Plan;
use crate::vocabulary::{Iteration, Round};

/// The messages of one neighbour over a session: their numbers, and the exchanges they belong to.
///
/// In every iteration first a scale per round of max-consensus, then a block per round in which the program lets the
/// neighbour send one.
#[derive(Clone, Debug, PartialEq)]
pub struct Lane {
    scale_rounds: u32,
    heard: HeardRounds,
    iterations: u32,
    steps_per_iteration: u32,
}

impl Lane {
    /// What the neighbour at `position` sends under this plan.
    ///
    /// # Panics
    /// If the program knows no such neighbour.
    #[must_use]
    pub fn of(plan: &Plan, program: &PeerProgram, position: usize) -> Self {
        Self {
            scale_rounds: plan.parameters().scale_rounds,
            heard: program.heard(position),
            iterations: plan.parameters().iterations,
            steps_per_iteration: plan.steps_per_iteration(),
        }
    }

    fn per_iteration(&self) -> u64 {
        u64::from(self.scale_rounds) + u64::from(self.heard.count())
    }

    /// How many messages come over the session.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.per_iteration() * u64::from(self.iterations)
    }

    /// The number of a message among those of this neighbour, from 0; `None` if it has none to send there.
    #[must_use]
    pub fn number(&self, iteration: Iteration, round: Round, body: &Body) -> Option<u64> {
        let index = match body {
            Body::Scale(_) => (round.0 < self.scale_rounds).then_some(round.0),
            Body::Average(_) => self
                .heard
                .index_of(round.0)
                .map(|index| self.scale_rounds + index),
        }?;
        let before = u64::from(iteration.0.checked_sub(1)?) * self.per_iteration();
        Some(before + u64::from(index))
    }

    /// The exchange that message `number` belongs to, counted over the session; `None` after the last one.
    #[must_use]
    pub fn step(&self, number: u64) -> Option<u64> {
        if number >= self.messages() {
            return None;
        }
        let iteration = number / self.per_iteration();
        let index = (number % self.per_iteration()) as u32;
        let within = match index.checked_sub(self.scale_rounds) {
            None => index,
            Some(index) => self.scale_rounds + self.heard.round(index)?,
        };
        Some(iteration * u64::from(self.steps_per_iteration) + u64::from(within))
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
