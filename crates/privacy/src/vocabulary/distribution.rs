//! The law of the noise that hides a sum: the word that files, plans, privacy and noise share.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The law of the noise that hides a sum: `noise.distribution` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Normal noise, scaled to Euclidean sensitivities: (ε, δ) with δ above 0.
    #[default]
    Gaussian,
    /// Laplace noise, scaled to sensitivities in the sum of absolute values: (ε, 0).
    Laplace,
    /// The difference of two Wishart matrices, on one triangle of a symmetric matrix at a time, scaled to sensitivities in the nuclear norm: (ε, 0).
    Wishart,
}

impl Distribution {
    /// Whether it is the default, which files need not say.
    #[must_use]
    pub fn is_gaussian(&self) -> bool {
        *self == Self::Gaussian
    }

    /// Whether noise of this law promises (ε, 0).
    #[must_use]
    pub fn is_pure(&self) -> bool {
        *self != Self::Gaussian
    }

    /// What a release costs whose noise is `factor` times as large, in units of one of factor 1.
    ///
    /// Gaussian releases compose by their squares, μ² = Σ (Δ_l/σ_l)²: 1/f². Laplace and Wishart releases compose by what they are,
    /// ε = Σ Δ_l/λ_l: 1/f.
    #[must_use]
    pub fn cost(self, factor: f64) -> f64 {
        match self {
            Self::Gaussian => 1.0 / (factor * factor),
            Self::Laplace | Self::Wishart => 1.0 / factor,
        }
    }

    /// The factor that costs under this law what `factor` costs under the Gaussian one: f, or f².
    #[must_use]
    pub fn factor(self, factor: f64) -> f64 {
        match self {
            Self::Gaussian => factor,
            Self::Laplace | Self::Wishart => factor * factor,
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gaussian => "gaussian",
            Self::Laplace => "laplace",
            Self::Wishart => "wishart",
        })
    }
}
