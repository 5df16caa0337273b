//! The noise of a whole simulated network: who draws which stream, and shares it with whom.

mod assignment;
mod network;

pub use assignment::Assignment;
#[cfg(test)]
pub(crate) use assignment::{Fools, Tamper};
pub use network::NetworkNoise;
