//! Which algorithm a session runs, with the public numbers of that algorithm and no others.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::completion::{Completion, Descent, DescentError, RatedRows, SpectralRidge};
use super::pilot::Pilot;

use super::{
    Algorithm, Clip, ClipError, ClippedPower, Covariance, Deflation, IsometricCovariance, Krylov,
    Momentum, PowerMethod, PrivatePowerIteration, RakedCovariance, Streaming,
};

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

/// An algorithm with its own public numbers.
#[derive(Clone, Debug)]
pub enum AlgorithmSpec {
    /// [`PowerMethod`].
    Power {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// Iterations L.
        iterations: u32,
    },
    /// [`ClippedPower`], in files `power` with a clip.
    ClippedPower {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// Iterations L.
        iterations: u32,
        /// How contributions are clipped.
        clip: Clip,
    },
    /// [`Momentum`].
    Momentum {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// Iterations L.
        iterations: u32,
        /// β, finite and at least 0.
        momentum: f64,
    },
    /// [`Krylov`].
    Krylov {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// Columns b of a query, p ≤ b ≤ n.
        block: usize,
        /// Iterations L.
        iterations: u32,
    },
    /// [`Covariance`].
    Covariance {
        /// Eigenvectors wanted, p.
        rank: usize,
    },
    /// [`IsometricCovariance`].
    IsometricCovariance {
        /// Eigenvectors wanted, p.
        rank: usize,
    },
    /// [`RakedCovariance`].
    RakedCovariance {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// The degree floor D ≥ 1 that rows are under.
        floor: u32,
    },
    /// [`Deflation`].
    Deflation {
        /// Eigenvectors wanted, k.
        rank: usize,
        /// Power steps T for each.
        steps: u32,
        /// The share of μ² that all Rayleigh quotients spend together.
        eigenvalue_share: f64,
    },
    /// [`PrivatePowerIteration`], for one eigenvector.
    Ppi {
        /// Steps T.
        iterations: u32,
        /// C, 1 ≤ C ≤ n; `None` for the scale of the vector at hand.
        coherence: Option<f64>,
    },
    /// [`Streaming`]. In which step a row counts is said where rows are dealt.
    Streaming {
        /// Eigenvectors wanted, p.
        rank: usize,
        /// Steps and batches L.
        iterations: u32,
    },
    /// [`SpectralRidge`].
    SpectralRidge {
        /// The most directions that are kept.
        rank: usize,
        /// What is public of the rows, and how the budget is divided.
        completion: Completion,
    },
    /// Steps, or one, towards ratings that are predicted.
    Descent(Descent),
    /// [`Pilot`].
    Pilot,
    /// An algorithm of your own. Two of them are the same if their names and settings are.
    Own(Arc<dyn Algorithm>),
}

