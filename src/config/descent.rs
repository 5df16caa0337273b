//! The keys of `[algorithm]` that `frank-wolfe`, `svd-completion` and `projected-gradient` have, and what they make.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::algorithm::{AlgorithmConfig, DataFacts, made};
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmKind, CompletionMode, DescentError, FrankWolfe,
    FrankWolfeParameters, Global, GlobalPart, Local, LocalStep, OjaStep, ProjectedGradient,
    StepRule, SvdCompletion,
};

/// η of `projected-gradient` where none is given.
const STEP_SIZE: f64 = 0.5;

/// What decides which releases these methods make, and so what they cost; part of a receipt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DescentKeys {
    /// `algorithm.nuclear`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nuclear: Option<f64>,
    /// `algorithm.local`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalStep>,
    /// `algorithm.global`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<GlobalPart>,
    /// `algorithm.inner`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<u32>,
    /// `algorithm.mode`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CompletionMode>,
}

impl DescentKeys {
    /// Whether no key is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl AlgorithmConfig {
    /// The keys that decide which releases a descent makes.
    #[must_use]
    pub fn descent_keys(&self) -> DescentKeys {
        DescentKeys {
            nuclear: self.nuclear,
            local: self.local,
            global: self.global,
            inner: self.inner,
            mode: self.mode,
        }
    }

    /// Refuses keys of a descent that this algorithm has not, needs, or that do not go with each other.
    pub(super) fn check_descent(&self) -> Result<(), AlgorithmError> {
        let (frank_wolfe, gradient, svd) = (
            self.kind == AlgorithmKind::FrankWolfe,
            self.kind == AlgorithmKind::ProjectedGradient,
            self.kind == AlgorithmKind::SvdCompletion,
        );
        let refuse = |key, why| {
            let algorithm = self.kind.name();
            Err(AlgorithmError::from(DescentError::Key {
                algorithm,
                key,
                why,
            }))
        };
        let moves = frank_wolfe && self.local != Some(LocalStep::Ridge);
        let products =
            frank_wolfe && matches!(self.global, Some(GlobalPart::Power | GlobalPart::Oja));
        let nowhere = "has no place: leave it out, it belongs to kind = \"frank-wolfe\"";
        let given = [
            ("step", self.step.is_some() && !frank_wolfe, nowhere),
            ("local", self.local.is_some() && !frank_wolfe, nowhere),
            ("global", self.global.is_some() && !frank_wolfe, nowhere),
            ("inner", self.inner.is_some() && !frank_wolfe, nowhere),
            ("oja_step", self.oja_step.is_some() && !frank_wolfe, nowhere),
            (
                "mode",
                self.mode.is_some() && !(frank_wolfe || svd),
                "has no place: leave it out, it belongs to kind = \"frank-wolfe\" and \"svd-completion\"",
            ),
            (
                "step_size",
                self.step_size.is_some() && !gradient,
                "has no place: leave it out, it belongs to kind = \"projected-gradient\"",
            ),
            (
                "nuclear",
                self.nuclear.is_some() && !(frank_wolfe || gradient),
                "has no place: leave it out, it belongs to kind = \"frank-wolfe\" and \"projected-gradient\"",
            ),
            (
                "nuclear",
                self.nuclear.is_some() && frank_wolfe && !moves,
                "and local = \"ridge\" has no place: a regression has no ball; leave it out",
            ),
            (
                "step",
                self.step.is_some() && frank_wolfe && !moves,
                "and local = \"ridge\" has no place: a regression makes no steps; leave it out",
            ),
            (
                "nuclear",
                self.nuclear.is_none() && (moves || gradient),
                "is missing: give the public size of the ball, in units of ratings; of the order of the largest singular value of the \
                 ratings times the number of iterations",
            ),
            (
                "inner",
                self.inner.is_some() != products && frank_wolfe,
                "belongs to global = \"power\" and \"oja\", which need it: give both or neither",
            ),
            (
                "oja_step",
                self.oja_step.is_some() && self.global != Some(GlobalPart::Oja) && frank_wolfe,
                "belongs to global = \"oja\": leave it out",
            ),
        ];
        match given.into_iter().find(|(_, wrong, _)| *wrong) {
            Some((key, _, why)) => refuse(key, why),
            None => Ok(()),
        }
    }

    /// The algorithm, of one of the three kinds.
    pub(super) fn descent(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let algorithm = self.kind.name();
        let rows = facts
            .completion
            .ok_or(AlgorithmError::Ratings { algorithm })?
            .rows;
        let (items, rank, iterations) = (facts.items, self.rank, self.iterations);
        let nuclear = self.nuclear.unwrap_or(0.0);
        let mode = self.mode.unwrap_or_default();
        match self.kind {
            AlgorithmKind::SvdCompletion => {
                self.check_iterations(1)?;
                made(SvdCompletion::new(items, rank, rows, mode))
            }
            AlgorithmKind::ProjectedGradient => {
                let numbers = (nuclear, self.step_size.unwrap_or(STEP_SIZE));
                made(ProjectedGradient::new(
                    items, rank, iterations, rows, numbers,
                ))
            }
            _ => {
                let inner = self.inner.unwrap_or(1);
                let parameters = FrankWolfeParameters {
                    rank,
                    iterations,
                    rows,
                    local: match self.local.unwrap_or(LocalStep::FrankWolfe) {
                        LocalStep::FrankWolfe => Local::FrankWolfe {
                            nuclear,
                            step: self.step.unwrap_or(StepRule::Constant),
                        },
                        LocalStep::Ridge => Local::Ridge,
                    },
                    global: match self.global.unwrap_or(GlobalPart::Covariance) {
                        GlobalPart::Covariance => Global::Covariance,
                        GlobalPart::Power => Global::Power { inner },
                        GlobalPart::Oja => Global::Oja {
                            inner,
                            step: self.oja_step.unwrap_or(OjaStep::Theorem),
                        },
                    },
                    mode,
                };
                made(FrankWolfe::new(items, parameters))
            }
        }
    }

    /// Whether published constants are asked for.
    #[must_use]
    pub fn is_published(&self) -> bool {
        self.mode == Some(CompletionMode::Paper)
    }
}
