//! What a run costs in privacy. Pure arithmetic on a graph, variances, sensitivities and coalitions; it knows
//! nothing of protocols.
//!
//! # How a guarantee is assembled
//! 1. **Adjacency** ([`Adjacency`]) says what one record is: an interaction, a user, an entry of the matrix.
//! 2. **Sensitivity** ([`Sensitivity`]) bounds how far one record moves a peer's contribution A_u X in Frobenius
//!    norm: Δ, from a public [`Statistic`] of X that the peers agree on.
//! 3. **Mechanism**: Gaussian noise, own and pairwise, scaled by Δ. Noise is planned *per unit sensitivity*, so that
//!    every iteration costs the same μ whatever X is; independent iterations then compose to μ² = Σ_l μ_l²,
//!    even though X^l depends on earlier noise (adaptive composition needs μ_l fixed in advance).
//! 4. **Accountant**: [`calibrate`] turns a [`Budget`] and L iterations into the noise multiplier z, the exact
//!    curve of [`gaussian`] turns any μ back into ε.
//! 5. **Views** ([`NoisePlan`]): for each adversary (nobody inside, one curious peer, a coalition of t) the worst
//!    v_u = [Σ_H⁻¹]_uu over honest peers and coalitions ([`coalition`]), μ = √(L·v_u), ε, and how it is known.
//!
//! # The adversary
//! It sees **every** noisy input of every peer and every message, and it knows the own noise and all pairwise
//! noise of its colluders. Secret are only the own noise of honest peers and the pairwise noise between two
//! honest peers. Averaging, orthonormalisation, stopping rules and all X^l are functions of what it sees: they
//! are post-processing and cost nothing. No amplification from partial views is claimed (ref C.6). Peers follow
//! the protocol; noise is fresh in every iteration. Under `trusted_sum` alone the adversary sees less: the sum.
//!
//! # Never open
//! Values that mean nothing (NaN, zero, out of range) are refused or count as the worst case, bisections return
//! the side with more noise, and a combination without a proof does not exist.
//!
//! # Adding to it
//! A sensitivity rule is one file in `sensitivity/` with its proof, one variant of [`SensitivityRule`] and its
//! combinations in the list of proved ones; the attacks there then run on it. A calibration is one variant of
//! [`Calibration`].

mod bisection;
mod budget;
mod calibration;
pub mod coalition;
mod error;
pub mod gaussian;
mod loss;
mod mills;
mod noise_plan;
mod sensitivity;
#[cfg(test)]
mod testing;
pub mod zcdp;

pub use budget::{Budget, Delta, Epsilon};
pub use calibration::{Calibrated, Calibration, CalibrationWarning, calibrate, noise_multiplier};
pub use coalition::Connectivity;
pub use error::PrivacyError;
pub use loss::{Loss, compose};
pub use mills::erfcx;
pub use noise_plan::{Certificate, NoisePlan, NoiseRequest, OnDisconnect, Scheme, View};
pub use sensitivity::{Adjacency, Sensitivity, SensitivityRule, Statistic};