/// Numbers that make no algorithm.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AlgorithmError {
    /// One of the counts is zero or too large.
    #[error("{what} must lie between {low} and {high}, found {found}")]
    Count {
        /// Which parameter.
        what: &'static str,
        /// Smallest value allowed.
        low: usize,
        /// Largest value allowed.
        high: usize,
        /// The value given.
        found: usize,
    },
    /// A momentum that is negative, NaN or infinite.
    #[error("algorithm.momentum must be a finite number, at least 0, found {found}")]
    Momentum {
        /// The value given.
        found: f64,
    },
    /// A rank the algorithm does not have.
    #[error(
        "algorithm.kind = \"{algorithm}\" finds one eigenvector: set algorithm.rank = 1, found {found}; deflation finds several"
    )]
    Rank {
        /// The algorithm.
        algorithm: &'static str,
        /// The rank given.
        found: usize,
    },
    /// A number of iterations the algorithm cannot run.
    #[error(
        "algorithm.kind = \"{algorithm}\" releases everything in {needed} iteration(s): set algorithm.iterations = {needed}, \
         found {found}"
    )]
    Iterations {
        /// The algorithm.
        algorithm: &'static str,
        /// The only number it runs.
        needed: u32,
        /// The number given.
        found: u32,
    },
    /// A share of the budget that leaves nothing to one side.
    #[error(
        "algorithm.eigenvalue_share must lie strictly between 0 and 1, found {found}: 0.05 leaves most of the budget to the vectors"
    )]
    EigenvalueShare {
        /// The value given.
        found: f64,
    },
    /// A choice that is still to be made.
    #[error(
        "algorithm.kind = \"auto\" is a choice that `undertone run`, `advise`, `verify` and `audit` make of one experiment, after a pilot: name an \
         algorithm here, such as the one that `undertone advise` recommends"
    )]
    Unchosen,
    /// Numbers that make no descent.
    #[error(transparent)]
    Descent(#[from] DescentError),
    /// A method of completion where there are no ratings.
    #[error(
        "algorithm.kind = \"{algorithm}\" predicts ratings: set data.values = \"ratings\", with data.ranges and data.row_clip"
    )]
    Ratings {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// Shares that do not divide the budget.
    #[error(
        "completion.shares must be three numbers above 0 that add up to 1, for sums, counts and the triangle, such as [0.10, 0.05, 0.85]; found {found:?}"
    )]
    Shares {
        /// The shares given.
        found: [f64; 3],
    },
    /// Numbers of rows that no rows have.
    #[error(
        "completion needs at least one slot, a clip between 1e-150 and 1e150, and a cap of at least one rating; found {found:?}"
    )]
    Rows {
        /// The numbers given.
        found: RatedRows,
    },
    /// A coherence that no vector has.
    #[error(
        "algorithm.coherence must lie between 1 and the number of items, {items}, found {found}: it is a guess at n times the largest squared \
         entry of the eigenvector"
    )]
    Coherence {
        /// The value given.
        found: f64,
        /// Items n.
        items: usize,
    },
    /// Numbers that make no clip.
    #[error(transparent)]
    Clip(#[from] ClipError),
    /// A clip for an algorithm that has none.
    #[error(
        "algorithm.clip is for algorithm.kind = \"power\", found \"{algorithm}\": leave the clip out"
    )]
    Unclipped {
        /// The algorithm.
        algorithm: &'static str,
    },
    /// An algorithm of another dimension than the data.
    #[error("the algorithm is for {found} items, the data has {expected}: build it for those")]
    Dimension {
        /// Items of the algorithm.
        found: usize,
        /// Items of the data.
        expected: usize,
    },
}

/// The most iterations of any algorithm.
pub const MAX_ITERATIONS: u32 = 100_000;

