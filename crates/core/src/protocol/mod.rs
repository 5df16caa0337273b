//! The protocol of one peer, without sockets, clocks or entropy.
//!
//! ```text
//!            Start
//!              │
//!              ▼                  R rounds: agree on a public number, where the release needs one
//!   ┌──▶ Agree { round } ──────────────┐
//!   │                                  ▼  contribute, add noise, publish
//!   │                        Average { step }       the peer's steps of the averaging program
//!   │                        Gather { round }       or R rounds in which own coordinates spread
//!   │                                  │
//!   └──── next release ◀── sum, X ← QR(sum) ──▶ Finished when the algorithm is done
//! ```
//!
//! Rules of this layer:
//!
//! 1. A [`Peer`] sees its own rows and its neighbours' messages, nothing global: this module imports
//!    neither the graph nor the dataset.
//! 2. Time is an argument; random streams are handed in; sums run in ascending neighbour order.
//! 3. A neighbour sends no message before this peer has taken the one before the last, because it needs to hear from us in
//!    between: `averaging::window` proves it. Two slots per neighbour therefore suffice, and a message that the program does
//!    not expect, or that comes too early, is a fault.
//! 4. A caller's mistake is an error, a neighbour's misbehaviour is a [`Fault`] with the culprit's number,
//!    a panic is a bug of ours.

pub mod averaging;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod escrow;
mod fault;
mod finite;
mod inbox;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod kernel;
mod lane;
mod message;
mod outbox;
mod peer;
mod plan;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod probe;
mod query;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod regroup;
mod release_error;
#[cfg(test)]
mod tests;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod tolerant;
mod values;
// For the crate of nodes and the engines.
#[doc(hidden)]
pub mod wire;

pub use fault::{Fault, FaultKind};
pub use message::{Body, Message, SessionId, Summand};
pub use outbox::{CollectingOutbox, Event, Outbox, Targets, Timer};
pub use peer::{Input, Peer, PeerError, PeerSetup};
pub use plan::{
    PlannedRelease, RingParameters, SessionParameters, SessionPlan, SessionPlanError, Terms,
};
pub use query::QueryError;
pub use release_error::ReleaseError;
pub use values::Values;
pub(crate) use values::to_f32;
// For the other crates of Undertone.
#[doc(hidden)]
pub use {kernel::check_start, lane::Lane, plan::Steps};
