//! Whether an experiment keeps what it promises: verification, audits, coalitions, and losses in other currencies.

pub mod audit;
pub mod coalitions;
mod conversions;
#[cfg(test)]
mod difference_attack;
mod peer_costs;
pub mod verification;

pub use conversions::{Conversions, conversions};
pub use peer_costs::{PeerCost, PeerCostError, peer_costs};
