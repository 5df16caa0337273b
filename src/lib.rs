//! Undertone.

pub mod linalg;
pub mod privacy;
pub mod topology;
pub mod vocabulary;
