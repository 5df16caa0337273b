//! Algorithms of papers that the computation itself does not need: deflation, private power iteration for one vector, the power method on clipped
//! contributions, and three methods of private matrix completion.
//!
//! Only documented public items of `undertone-core` are used here, so an algorithm of your own can be written in the same way. This crate is no
//! API boundary: algorithms change where their papers are understood better.
//!
//! | kind | released per iteration | coordinates | bytes a peer sends per neighbour | state | iterations L |
//! | --- | --- | --- | --- | --- | --- |
//! | [`clipped-power`](ClippedPower) | min(1, θ/c) A_u X, row by row; counts of lengths c | n·p, 16 or 1 | 8·(n·p + 16)·K·L | X and θ | any |
//! | [`ppi`](PrivatePowerIteration) | A_u x | n | 8·n·K·L | x | any |
//! | [`frank-wolfe`](FrankWolfe) | the isometric triangle of residuals, or Γ products with their covariance | n(n+1)/2, or n | 4·n(n+1)·K·L, or 8·n·Γ·K·L | directions | any |
//! | [`projected-gradient`](ProjectedGradient) | the isometric triangle of completed rows | n(n+1)/2 | 4·n(n+1)·K·L | L matrices | any |
//! | [`svd-completion`](SvdCompletion) | the isometric triangle and counts of ratings | n(n+1)/2 + n | 8·(n + n(n+1)/2)·K | directions | 1 |
//! | [`deflation`](Deflation) | A_u x, at last xᵀA_u x | n, 1 | 8·(n·T + 1)·k·K | finished vectors | k(T+1) |
//!
//! n items, p = `rank`, K averaging rounds per iteration; frames and the max-consensus of the noise scale come on top. A private graph whose
//! vertices are the peers is computed on by `ppi` and `deflation` inside [`OnGraph`](algorithm::OnGraph); a matrix whose rows and columns are the
//! peers by `ppi` inside [`OnBipartite`](algorithm::OnBipartite).

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

mod clipped_power;
mod deflation;
mod frank_wolfe;
mod mode;
mod ppi;
mod projected_gradient;
mod svd_completion;
#[cfg(test)]
mod tests;
mod triangle;

use undertone_core::{algorithm, linalg, vocabulary};

pub use clipped_power::{Clip, ClipRule, ClippedPower};
pub use deflation::Deflation;
pub use frank_wolfe::{FrankWolfe, FrankWolfeParameters, Global, Local, OjaStep, StepRule};
pub use mode::CompletionMode;
pub use ppi::PrivatePowerIteration;
pub use projected_gradient::ProjectedGradient;
pub use svd_completion::SvdCompletion;
// For experiment files: the keys of every kind.
#[doc(hidden)]
pub use self::{
    clipped_power::ClippedPowerTable,
    deflation::DeflationTable,
    frank_wolfe::{FrankWolfeTable, GlobalPart, LocalStep},
    ppi::{NoiseScale, PpiTable},
    projected_gradient::ProjectedGradientTable,
    svd_completion::SvdCompletionTable,
};
