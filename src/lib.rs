//! Undertone.

pub mod algorithm;
pub mod data;
pub mod engine;
pub mod linalg;
pub mod noise;
pub mod privacy;
pub mod protocol;
pub mod topology;
pub mod vocabulary;
