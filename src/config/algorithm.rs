//! The table `[algorithm]` of an experiment file.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmKind, Arrival, Clip, ClipRule, ClippedPower, Completion,
    CompletionMode, Covariance, Deflation, GlobalPart, IsometricCovariance, Krylov, LocalStep,
    Momentum, NoiseScale, OjaStep, Output, Pilot, PowerMethod, Precondition, PrivatePowerIteration,
    RakedCovariance, SpectralRidge, Start, StepRule, Streaming,
};

/// What an algorithm is told of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DataFacts {
    /// Items n.
    pub items: usize,
    /// The degree floor of the rows, 1 where there is none.
    pub floor: u32,
    /// What is public of ratings that are to be completed; `None` where there are none.
    pub completion: Option<Completion>,
    /// How contributions are clipped; `None` where they are not.
    pub clip: Option<Clip>,
}

impl DataFacts {
    /// So many items under this degree floor, without ratings and clips.
    #[must_use]
    pub fn of_items(items: usize, floor: u32) -> Self {
        Self {
            items,
            floor,
            completion: None,
            clip: None,
        }
    }
}

/// `[algorithm]`
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AlgorithmConfig {
    /// Which algorithm.
    pub kind: AlgorithmKind,
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// b: columns of every query of `krylov`, at least `rank`, which is the default; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// L: iterations; absent with `auto`, which chooses them; `covariance`, its kin and `svd-completion` run exactly 1, `deflation` so many for every vector, `spectral-ridge` 2, or 1
    /// without item means, `frank-wolfe` so many directions.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// β of `momentum`, in units of A's eigenvalues squared; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub momentum: Option<f64>,
    /// The share of the budget that the eigenvalues of `deflation` spend together, 0.05 where absent; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eigenvalue_share: Option<f64>,
    /// What the noise of `ppi` is scaled by: `"adaptive"` (where absent) or `"fixed"`; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<NoiseScale>,
    /// C of `ppi` with `scale = "fixed"`, from 1 to the number of items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coherence: Option<f64>,
    /// In which step a row of `streaming` counts: `"file-order"` (where absent) or `"round-robin"`; other kinds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// `"basis"` (where absent), or `"low-rank"`: a run of `power` also writes an approximation of A of rank at most p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// How `power` clips what rows contribute: `"none"`, `"histogram"`, `"geometric"`, or `"sparse-vector"` under a curator.
    #[serde(default, skip_serializing_if = "ClipRule::is_none")]
    pub clip: ClipRule,
    /// f: the share of the budget that the thresholds of a clip spend together, 0.1 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_share: Option<f64>,
    /// γ: the share of the rows that a clip is to leave as they are, 0.95 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_quantile: Option<f64>,
    /// Whether the histogram of one iteration travels with its product and serves the next; false where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip_lag: Option<bool>,
    /// k of `frank-wolfe` and `projected-gradient`: the nuclear norm of the ball that is searched, in units of ratings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nuclear: Option<f64>,
    /// How far `frank-wolfe` moves towards a direction: `"constant"` (where absent) or `"standard"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepRule>,
    /// What users do with the directions of `frank-wolfe`: `"frank-wolfe"` (where absent) or `"ridge"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalStep>,
    /// How `frank-wolfe` finds a direction: `"covariance"` (where absent), `"power"` or `"oja"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<GlobalPart>,
    /// Γ: products that `"power"` or `"oja"` make for one direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<u32>,
    /// The step of `global = "oja"`: `"theorem"` (where absent) or `"printed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oja_step: Option<OjaStep>,
    /// The constants of `frank-wolfe` and `svd-completion`: `"tight"` (where absent) or `"paper"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CompletionMode>,
    /// η of `projected-gradient`, above 0 and at most 1; 0.5 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_size: Option<f64>,
    /// `"none"` (where absent), or `"items"`: the eigenvectors of P A P, for a P of public item degrees.
    #[serde(default, skip_serializing_if = "Precondition::is_none")]
    pub precondition: Precondition,
    /// e of P = diag(degree^−e), from 0 to 0.5; 0.25 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_exponent: Option<f64>,
    /// The share of the mean in every degree that P is made of, from 0 to 1; 0 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_shrinkage: Option<f64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature serde asks for"
)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// The default of `algorithm.eigenvalue_share`.
const EIGENVALUE_SHARE: f64 = 0.05;

