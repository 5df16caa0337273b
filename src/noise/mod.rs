//! What is drawn: every peer's noise as data, and the streams behind it.
//!
//! A peer adds its own noise η_u ~ N(0, (σ_η Δ)²) and, for every partner v in the noise graph, ±Δ_uv with
//! Δ_uv ~ N(0, (σ_Δ Δ)²): plus at the lower index, minus at the higher. Over all peers the pairwise terms
//! cancel and Σ η_u remains. Which σ's protect whom is the business of [`crate::privacy`].

mod assignment;
mod network;
mod peer_noise;

pub use assignment::{Assignment, SigmaError};
pub use network::NetworkNoise;
pub use peer_noise::{NoiseChunk, PeerNoise, Term};

#[cfg(test)]
pub(crate) use assignment::Tamper;
