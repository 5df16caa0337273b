//! The network of deployed peers: one process per member, no server.
//!
//! ```text
//!  caller ◀── events ── driver: owns the Peer, signs            one per host
//!     │                   │ records            ▲ messages
//!     │ control frames    ▼                    │
//!     │                 Outgoing            Incoming            one each per neighbour
//!     ▼                   │ records, numbered  ▲ checked: signature, order, content
//!    Log ──▶ control      ▼                    │
//!            streams    at most one connection per pair: Noise and Yamux over TCP, or QUIC; dialled again when it breaks
//! ```
//!
//! - **Members** are known by their keys, from the beginning. Nobody else can connect, and a pair has at most one connection: from the beginning
//!   if they are near, and when it is wanted if they are not. Of two that can be reached the one with the lower key dials; one that cannot dials.
//! - **Control frames** are the caller's. They are said again on every new connection, and told once, whoever says them. What another has said
//!   can be passed on to those near.
//! - **Records** are signed frames with a number. They are kept until they are acknowledged: after a broken connection the same bytes, with
//!   the same signature, are sent again from where the neighbour says it is, so that a run over bad connections has the bits of a run over
//!   good ones. A record holds the values that the peer itself holds, and both ends digest a frame while it passes, so none is ever held as
//!   bytes. Whoever signs two different frames for one place of the protocol has signed the proof of it ([`Evidence`]).
//! - **A peer that tolerates losses** has frames and links of its own (`tolerant`): their order holds as long as both processes live, a process that
//!   starts again is told anew what it cannot know, and a link that was cut carries nothing.
//! - **A release's gate** is passed before its first frame is handed to any edge, so that what a release costs can be made durable first.
//! - **Everything is bounded**: streams, frames, records without acknowledgement, stamps, events, and what a member may say in a session.
//!   Whoever goes beyond is named ([`Misbehaviour`]).
//! - **A broken connection** is `Down` at once and `Lost` after the grace, told by this host's clock. Both ends show life every few seconds, so
//!   that a cable that was cut is noticed, too. Silence on a connection that lives is the peer's own patience.
//!
//! What a session is, who may take part, and what it costs, is not known here.

mod address;
mod awake;
mod barring;
mod control;
mod defect;
mod driver;
mod edge;
mod frames;
mod handing;
mod host;
mod hub;
mod links;
mod pending;
mod received;
mod serving;
mod setup;
mod streams;
#[cfg(test)]
mod tests;
mod tolerance;
mod tolerant;
mod transport;

pub use super::equivocation::{Evidence, EvidenceError, SIGNED_STAMP_LEN, is_stamp};
pub use super::misbehaviour::Misbehaviour;
pub(in crate::node) use defect::Defect;
pub use frames::{MAX_CONTROL_FRAMES, MAX_CONTROL_LEN};
pub use host::Host;
pub use setup::{Gate, HostEvent, HostLimits, HostSetup, MemberAddress, PeerRun, Written};
pub use tolerance::{Keeper, Life, SignedLife, Told, TolerantRun};
#[cfg(test)]
pub(in crate::node) use {
    defect::{Claim, Moment},
    edge::{Blame, Receiving, Record as FrameRecord, Stopped, blame, read_record},
    tolerant::{Stalling, WAITING},
};
