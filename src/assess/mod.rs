//! Whether an experiment keeps what it promises: verification, audits, coalitions, and losses in other currencies.

pub mod audit;
pub mod coalitions;
mod conversions;
#[cfg(test)]
mod difference_attack;
mod dropouts;
mod forecast;
mod parts;
mod peer_costs;
mod repeated;
pub mod verification;

pub use conversions::{Conversions, conversions};
pub use dropouts::{DropoutCost, dropout_costs};
pub use forecast::{Forecast, ForecastOptions, PilotForecast};
pub use parts::{PartCost, Spent, part_costs};
pub use peer_costs::{PeerCost, PeerCostError, peer_costs};
pub use repeated::{RepeatError, held_against, repeated};
