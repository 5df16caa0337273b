//! Peers over libp2p: a swarm of all peers of a session in one process, and deployed members that agree on a session without a server.
//!
//! This crate knows no format of data and no experiment: rows come in as they are contributed, and plans are made by its caller. It is an
//! API boundary.
//!
//! The engine [`node::Swarm`] is documented. The command `undertone node` of the crate `undertone` deploys members; the modules that it is made of are hidden here.

#[doc(no_inline)]
pub use undertone_core::{algorithm, engine, noise, plan, protocol, writing};
#[doc(no_inline)]
pub use undertone_privacy::{linalg, privacy, topology, vocabulary};

pub mod node;
// For the command `undertone node`.
#[doc(hidden)]
pub mod session;
