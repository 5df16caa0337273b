//! Undertone.

pub mod algorithm;
pub mod engine;
pub mod linalg;
#[cfg(feature = "node")]
pub mod node;
pub mod noise;
pub mod privacy;
pub mod protocol;
pub mod topology;
pub mod vocabulary;
