//! How a number about everybody's privacy is known: exactly, or by which bound.

use serde::{Deserialize, Serialize};

/// How the μ of a view is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certificate {
    /// The exact value, from the inverse covariance.
    Exact,
    /// The exact maximum over every coalition of this size.
    ExactEnumeration,
    /// At the δ asked for alone, from the loss distribution of Gaussian releases and (ε_s, 0)-private searches.
    LossDistribution,
    /// An upper bound for every coalition of this size, from a certified algebraic connectivity.
    Lambda2,
    /// An upper bound for every coalition of this size, from the degrees alone.
    Star,
    /// Exact, given that secure aggregation reveals only the sum.
    SecureSum,
    /// Exact for every coalition: each peer's own noise suffices.
    Local,
    /// An upper bound for every coalition: a peer's own noise alone, where nothing better is known. Attained if
    /// the coalition can hold all noise partners of some peer.
    OwnNoise,
    /// An upper bound for every coalition of this size, from connectivity and degrees.
    GaussRadau,
    /// An upper bound for every coalition of this size, from the core no such coalition reaches.
    Core,
    /// An upper bound for every coalition of this size, from disjoint trees around each peer.
    DisjointForest,
    /// An upper bound for every coalition of this size, from trees that overlap because each covers more than half of
    /// the honest peers.
    Overlap,
    /// An upper bound for every coalition of this size, from the distances that are left once any one peer is gone.
    Detour,
    /// An upper bound for every coalition of this size, from an honest holder of Laplace noise and the resistance to it.
    Holder,
}
