//! Undertone.

pub mod data;
pub mod linalg;
pub mod topology;
pub mod vocabulary;
