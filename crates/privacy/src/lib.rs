//! What any coalition of peers learns in a decentralised, differentially private computation, and the noise that a promise needs.
//!
//! This crate knows graphs, matrices, datasets of interactions and privacy parameters. It knows no algorithm, no protocol and no file but
//! files of graphs. It is an API boundary: it can be used without the other crates of Undertone.

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

pub mod interactions;
pub mod linalg;
pub mod privacy;
pub mod topology;
pub mod vocabulary;
