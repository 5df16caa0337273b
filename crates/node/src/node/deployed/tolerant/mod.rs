//! The network of a peer that tolerates the loss of others: its driver, and what carries frames between two of its kind.
//!
//! ```text
//!  caller ◀── events ── loop: owns the TolerantPeer ────▶ Keeper: ledger and disk
//!                         │ frames            ▲ frames, neighbours that are back, gone
//!                         ▼                   │
//!                       Outgoing            Incoming            one each per neighbour
//! ```
//!
//! Frames of one neighbour come in order and once, over as many connections as it takes, as long as both processes live. A process that starts again
//! is another *life* of its member: frames for its former life are dropped, it is told anew what it cannot know, and counting
//! begins anew. That may be heard of from others before there is a connection: what follows from it is for the new life, and waits for it. Its life is on its disk before it begins, and both ends of a stream say theirs. Whoever opens one signs it, so that a member whose files were brought back from a
//! backup, which goes back to a life that others know to be over, is shown the later one that it has signed, and stops.
//!
//! A link that the agreement has cut carries nothing any more: whoever opens a stream over it is told so, which is how a member that comes back too
//! late learns that the others go on without it.
//!
//! A neighbour that shows that it lives and says nothing that the protocol waits for is suspected after the time that a step may take (`stalling`); time in which this process
//! did not run counts for nothing.
//!
//! What leaves has been charged and is on the disk: [`Keeper`](super::Keeper) is asked before any frame that follows is handed to a neighbour, and where it fails nothing
//! leaves any more.

mod actor;
mod driver;
mod greeting;
mod inbound;
mod incoming;
mod outgoing;
mod queue;
mod stalling;
#[cfg(test)]
mod tests;

pub(super) use actor::LinkedPeer;
pub(super) use driver::{AwakeSince, Driver, Keeping};
pub(super) use inbound::Inbound;
pub(super) use incoming::Incoming;
pub(super) use outgoing::Outgoing;
pub(in crate::node) use stalling::Stalling;
#[cfg(test)]
pub(in crate::node) use stalling::WAITING;