/// The default of `algorithm.clip_share`.
const CLIP_SHARE: f64 = 0.1;

/// The default of `algorithm.clip_quantile`.
const CLIP_QUANTILE: f64 = 0.95;

/// The default of `algorithm.precondition_exponent`.
const PRECONDITION_EXPONENT: f64 = 0.25;

impl AlgorithmConfig {
    /// An algorithm of this kind without any key that a kind may do without, from a random start.
    #[must_use]
    pub fn plain(kind: AlgorithmKind, rank: usize, iterations: u32) -> Self {
        Self {
            kind,
            rank,
            block: None,
            iterations,
            start: Start::Random,
            momentum: None,
            eigenvalue_share: None,
            scale: None,
            coherence: None,
            arrival: None,
            output: None,
            clip: ClipRule::None,
            clip_share: None,
            clip_quantile: None,
            clip_lag: None,
            nuclear: None,
            step: None,
            local: None,
            global: None,
            inner: None,
            oja_step: None,
            mode: None,
            step_size: None,
            precondition: Precondition::None,
            precondition_exponent: None,
            precondition_shrinkage: None,
        }
    }

    /// `auto`: an algorithm of this rank that is still to be chosen.
    #[must_use]
    pub fn auto(rank: usize) -> Self {
        Self::plain(AlgorithmKind::Auto, rank, 0)
    }

    /// `pilot`: what a choice rests on.
    #[must_use]
    pub fn pilot() -> Self {
        Self::plain(AlgorithmKind::Pilot, 1, 1)
    }

    /// `power`
    #[must_use]
    pub fn power(rank: usize, iterations: u32) -> Self {
        Self::plain(AlgorithmKind::Power, rank, iterations)
    }

    /// `krylov`, with blocks of so many columns.
    #[must_use]
    pub fn krylov(rank: usize, block: usize, iterations: u32) -> Self {
        Self {
            block: Some(block),
            ..Self::plain(AlgorithmKind::Krylov, rank, iterations)
        }
    }

    /// What is computed where nothing is said: `covariance` with four directions.
    #[must_use]
    pub fn usual() -> Self {
        Self::covariance(4)
    }

    /// `covariance`
    #[must_use]
    pub fn covariance(rank: usize) -> Self {
        Self::plain(AlgorithmKind::Covariance, rank, 1)
    }

    /// `isometric-covariance`
    #[must_use]
    pub fn isometric_covariance(rank: usize) -> Self {
        Self::plain(AlgorithmKind::IsometricCovariance, rank, 1)
    }

    /// `raked-covariance`
    #[must_use]
    pub fn raked_covariance(rank: usize) -> Self {
        Self::plain(AlgorithmKind::RakedCovariance, rank, 1)
    }

    /// Whether the algorithm is still to be chosen.
    #[must_use]
    pub fn is_auto(&self) -> bool {
        self.kind == AlgorithmKind::Auto
    }

    /// Whether the whole matrix is released at once, so that there are no iterations to choose.
    #[must_use]
    pub fn releases_the_matrix(&self) -> bool {
        matches!(
            self.kind,
            AlgorithmKind::Covariance
                | AlgorithmKind::IsometricCovariance
                | AlgorithmKind::RakedCovariance
        )
    }

    /// The exponent and the shrinkage of P, with their defaults.
    #[must_use]
    pub fn preconditioning(&self) -> (f64, f64) {
        let exponent = self.precondition_exponent.unwrap_or(PRECONDITION_EXPONENT);
        (exponent, self.precondition_shrinkage.unwrap_or(0.0))
    }

    /// How contributions are clipped of rows that fill some of so many slots; `None` where they are not.
    #[must_use]
    pub fn clip_of(&self, slots: usize) -> Option<Clip> {
        let clip = Clip {
            rule: self.clip,
            share: self.clip_share.unwrap_or(CLIP_SHARE),
            quantile: self.clip_quantile.unwrap_or(CLIP_QUANTILE),
            lag: self.clip_lag.unwrap_or(false),
            slots,
            test_epsilon: 0.0,
        };
        (!self.clip.is_none()).then_some(clip)
    }

