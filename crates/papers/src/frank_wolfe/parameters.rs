//! The public numbers of a Frank–Wolfe iteration, and their names in experiment files.

use serde::{Deserialize, Serialize};

use super::super::CompletionMode;
use crate::algorithm::{AlgorithmError, MAX_ITERATIONS, RatedRows};

/// How far a row goes towards a new direction: `algorithm.step` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepRule {
    /// η = 1/T in all T steps. The start, zero, keeps a weight of (1 − 1/T)^T ≈ 1/e: this never converges to the minimum over
    /// the ball, and under noise it is the better rule, because it shrinks.
    #[default]
    Constant,
    /// η = 2/(t + 2), t from 0: the rule of the literature, which converges. Its first step has η = 1, a whole k along the first direction.
    Standard,
}

impl StepRule {
    /// η of step t, from 0, of T.
    #[must_use]
    pub fn size(self, step: usize, steps: u32) -> f64 {
        match self {
            Self::Constant => f64::from(steps.max(1)).recip(),
            Self::Standard => 2.0 / (step as f64 + 2.0),
        }
    }
}

/// What a peer does with directions: `algorithm.local` of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LocalStep {
    /// Steps towards each.
    FrankWolfe,
    /// A ridge regression of the user's row on all of them.
    Ridge,
}

/// How a direction is found: `algorithm.global` of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GlobalPart {
    /// From the matrix.
    Covariance,
    /// From products with it, by the power method.
    Power,
    /// From products with it, by Oja's method.
    Oja,
}

/// The step of Oja's method on A with noise of standard deviation σ per coordinate: `algorithm.oja_step` of an experiment file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OjaStep {
    /// 1/(σ√(nΓ)), that of the theorem.
    #[default]
    Theorem,
    /// 1/(Γσ√n), as printed in the algorithm: √Γ too small.
    Printed,
}

/// What a peer does with directions, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Local {
    /// y ← (1 − η)y − ηk(⟨a, v⟩/λ)·v, where a is the residual.
    FrankWolfe {
        /// k, the nuclear norm of the ball that is searched, in units of ratings.
        nuclear: f64,
        /// η.
        step: StepRule,
    },
    /// y = Vc with the c that minimises ‖(Vc − y*)_Ω‖² + Σ_j ρ_j c_j², ρ_j = m·R²/(n·λ_j²).
    ///
    /// It is the mean of y given the ratings, if the coefficient of direction j has variance λ_j²/m and what is left of a rating
    /// R²/n: both are public, and as if every user had rated everything. How much is rated is private, so directions are shrunk by
    /// more than if it were known.
    Ridge,
}

/// How a direction is found, with its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Global {
    /// One release of n(n+1)/2 numbers.
    Covariance,
    /// Γ releases of n numbers.
    Power {
        /// Γ.
        inner: u32,
    },
    /// Γ releases of n numbers.
    Oja {
        /// Γ.
        inner: u32,
        /// η.
        step: OjaStep,
    },
}

/// The public numbers of [`FrankWolfe`](crate::FrankWolfe), the dimension apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrankWolfeParameters {
    /// Directions that make the reported basis, the first ones.
    pub rank: usize,
    /// Steps T.
    pub iterations: u32,
    /// What is public of the rows. Its radius is R, to which residuals are shortened before they are squared; of the published algorithm
    /// it is L, the bound on rows.
    pub rows: RatedRows,
    /// What a peer does with directions.
    pub local: Local,
    /// How a direction is found.
    pub global: Global,
    /// Our constants, or the published ones.
    pub mode: CompletionMode,
}

impl FrankWolfeParameters {
    /// Releases per step.
    pub(super) fn inner(&self) -> u32 {
        match self.global {
            Global::Covariance => 1,
            Global::Power { inner } | Global::Oja { inner, .. } => inner,
        }
    }

    /// Releases of all steps; as published the last step makes none.
    #[must_use]
    pub fn releases(&self) -> u32 {
        let steps = match self.mode {
            CompletionMode::Tight => self.iterations,
            CompletionMode::Paper => self.iterations.saturating_sub(1),
        };
        steps.saturating_mul(self.inner())
    }

    /// Refuses what makes no Frank–Wolfe iteration.
    pub(super) fn check(&self) -> Result<(), AlgorithmError> {
        if let Local::FrankWolfe { nuclear, .. } = self.local {
            AlgorithmError::positive("nuclear", nuclear)?;
        }
        let published = self.mode == CompletionMode::Paper;
        // As published the last step releases nothing.
        let least = if published { 2 } else { 1 };
        let (most, steps) = (MAX_ITERATIONS as usize, self.iterations as usize);
        AlgorithmError::count("algorithm.iterations", (least, most), steps)?;
        if let Global::Power { inner } | Global::Oja { inner, .. } = self.global {
            AlgorithmError::count("algorithm.inner", (1, most / steps), inner as usize)?;
        }
        if published && !self.is_as_published() {
            return Err(AlgorithmError::key(
                "mode",
                "= \"paper\" is the published algorithm, with step = \"constant\", local = \"frank-wolfe\" and global = \"covariance\": leave \
                 those out, or set mode = \"tight\"",
            ));
        }
        Ok(())
    }

    /// Whether these are settings of the published algorithm.
    #[must_use]
    pub fn is_as_published(&self) -> bool {
        let constant = |step| step == StepRule::Constant;
        matches!(self.local, Local::FrankWolfe { step, .. } if constant(step))
            && self.global == Global::Covariance
    }

    /// All numbers by name.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, f64)> {
        let mut all = vec![
            ("rank", self.rank as f64),
            ("steps", f64::from(self.iterations)),
            ("mode", f64::from(self.mode as u8)),
        ];
        all.extend(self.rows.settings());
        match self.local {
            Local::FrankWolfe { nuclear, step } => {
                all.extend([("nuclear", nuclear), ("step", f64::from(step as u8))]);
            }
            Local::Ridge => all.push(("ridge", 1.0)),
        }
        match self.global {
            Global::Covariance => {}
            Global::Power { inner } => all.push(("power", f64::from(inner))),
            Global::Oja { inner, step } => {
                all.extend([
                    ("oja", f64::from(inner)),
                    ("oja step", f64::from(step as u8)),
                ]);
            }
        }
        all
    }
}