impl AlgorithmSpec {
    /// The algorithm on this many items.
    ///
    /// # Errors
    /// [`AlgorithmError`] for a rank of 0 or above the number of items, a block below the rank or above the number of
    /// items, no iterations or more than [`MAX_ITERATIONS`], a momentum that is no finite number of at least 0.
    pub fn build(&self, dimension: usize) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let count = |what, low, high, found| {
            if (low..=high).contains(&found) {
                Ok(())
            } else {
                Err(AlgorithmError::Count {
                    what,
                    low,
                    high,
                    found,
                })
            }
        };
        if let Self::Own(algorithm) = self {
            let (found, expected) = (algorithm.dimension(), dimension);
            if found != expected {
                return Err(AlgorithmError::Dimension { found, expected });
            }
            return Ok(Arc::clone(algorithm));
        }
        let (rank, iterations) = (self.rank(), self.iterations());
        count("algorithm.rank", 1, dimension, rank)?;
        count("algorithm.block", rank, dimension, self.block())?;
        let most = MAX_ITERATIONS as usize;
        let iterations = match *self {
            Self::Deflation { steps, .. } => steps,
            Self::Descent(descent) => descent.iterations(),
            _ => iterations,
        };
        count("algorithm.iterations", 1, most, iterations as usize)?;
        Ok(match *self {
            Self::Deflation {
                rank,
                steps,
                eigenvalue_share,
            } => {
                let releases = rank.saturating_mul(steps as usize + 1);
                let what = "algorithm.rank times one more than algorithm.iterations";
                count(what, 2, most, releases)?;
                if !(eigenvalue_share > 0.0 && eigenvalue_share < 1.0) {
                    return Err(AlgorithmError::EigenvalueShare {
                        found: eigenvalue_share,
                    });
                }
                Arc::new(Deflation {
                    dimension,
                    rank,
                    steps,
                    eigenvalue_share,
                })
            }
            Self::Power { rank, iterations } => Arc::new(PowerMethod {
                dimension,
                rank,
                iterations,
            }),
            Self::ClippedPower {
                rank,
                iterations,
                clip,
            } => {
                clip.check(iterations)?;
                Arc::new(ClippedPower {
                    dimension,
                    rank,
                    iterations,
                    clip,
                })
            }
            Self::Momentum {
                rank,
                iterations,
                momentum,
            } => {
                if !(momentum.is_finite() && momentum >= 0.0) {
                    return Err(AlgorithmError::Momentum { found: momentum });
                }
                Arc::new(Momentum {
                    dimension,
                    rank,
                    iterations,
                    momentum,
                })
            }
            Self::Krylov {
                rank,
                block,
                iterations,
            } => Arc::new(Krylov {
                dimension,
                rank,
                block,
                iterations,
            }),
            Self::Ppi {
                iterations,
                coherence,
            } => {
                if let Some(found) = coherence
                    && !(1.0..=dimension as f64).contains(&found)
                {
                    let items = dimension;
                    return Err(AlgorithmError::Coherence { found, items });
                }
                Arc::new(PrivatePowerIteration {
                    dimension,
                    iterations,
                    coherence,
                })
            }
            Self::Streaming { rank, iterations } => Arc::new(Streaming {
                dimension,
                rank,
                iterations,
            }),
            Self::SpectralRidge { rank, completion } => {
                let shares = completion.shares;
                let positive = shares.iter().all(|share| *share > 0.0);
                let whole = (shares.iter().sum::<f64>() - 1.0).abs() < 1e-9;
                if !(positive && whole) {
                    return Err(AlgorithmError::Shares { found: shares });
                }
                if !completion.rows.are_valid() {
                    let found = completion.rows;
                    return Err(AlgorithmError::Rows { found });
                }
                Arc::new(SpectralRidge {
                    dimension,
                    rank,
                    completion,
                })
            }
            Self::Descent(descent) => descent.build(dimension)?,
            Self::Pilot => Arc::new(Pilot { dimension }),
            Self::Covariance { rank } => Arc::new(Covariance { dimension, rank }),
            Self::IsometricCovariance { rank } => Arc::new(IsometricCovariance { dimension, rank }),
            Self::RakedCovariance { rank, floor } => Arc::new(RakedCovariance {
                dimension,
                rank,
                floor,
            }),
            Self::Own(ref algorithm) => Arc::clone(algorithm),
        })
    }

    /// This algorithm on clipped contributions.
    ///
    /// # Errors
    /// [`AlgorithmError::Unclipped`] for all but [`Self::Power`].
    pub fn clipped(self, clip: Clip) -> Result<Self, AlgorithmError> {
        match self {
            Self::Power { rank, iterations } => Ok(Self::ClippedPower {
                rank,
                iterations,
                clip,
            }),
            other => Err(AlgorithmError::Unclipped {
                algorithm: other.name(),
            }),
        }
    }

    /// How contributions are clipped; `None` where they are not.
    #[must_use]
    pub fn clip(&self) -> Option<Clip> {
        match self {
            Self::ClippedPower { clip, .. } => Some(*clip),
            _ => None,
        }
    }

    /// Which of the algorithms that files can name; `None` for one of your own.
    #[must_use]
    pub fn kind(&self) -> Option<AlgorithmKind> {
        match self {
            Self::Power { .. } | Self::ClippedPower { .. } => Some(AlgorithmKind::Power),
            Self::Momentum { .. } => Some(AlgorithmKind::Momentum),
            Self::Krylov { .. } => Some(AlgorithmKind::Krylov),
            Self::Covariance { .. } => Some(AlgorithmKind::Covariance),
            Self::IsometricCovariance { .. } => Some(AlgorithmKind::IsometricCovariance),
            Self::RakedCovariance { .. } => Some(AlgorithmKind::RakedCovariance),
            Self::Deflation { .. } => Some(AlgorithmKind::Deflation),
            Self::Ppi { .. } => Some(AlgorithmKind::Ppi),
            Self::Streaming { .. } => Some(AlgorithmKind::Streaming),
            Self::SpectralRidge { .. } => Some(AlgorithmKind::SpectralRidge),
            Self::Descent(Descent::FrankWolfe(_)) => Some(AlgorithmKind::FrankWolfe),
            Self::Descent(Descent::Svd { .. }) => Some(AlgorithmKind::SvdCompletion),
            Self::Descent(Descent::Gradient { .. }) => Some(AlgorithmKind::ProjectedGradient),
            Self::Pilot => Some(AlgorithmKind::Pilot),
            Self::Own(_) => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Own(algorithm) => algorithm.name(),
            _ => self.kind().unwrap_or_default().name(),
        }
    }

    /// Eigenvectors wanted, p; of an algorithm of your own the columns of its query.
    #[must_use]
    pub fn rank(&self) -> usize {
        match self {
            Self::Power { rank, .. }
            | Self::ClippedPower { rank, .. }
            | Self::Momentum { rank, .. }
            | Self::Krylov { rank, .. }
            | Self::Covariance { rank }
            | Self::IsometricCovariance { rank }
            | Self::RakedCovariance { rank, .. }
            | Self::Deflation { rank, .. }
            | Self::Streaming { rank, .. }
            | Self::SpectralRidge { rank, .. } => *rank,
            Self::Descent(descent) => descent.rank(),
            Self::Ppi { .. } | Self::Pilot => 1,
            Self::Own(algorithm) => algorithm.query_columns(),
        }
    }

    /// Columns b of a query; [`Self::Deflation`] and [`Descent::FrankWolfe`] have one, and their rank is not about that.
    #[must_use]
    pub fn block(&self) -> usize {
        match self {
            Self::Krylov { block, .. } => *block,
            _ => self.rank(),
        }
    }

    /// β; 0 for all but [`Self::Momentum`].
    #[must_use]
    pub fn momentum(&self) -> f64 {
        match self {
            Self::Momentum { momentum, .. } => *momentum,
            _ => 0.0,
        }
    }

    /// What tells it from others beside its kind, rank, block, momentum and iterations.
    #[must_use]
    pub fn own_settings(&self) -> Vec<(&'static str, f64)> {
        match self {
            Self::Deflation {
                steps,
                eigenvalue_share,
                ..
            } => vec![
                ("steps", f64::from(*steps)),
                ("eigenvalue share", *eigenvalue_share),
            ],
            Self::ClippedPower { clip, .. } => clip.settings(),
            Self::Ppi { coherence, .. } => vec![("coherence", coherence.unwrap_or(0.0))],
            Self::Streaming { iterations, .. } => vec![("batches", f64::from(*iterations))],
            Self::RakedCovariance { floor, .. } => vec![("degree floor", f64::from(*floor))],
            Self::SpectralRidge { rank, completion } => SpectralRidge {
                dimension: 0,
                rank: *rank,
                completion: *completion,
            }
            .settings(),
            Self::Descent(descent) => descent.settings(),
            Self::Pilot => Pilot { dimension: 0 }.settings(),
            Self::Own(algorithm) => algorithm.settings(),
            _ => Vec::new(),
        }
    }

    /// Iterations L.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        match self {
            Self::Power { iterations, .. }
            | Self::ClippedPower { iterations, .. }
            | Self::Momentum { iterations, .. }
            | Self::Krylov { iterations, .. }
            | Self::Ppi { iterations, .. }
            | Self::Streaming { iterations, .. } => *iterations,
            Self::Descent(descent) => descent.releases(),
            Self::Covariance { .. }
            | Self::IsometricCovariance { .. }
            | Self::RakedCovariance { .. }
            | Self::Pilot => 1,
            Self::SpectralRidge { completion, .. } => 1 + u32::from(completion.item_means),
            Self::Deflation { rank, steps, .. } => {
                let rank = u32::try_from(*rank).unwrap_or(u32::MAX);
                rank.saturating_mul(steps.saturating_add(1))
            }
            Self::Own(algorithm) => {
                let releases = algorithm.releases();
                releases.last().map_or(0, |release| release.iteration.0)
            }
        }
    }
}

impl PartialEq for AlgorithmSpec {
    fn eq(&self, other: &Self) -> bool {
        let numbers = |spec: &Self| {
            let (rank, block, iterations) = (spec.rank(), spec.block(), spec.iterations());
            let own = spec.own_settings();
            (spec.kind(), rank, block, iterations, spec.momentum(), own)
        };
        match (self, other) {
            (Self::Own(a), Self::Own(b)) => (a.name(), a.settings()) == (b.name(), b.settings()),
            _ => numbers(self) == numbers(other),
        }
    }
}

impl fmt::Display for AlgorithmSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
