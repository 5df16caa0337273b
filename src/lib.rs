//! Undertone.

pub mod linalg;
pub mod topology;
pub mod vocabulary;
