//! The private spectral computation itself: algorithms, correlated noise, gossip between peers, plans of what is promised, and engines
//! that run all peers of a session in one process.
//!
//! This crate has no clock, no socket, no entropy of the machine and no format of configuration. It is an API boundary: own algorithms,
//! averaging schemes and engines are built on it.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[doc(no_inline)]
pub use undertone_privacy::{interactions, linalg, privacy, topology, vocabulary};

pub mod algorithm;
pub mod dataset;
pub mod engine;
// For the engines and the crate of nodes.
#[doc(hidden)]
pub mod noise;
pub mod plan;
pub mod protocol;
// For the other crates of Undertone.
#[doc(hidden)]
pub mod writing;
