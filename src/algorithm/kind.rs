//! Which algorithms an experiment file can name, and the choices that some of them have.

use serde::{Deserialize, Serialize};

/// The algorithms an experiment file can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmKind {
    /// The randomised power method (subspace iteration), P1.
    #[default]
    Power,
    /// The power method with momentum (accelerated).
    Momentum,
    /// Block Krylov iteration: the power method's releases, none thrown away.
    Krylov,
    /// One noisy release of the whole matrix (Analyze Gauss).
    Covariance,
    /// The same in coordinates in which lengths are those of the matrix.
    IsometricCovariance,
    /// The same, with a diagonal and row sums that know no degree floor.
    RakedCovariance,
    /// One eigenvector after the other.
    Deflation,
    /// Private power iteration for one vector (Hardt & Roth).
    Ppi,
    /// The power method in one pass, every row in one step.
    Streaming,
    /// Completion of ratings from one covariance, by a ridge regression at every user.
    SpectralRidge,
    /// Completion of ratings by a private Frank–Wolfe iteration.
    FrankWolfe,
    /// Completion of ratings by one covariance, onto which rows are projected.
    SvdCompletion,
    /// Completion of ratings by projected gradient descent.
    ProjectedGradient,
    /// Counts of users, which say nothing of eigenvectors and help to choose what does.
    Pilot,
    /// Whichever of them a public rule chooses, after a pilot.
    Auto,
}

/// What the noise of `ppi` is scaled by: `algorithm.scale` of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoiseScale {
    /// By the largest entry of the vector at hand.
    Adaptive,
    /// By √(C/n) for a guess C, beyond which the run aborts.
    Fixed,
}

impl AlgorithmKind {
    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Momentum => "momentum",
            Self::Krylov => "krylov",
            Self::Covariance => "covariance",
            Self::IsometricCovariance => "isometric-covariance",
            Self::RakedCovariance => "raked-covariance",
            Self::Deflation => "deflation",
            Self::Ppi => "ppi",
            Self::Streaming => "streaming",
            Self::SpectralRidge => "spectral-ridge",
            Self::FrankWolfe => "frank-wolfe",
            Self::SvdCompletion => "svd-completion",
            Self::ProjectedGradient => "projected-gradient",
            Self::Pilot => "pilot",
            Self::Auto => "auto",
        }
    }

    /// Whether the columns of its basis estimate one eigenvector each, in order; the others find their span.
    #[must_use]
    pub fn finds_eigenvectors(self) -> bool {
        !matches!(self, Self::Power | Self::Momentum | Self::Streaming)
    }

    /// Whether a query can be too far from what it plans noise for, so that summaries say before which iteration it stopped.
    #[must_use]
    pub fn may_abort(self) -> bool {
        self == Self::Ppi
    }

    /// Whether it predicts ratings: it then takes rows that are not shortened, and shortens what it contributes itself.
    #[must_use]
    pub fn completes(self) -> bool {
        matches!(
            self,
            Self::SpectralRidge | Self::FrankWolfe | Self::SvdCompletion | Self::ProjectedGradient
        )
    }
}

/// What a run of the power method gives: `algorithm.output` of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Output {
    /// The basis.
    Basis,
    /// Also B = X Yᵀ of the query X and the sum Y of the last release, an approximation of A of rank at most p.
    LowRank,
}
