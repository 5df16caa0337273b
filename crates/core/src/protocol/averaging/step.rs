//! One step of one peer in a listed schedule, and what is wrong with steps that make none.

use std::sync::Arc;

/// One step of one peer in a listed schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct PeerStep {
    /// The round, from 0.
    pub round: u32,
    /// Positions of the neighbours that get this peer's value, ascending.
    pub send_to: Arc<[u32]>,
    /// Whom to wait for, in ascending positions.
    pub expect: Vec<Expected>,
    /// What the own value is multiplied by; 0 where the messages alone count.
    pub own: f64,
    /// How many messages stand before the own value in the sum; 0 puts it first. It decides rounding only: where peers
    /// add up the same values, it lets all of them do so in the same order.
    pub own_at: u32,
}

/// A message that a step waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    /// Position of its sender among the neighbours.
    pub position: u32,
    /// What the message is multiplied by.
    pub weight: f64,
}

impl PeerStep {
    /// A step that sends the value and changes nothing.
    #[must_use]
    pub fn sending(round: u32, positions: &[u32]) -> Self {
        Self {
            round,
            send_to: positions.into(),
            expect: Vec::new(),
            own: 1.0,
            own_at: 0,
        }
    }
}

/// A list of steps that is no schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// Steps, senders or receivers that do not ascend, positions without a neighbour, weights that are not finite, or an own value
    /// that stands behind more messages than there are.
    #[error(
        "the steps of peer {peer} must ascend by round, their senders and receivers by position among its neighbours, with \
         finite weights, and the own value among the messages"
    )]
    Step {
        /// The peer.
        peer: usize,
    },
    /// A message that is sent and not expected, or expected and not sent.
    #[error(
        "what peer {peer} sends or expects in round {round} is not what its neighbours expect or send: list every message at \
         both ends"
    )]
    Unmatched {
        /// The peer.
        peer: usize,
        /// The round.
        round: u32,
    },
    /// A sender that could run ahead of what a receiver keeps.
    #[error(
        "peer {from} may send a third message before peer {to} has taken the first: let it hear from peer {to} in between"
    )]
    Ahead {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
    },
    /// Turns that do not belong together.
    #[error(
        "turns of one schedule must be lists of steps that have no turns themselves, at least one, of one last factor and for \
         the same peers"
    )]
    Turns,
    /// One list of steps per peer is needed.
    #[error("{found} lists of steps for {peers} peers")]
    Peers {
        /// Lists given.
        found: usize,
        /// Peers of the network.
        peers: usize,
    },
}
