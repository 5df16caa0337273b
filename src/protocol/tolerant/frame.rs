//! What tolerant peers say to each other, and what they keep on their disks.

use crate::algorithm::PublicState;
use crate::protocol::message::{Message, Summand};
use crate::protocol::regroup::{Attempt, Durable, Record, ViewNumber};
use crate::vocabulary::PeerIndex;

/// A frame between neighbours.
#[derive(Clone, Debug)]
pub enum Frame {
    /// About what has gone wrong, and who holds what.
    Record(Record),
    /// What the sender contributes to an attempt.
    Published {
        /// Which.
        attempt: Attempt,
        /// Its noisy contribution.
        input: Summand,
    },
    /// A step of the session of a view.
    Step {
        /// Which view.
        view: ViewNumber,
        /// A message of that session.
        message: Message,
    },
}

/// What a tolerant peer has on its disk before it acts on it.
#[derive(Clone, Debug)]
pub enum DiskRecord {
    /// What the agreement must not forget.
    Regroup(Durable),
    /// What somebody published in an attempt. What this peer published is never computed again: the same noise on another contribution would show
    /// the difference.
    Input {
        /// Which attempt.
        attempt: Attempt,
        /// Who.
        from: PeerIndex,
        /// What all had agreed on before.
        agreed: Option<f64>,
        /// What.
        input: Summand,
    },
    /// The public state after a release.
    State(PublicState),
}
