//! The accountant: how much a coalition learns about one honest peer, as certified bounds.
//!
//! Every peer publishes its contribution plus own noise N(0, σ_η²) plus, per noise partner, ±N(0, σ_Δ²). A
//! coalition knows its own noise and every pairwise noise with an end in it; what it does not know is one
//! Gaussian on the honest graph H = G − coalition with covariance Σ_H = σ_η²I + σ_Δ²L_H. If only peer u's
//! contribution changes, by at most Δ, the loss of one iteration is exactly Gaussian with
//! **μ_u² = Δ²·v_u, v_u = [Σ_H⁻¹]_uu**. v_u does not decrease when the coalition grows (it is told
//! more), so a coalition of exactly t peers is the worst of those with at most t ([`bounds::monotonicity`]).
//!
//! For one coalition there is [`exact_variance_factors`], for all of a size [`certified_variance_factors`] (upper bounds) and
//! [`worst_coalition`] (a bracket).

mod account;
pub mod bounds;
mod component;
mod covariance;
mod exact;
mod refused;
mod resistance;
mod search;
mod single;

#[cfg(test)]
mod account_tests;
#[cfg(test)]
mod tests;

pub use crate::linalg::Bracket;
pub use account::{AccountOptions, Accounted, Engine, account};
pub use bounds::{Bound, CertifiedFactor, Connectivity, PublicGraph, certified_variance_factors};
pub use covariance::NoiseCovariance;
pub use exact::exact_variance_factors;
pub(super) use refused::LARGEST_RATIO;
pub(super) use resistance::worst_resistance;
pub(super) use search::{AFFORDABLE, every_coalition, smallest_pieces, work};
pub use search::{CoalitionBracket, worst_coalition};
pub(super) use single::{ENUMERATED_UP_TO, enumerate, worst};
