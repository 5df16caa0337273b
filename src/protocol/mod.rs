//! The protocol of one peer, without sockets, clocks or entropy.
//!
//! ```text
//!            Start
//!              │
//!              ▼            R rounds: agree on the largest statistic of X
//!   ┌──▶ Scale { round } ───────────────┐
//!   │                                   ▼  contribute, add noise, publish
//!   │                        Average { round }      K rounds of gossip
//!   │                                   │
//!   └──── next iteration ◀── sum = s·x, X ← QR(sum) ──▶ Finished after L iterations
//! ```
//!
//! Rules of this layer:
//!
//! 1. A [`Peer`] sees its own rows and its neighbours' messages, nothing global: this module imports
//!    neither the graph nor the dataset.
//! 2. Time is an argument; random streams are handed in; sums run in ascending neighbour order.
//! 3. A neighbour is at most one step ahead, because it needs our message to advance. Two slots per
//!    neighbour therefore suffice, and a message for any other step is a fault.
//! 4. A caller's mistake is an error, a neighbour's misbehaviour is a [`Fault`] with the culprit's number,
//!    a panic is a bug of ours.

pub mod averaging;
mod fault;
mod finite;
mod inbox;
mod message;
mod outbox;
mod peer;
mod plan;
mod query;
#[cfg(test)]
mod tests;
pub mod wire;

pub use fault::{Fault, FaultKind};
pub use message::{Body, Message, SessionId};
pub use outbox::{CollectingOutbox, Event, Outbox, Timer};
pub use peer::{Input, Neighbour, Peer, PeerError, PeerSetup};
pub use plan::{Plan, PlanError, PlanParameters};
pub use query::{MAX_DEFECT, QueryError, check_query, check_start};
