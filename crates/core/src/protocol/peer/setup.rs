//! What a peer starts from, and what its driver feeds it.

use std::sync::Arc;

use crate::algorithm::LocalData;
use crate::linalg::Block;
use crate::noise::PeerNoise;
use crate::protocol::averaging::PeerSchedule;
use crate::protocol::message::Message;
use crate::protocol::outbox::Timer;
use crate::protocol::plan::SessionPlan;
use crate::vocabulary::{PeerIndex, ReleaseId, Round, Span};

/// Everything one peer starts from. `rows` and `noise` are its secrets.
pub struct PeerSetup {
    /// This peer.
    pub index: PeerIndex,
    /// What all peers agreed on.
    pub plan: Arc<SessionPlan>,
    /// Neighbours in the communication graph, in ascending order.
    pub neighbours: Vec<PeerIndex>,
    /// This peer's part of the plan's averaging schedule.
    pub schedule: PeerSchedule,
    /// The private rows.
    pub rows: LocalData,
    /// The peer's noise terms.
    pub noise: PeerNoise,
    /// Its neighbours in the noise graph, ascending: with each it shares one term unless σ_pair is 0.
    pub noise_partners: Vec<PeerIndex>,
    /// The public starting block X⁰, whose hash is in the plan.
    pub start: Arc<Block>,
    /// How long a step may wait before its silent neighbours are reported; `None` waits for ever.
    pub patience: Option<Span>,
}

/// What a driver feeds a peer.
#[derive(Clone, Debug)]
pub enum Input {
    /// Begin; exactly once, before anything else is answered. Messages may arrive earlier.
    Start,
    /// A message, with its sender as authenticated by the transport.
    Message {
        /// The sender.
        from: PeerIndex,
        /// What it said.
        message: Message,
    },
    /// An averaging message will not come: the end of the wait for it, as a driver's own timer would have it. Only a schedule that
    /// passes mass does without; given to others it is an error. Not before the message was sent.
    Lost {
        /// Whose message.
        from: PeerIndex,
        /// Of which release.
        release: ReleaseId,
        /// Of which averaging round.
        round: Round,
    },
    /// A timer set through the outbox has come due.
    Timer(Timer),
}
