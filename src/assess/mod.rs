//! Whether an experiment keeps what it promises: verification, audits, coalitions, and losses in other currencies.

pub mod audit;
pub(crate) mod coalitions;
mod conversions;
#[cfg(test)]
mod difference_attack;
mod dropouts;
mod forecast;
mod parts;
mod peer_costs;
#[cfg(feature = "cli")]
mod repeated;
pub(crate) mod transcripts;
pub mod verification;

pub use forecast::{Forecast, ForecastOptions};
pub use peer_costs::PeerCostError;

#[cfg(feature = "report")]
pub(crate) use {
    parts::{PartCost, part_costs},
    peer_costs::peer_costs,
};

#[cfg(feature = "cli")]
pub(crate) use {
    conversions::Conversions,
    dropouts::DropoutCost,
    forecast::PilotForecast,
    peer_costs::PeerCost,
    repeated::{held_against, repeated},
};
