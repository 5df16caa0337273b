//! The methods of completion that are not [`SpectralRidge`](super::SpectralRidge), with their public numbers.

use std::sync::Arc;

use super::parts::MOST_STEPS;
use super::{
    CompletionMode, FrankWolfe, FrankWolfeParameters, Global, Local, ProjectedGradient, RatedRows,
    SvdCompletion,
};
use crate::algorithm::Algorithm;

/// The most that n³T of projected gradients may be: about ten seconds for one run.
const MOST_WORK: f64 = 4e9;

/// A method with its own public numbers, the dimension apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Descent {
    /// [`FrankWolfe`].
    FrankWolfe(FrankWolfeParameters),
    /// [`SvdCompletion`].
    Svd {
        /// Eigenvectors r.
        rank: usize,
        /// What is public of the rows.
        rows: RatedRows,
        /// Our constants, or the published ones.
        mode: CompletionMode,
    },
    /// [`ProjectedGradient`].
    Gradient {
        /// Eigenvectors that are reported.
        rank: usize,
        /// Steps T.
        iterations: u32,
        /// What is public of the rows.
        rows: RatedRows,
        /// k.
        nuclear: f64,
        /// η.
        step_size: f64,
    },
}

/// Numbers that make no descent.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DescentError {
    /// A key that the algorithm has not, or needs, or that does not go with the others.
    #[error("algorithm.{key} with algorithm.kind = \"{algorithm}\" {why}")]
    Key {
        /// The algorithm.
        algorithm: &'static str,
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
    /// A number out of its range.
    #[error("algorithm.{key} must be {range}, found {found}")]
    Number {
        /// The key.
        key: &'static str,
        /// The values that it can have.
        range: &'static str,
        /// The value given.
        found: f64,
    },
    /// A count out of its range.
    #[error("algorithm.{key} must lie between {low} and {high}, found {found}")]
    Count {
        /// The key.
        key: &'static str,
        /// Smallest value allowed.
        low: u32,
        /// Largest value allowed.
        high: u32,
        /// The value given.
        found: u32,
    },
    /// More items and steps than can be computed in a minute.
    #[error(
        "algorithm.kind = \"projected-gradient\" computes all eigenvectors of {items} items in each of {iterations} steps, which takes minutes \
         to hours: items cubed times steps may be at most 4e9; set data.items or algorithm.iterations lower, or take \
         algorithm.kind = \"spectral-ridge\""
    )]
    Large {
        /// Items n.
        items: usize,
        /// Steps T.
        iterations: u32,
    },
    /// Numbers of rows that no rows have.
    #[error(
        "completion needs at least one slot, a clip that is finite and above 0, and a cap of at least one rating; found {found:?}"
    )]
    Rows {
        /// The numbers given.
        found: RatedRows,
    },
}

impl Descent {
    /// The algorithm on this many items.
    ///
    /// # Errors
    /// [`DescentError`] for numbers that make none.
    pub fn build(&self, dimension: usize) -> Result<Arc<dyn Algorithm>, DescentError> {
        let rows = self.rows();
        if !rows.are_valid() {
            return Err(DescentError::Rows { found: rows });
        }
        Ok(match *self {
            Self::FrankWolfe(parameters) => {
                checked_steps(&parameters)?;
                Arc::new(FrankWolfe {
                    dimension,
                    parameters,
                })
            }
            Self::Svd { rank, rows, mode } => Arc::new(SvdCompletion {
                dimension,
                rank,
                rows,
                mode,
            }),
            Self::Gradient {
                rank,
                iterations,
                rows,
                nuclear,
                step_size,
            } => {
                count("iterations", (1, MOST_STEPS), iterations)?;
                positive("nuclear", nuclear)?;
                if (dimension as f64).powi(3) * f64::from(iterations) > MOST_WORK {
                    return Err(DescentError::Large {
                        items: dimension,
                        iterations,
                    });
                }
                if !(step_size > 0.0 && step_size <= 1.0) {
                    return Err(DescentError::Number {
                        key: "step_size",
                        range: "above 0 and at most 1",
                        found: step_size,
                    });
                }
                Arc::new(ProjectedGradient {
                    dimension,
                    rank,
                    iterations,
                    rows,
                    nuclear,
                    step_size,
                })
            }
        })
    }

    /// What is public of the rows.
    #[must_use]
    pub fn rows(&self) -> RatedRows {
        match self {
            Self::FrankWolfe(parameters) => parameters.rows,
            Self::Svd { rows, .. } | Self::Gradient { rows, .. } => *rows,
        }
    }

    /// Eigenvectors that are wanted or reported.
    #[must_use]
    pub fn rank(&self) -> usize {
        match self {
            Self::FrankWolfe(parameters) => parameters.rank,
            Self::Svd { rank, .. } | Self::Gradient { rank, .. } => *rank,
        }
    }

    /// Steps T.
    #[must_use]
    pub fn iterations(&self) -> u32 {
        match self {
            Self::FrankWolfe(parameters) => parameters.iterations,
            Self::Svd { .. } => 1,
            Self::Gradient { iterations, .. } => *iterations,
        }
    }

    /// Releases of all steps.
    #[must_use]
    pub fn releases(&self) -> u32 {
        match self {
            Self::FrankWolfe(parameters) => parameters.releases(),
            Self::Svd { .. } | Self::Gradient { .. } => self.iterations(),
        }
    }

    /// All numbers by name.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, f64)> {
        let dimension = 0;
        match *self {
            Self::FrankWolfe(parameters) => parameters.settings(),
            Self::Svd { rank, rows, mode } => SvdCompletion {
                dimension,
                rank,
                rows,
                mode,
            }
            .settings(),
            Self::Gradient {
                rank,
                iterations,
                rows,
                nuclear,
                step_size,
            } => ProjectedGradient {
                dimension,
                rank,
                iterations,
                rows,
                nuclear,
                step_size,
            }
            .settings(),
        }
    }
}

fn positive(key: &'static str, found: f64) -> Result<(), DescentError> {
    let range = "a finite number above 0";
    match found.is_finite() && found > 0.0 {
        true => Ok(()),
        false => Err(DescentError::Number { key, range, found }),
    }
}

fn count(key: &'static str, (low, high): (u32, u32), found: u32) -> Result<(), DescentError> {
    match (low..=high).contains(&found) {
        true => Ok(()),
        false => Err(DescentError::Count {
            key,
            low,
            high,
            found,
        }),
    }
}

/// Refuses what makes no Frank–Wolfe iteration.
fn checked_steps(parameters: &FrankWolfeParameters) -> Result<(), DescentError> {
    if let Local::FrankWolfe { nuclear, .. } = parameters.local {
        positive("nuclear", nuclear)?;
    }
    let published = parameters.mode == CompletionMode::Paper;
    // As published the last step releases nothing.
    let least = if published { 2 } else { 1 };
    count("iterations", (least, MOST_STEPS), parameters.iterations)?;
    if let Global::Power { inner } | Global::Oja { inner, .. } = parameters.global {
        count("inner", (1, MOST_STEPS / parameters.iterations), inner)?;
    }
    if published && !parameters.is_as_published() {
        return Err(DescentError::Key {
            algorithm: "frank-wolfe",
            key: "mode",
            why: "= \"paper\" is the published algorithm, with step = \"constant\", local = \"frank-wolfe\" and global = \"covariance\": leave \
                  those out, or set mode = \"tight\"",
        });
    }
    Ok(())
}
