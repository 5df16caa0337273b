//! One peer's random noise: what it adds to a contribution before anybody sees it.
//!
//! A peer adds its own noise η_u ~ N(0, (σ_η Δ)²) and, for every partner v in the noise graph, ±Δ_uv with
//! Δ_uv ~ N(0, (σ_Δ Δ)²): plus at the lower index, minus at the higher. Over all peers the pairwise terms
//! cancel and Σ η_u remains. Which σ's protect whom is the business of [`crate::privacy`].
//!
//! Where (ε, 0) is promised, own noise is a share of Laplace noise instead ([`LaplaceShares`]), or, on a triangle of a symmetric matrix, a number of
//! terms of Wishart noise ([`WishartShares`]).
//!
//! Where sums are integers mod 2^k, own noise is rounded to integers and what partners share are uniform masks
//! ([`RingLaws`]).
//!
//! A peer knows its own terms only. Who shares a term with whom in a simulated network is the engines' business
//! (`engine::noise`).

mod defect;
pub mod integer;
mod integer_terms;
mod laplace;
mod peer_noise;
mod ring;
mod sigmas;
mod wishart;

#[cfg(any(test, feature = "testing"))]
pub(crate) use defect::TermDefect;
pub use laplace::LaplaceShares;
pub use peer_noise::{NoiseChunk, PeerNoise, Term};
pub(crate) use peer_noise::{Scale, add_to_both};
pub use ring::RingLaws;
pub use sigmas::{SigmaError, Sigmas};
pub use wishart::{WishartShares, WishartTerms};