    /// b, with its default.
    #[must_use]
    pub fn block(&self) -> usize {
        self.block.unwrap_or(self.rank)
    }

    /// How rows are divided into batches, and how many there are; `None` where all rows count in every step.
    #[must_use]
    pub fn stream(&self) -> Option<(Arrival, u32)> {
        let arrival = self.arrival.unwrap_or_default();
        (self.kind == AlgorithmKind::Streaming).then_some((arrival, self.iterations))
    }

    /// The algorithm of this table on such data.
    ///
    /// # Errors
    /// [`AlgorithmError::Iterations`] for a number of iterations the algorithm cannot run, [`AlgorithmError::Rank`] for a rank,
    /// [`AlgorithmError::Ratings`] for a method of completion without ratings, [`AlgorithmError::Unclipped`] for a clip where nothing is
    /// clipped, and others for numbers that make no algorithm.
    pub fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let (items, rank, iterations) = (facts.items, self.rank, self.iterations);
        self.check_descent()?;
        if let Some(clip) = facts.clip {
            return match self.kind {
                AlgorithmKind::Power => made(ClippedPower::new(items, rank, iterations, clip)),
                other => Err(AlgorithmError::Unclipped {
                    algorithm: other.name(),
                }),
            };
        }
        match self.kind {
            AlgorithmKind::FrankWolfe
            | AlgorithmKind::SvdCompletion
            | AlgorithmKind::ProjectedGradient => self.descent(facts),
            AlgorithmKind::Power => made(PowerMethod::new(items, rank, iterations)),
            AlgorithmKind::Momentum => {
                let momentum = self.momentum.unwrap_or(0.0);
                made(Momentum::new(items, rank, iterations, momentum))
            }
            AlgorithmKind::Krylov => made(Krylov::new(items, rank, self.block(), iterations)),
            AlgorithmKind::Auto => Err(AlgorithmError::Unchosen),
            AlgorithmKind::IsometricCovariance => {
                self.check_iterations(1)?;
                made(IsometricCovariance::new(items, rank))
            }
            AlgorithmKind::RakedCovariance => {
                self.check_iterations(1)?;
                made(RakedCovariance::new(items, rank, facts.floor))
            }
            AlgorithmKind::Pilot => {
                self.check_iterations(1)?;
                made(Pilot::new(items))
            }
            AlgorithmKind::Covariance => {
                self.check_iterations(1)?;
                made(Covariance::new(items, rank))
            }
            AlgorithmKind::Ppi if rank != 1 => Err(AlgorithmError::Rank {
                algorithm: self.kind.name(),
                found: rank,
            }),
            AlgorithmKind::Ppi => {
                let coherence = self.coherence;
                made(PrivatePowerIteration::new(items, iterations, coherence))
            }
            AlgorithmKind::Streaming => made(Streaming::new(items, rank, iterations)),
            AlgorithmKind::SpectralRidge => {
                let algorithm = self.kind.name();
                let completion = facts.completion;
                let completion = completion.ok_or(AlgorithmError::Ratings { algorithm })?;
                self.check_iterations(1 + u32::from(completion.item_means))?;
                made(SpectralRidge::new(items, rank, completion))
            }
            AlgorithmKind::Deflation => {
                let share = self.eigenvalue_share.unwrap_or(EIGENVALUE_SHARE);
                made(Deflation::new(items, rank, iterations, share))
            }
        }
    }

    /// Refuses another number of iterations than the only one that the algorithm runs.
    pub(super) fn check_iterations(&self, needed: u32) -> Result<(), AlgorithmError> {
        match self.iterations == needed {
            true => Ok(()),
            false => Err(AlgorithmError::Iterations {
                algorithm: self.kind.name(),
                needed,
                found: self.iterations,
            }),
        }
    }
}

/// An algorithm of any kind.
pub(super) fn made(
    algorithm: Result<impl Algorithm + 'static, AlgorithmError>,
) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
    algorithm.map(|algorithm| Arc::new(algorithm) as Arc<dyn Algorithm>)
}
