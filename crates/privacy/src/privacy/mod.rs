//! Privacy accounting: what a run costs, from a graph, variances, sensitivities and coalitions alone. It knows
//! nothing of protocols.
//!
//! # How a guarantee is assembled
//! 1. **Adjacency** ([`Adjacency`]) says what one record is: an interaction, a user, a change of one peer's matrix. Each is a type
//!    in [`adjacency`] that measures distances and draws neighbours.
//! 2. **Sensitivity** ([`Sensitivity`]) bounds how far one record moves a peer's contribution A_u X in Frobenius
//!    norm: Δ, from a public [`Statistic`] of X that the peers agree on.
//! 3. **Mechanism**: Gaussian noise, own and pairwise, scaled by Δ. Noise is planned *per unit sensitivity*, so that
//!    every iteration costs the same μ whatever X is; independent iterations then compose to μ² = Σ_l μ_l²,
//!    even though X^l depends on earlier noise (adaptive composition needs μ_l fixed in advance).
//! 4. **Accountant**: [`calibrate`] turns a [`Budget`] and L iterations into the noise multiplier z, the exact
//!    curve of [`gaussian`] turns any μ back into ε.
//! 5. **Views** ([`NoisePlan`]): for each adversary (nobody inside, one curious peer, a coalition of t) the worst
//!    v_u = [Σ_H⁻¹]_uu over honest peers and coalitions ([`accountant`]), μ = √(L·v_u), ε, and how it is known.
//!    One record lies at one peer. Changes at k peers are bounded by [`GroupLoss`]: of the matrix where single inputs are seen, and of the
//!    rows of a person who is in the files of several participants. [`Statement`] says in words what one record is and against whom.
//! 6. **Beyond the plan**: [`accountant::worst_coalition`] names a coalition that attains the lower end of a bracket around
//!    the worst one; [`advise`] says which edges, or which degree, would bring the gap to central privacy down.
//!
//! # The adversary
//! It sees **every** noisy input of every peer and every message, and it knows the own noise and all pairwise
//! noise of its colluders. Secret are only the own noise of honest peers and the pairwise noise between two
//! honest peers. Averaging, orthonormalisation, stopping rules and all X^l are functions of what it sees: they
//! are post-processing and cost nothing. No amplification from partial views is claimed
//! ([`network_view_loss`] has the exact value for small networks). Peers follow
//! the protocol; noise is fresh in every iteration. Under `trusted_sum` alone the adversary sees less: the sum.
//!
//! # The papers
//! Where their statements are wrong or loose, and the number that shows it: [`errata`].
//!
//! # Fail-closed
//! Values that mean nothing (NaN, zero, out of range) are refused or count as the worst case, bisections return
//! the side with more noise, and a combination without a proof does not exist.
//!
//! # Adding to it
//! A sensitivity rule is one file in `sensitivity/` with its proof, one variant of [`SensitivityRule`] and its
//! lines in the registry of proved ones, each naming the adjacency as a type; the attacks there ask for a case of
//! every line. An adjacency is one file in `neighbours/`. A calibration is one variant of [`Calibration`]. A bound
//! for all coalitions of a size is one file in `accountant/bounds/` with its proof, one variant of
//! [`accountant::Bound`] and one line of its registry; the exhaustive comparison there then runs on it, and plans
//! use it.

pub mod accountant;
pub mod adjacency;
mod advice;
mod bisection;
mod budget;
mod calibration;
mod certificate;
pub mod errata;
mod error;
pub mod gaussian;
mod group;
pub mod laplace;
mod lifetime;
mod loss;
mod mills;
// For the tests of adjacencies.
#[doc(hidden)]
pub mod neighbours;
mod nesting;
mod network_view;
mod noise_plan;
mod persons;
pub mod realised;
pub mod ring;
mod rounded_up;
mod sensitivity;
mod sensitivity_rule;
pub mod sparse_vector;
mod statement;
#[cfg(test)]
mod testing;
#[doc(hidden)]
pub mod wishart;
pub mod zcdp;

pub use accountant::Connectivity;
pub use adjacency::Adjacency;
pub use advice::{Advice, RegularAdvice, advise};
pub use budget::{Budget, Delta, Epsilon};
pub use calibration::{Calibrated, Calibration, CalibrationWarning, calibrate, noise_multiplier};
pub use certificate::Certificate;
pub use error::PrivacyError;
pub use group::GroupLoss;
pub use loss::{Loss, compose};
pub use network_view::{NetworkViewLoss, network_view_loss};
pub use noise_plan::{
    BudgetSplit, NoisePlan, NoiseRequest, OnDisconnect, Scheme, View, split_budget,
};
pub use sensitivity::{
    OwnRules, Public, RatingRange, Rule, Sensitivity, Sensitivity1, SensitivityRule,
    SensitivitySpec, Statistic,
};
pub use statement::{AdversaryView, Statement};
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    laplace::calibrate_laplace, lifetime::LifetimeBudget, lifetime::SquareSum, noise_plan::Holders,
    noise_plan::HoldersRequest, noise_plan::LaplacePlan, noise_plan::LaplaceRequest,
    noise_plan::RingPlan, noise_plan::RingRequest, noise_plan::WishartPlan,
    noise_plan::WishartRequest, noise_plan::even_iterations, noise_plan::refuse_split,
    persons::person_sizes, sensitivity::NuclearSensitivity, wishart::calibrate_wishart,
};
