//! Where a peer's outputs go: the driver decides what sending means.

use std::sync::Arc;

use super::fault::Fault;
use super::message::{Message, Summand};
use super::plan::Terms;
use crate::algorithm::PublicState;
use crate::linalg::Block;
use crate::vocabulary::{ReleaseId, Time};

/// A deadline of one step: if it fires while the peer still waits in that step, its neighbours are silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timer {
    /// The step the deadline is for, counted over the session.
    pub step: u64,
}

/// Who gets a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Targets {
    /// All neighbours.
    All,
    /// The neighbours at these positions of the peer's list, ascending.
    Positions(Arc<[u32]>),
}

/// What a peer tells its driver. All of it is public by assumption: the privacy statement counts every published input
/// as seen, whether or not the averaging scheme sends it to anybody as it is.
#[derive(Clone, Debug)]
pub enum Event {
    /// The peer has made its noisy input to a release.
    Published {
        /// The release.
        release: ReleaseId,
        /// Local contribution, own noise and what it shares with partners: the plan's values, row-major.
        input: Summand,
    },
    /// The exchanges of a release are complete.
    Released {
        /// The release.
        release: ReleaseId,
        /// How the noise was scaled.
        terms: Terms,
        /// This peer's estimate of the noisy sum, in the shape of the release; of own coordinates those of all peers.
        sum: Arc<Block>,
    },
    /// The public state has advanced.
    Advanced {
        /// The release.
        release: ReleaseId,
        /// What the next contribution is computed with.
        state: PublicState,
        /// The estimate of the leading eigenvectors, n × p.
        basis: Arc<Block>,
    },
    /// All releases are done.
    Finished,
}

/// Receives what a peer puts out while it handles one input.
pub trait Outbox {
    /// One message to these neighbours. The driver encodes it once.
    fn send(&mut self, targets: Targets, message: Message);
    /// Ask to be called with this timer at `at`.
    fn set_timer(&mut self, timer: Timer, at: Time);
    /// Tell the driver something.
    fn emit(&mut self, event: Event);
    /// Report a neighbour.
    fn fault(&mut self, fault: Fault);
}

/// An outbox that keeps everything in order, for drivers with their own queues and for tests.
#[derive(Debug, Default)]
pub struct CollectingOutbox {
    /// Messages and who gets them.
    pub messages: Vec<(Targets, Message)>,
    /// Timers set.
    pub timers: Vec<(Timer, Time)>,
    /// Events emitted.
    pub events: Vec<Event>,
    /// Faults reported.
    pub faults: Vec<Fault>,
}

impl Outbox for CollectingOutbox {
    fn send(&mut self, targets: Targets, message: Message) {
        self.messages.push((targets, message));
    }

    fn set_timer(&mut self, timer: Timer, at: Time) {
        self.timers.push((timer, at));
    }

    fn emit(&mut self, event: Event) {
        self.events.push(event);
    }

    fn fault(&mut self, fault: Fault) {
        self.faults.push(fault);
    }
}
