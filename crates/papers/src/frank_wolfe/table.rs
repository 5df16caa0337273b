//! The keys of `frank-wolfe`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::CompletionMode;
use super::{
    FrankWolfe, FrankWolfeCompleter, FrankWolfeParameters, Global, GlobalPart, Local, LocalStep,
    OjaStep, StepRule,
};
use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmTable, Completer, CompleterParts, DataFacts,
    DataRequirements, PartsError, Program,
};

/// `[algorithm]` with `kind = "frank-wolfe"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrankWolfeTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: directions.
    pub iterations: u32,
    /// k: the nuclear norm of the ball that is searched, in units of ratings; `local = "ridge"` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nuclear: Option<f64>,
    /// How far a step moves towards a direction: `"constant"` (where absent) or `"standard"`; `local = "ridge"` has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<StepRule>,
    /// What users do with the directions: `"frank-wolfe"` (where absent) or `"ridge"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local: Option<LocalStep>,
    /// How a direction is found: `"covariance"` (where absent), `"power"` or `"oja"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub global: Option<GlobalPart>,
    /// Γ: products that `"power"` or `"oja"` make for one direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inner: Option<u32>,
    /// The step of `global = "oja"`: `"theorem"` (where absent) or `"printed"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oja_step: Option<OjaStep>,
    /// Whose constants: `"tight"` (where absent) or `"paper"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<CompletionMode>,
}

impl AlgorithmTable for FrankWolfeTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        self.check()?;
        let rows = facts.rated("frank-wolfe")?.rows;
        let inner = self.inner.unwrap_or(1);
        let parameters = FrankWolfeParameters {
            rank: self.rank,
            iterations: self.iterations,
            rows,
            local: match self.local.unwrap_or(LocalStep::FrankWolfe) {
                LocalStep::FrankWolfe => Local::FrankWolfe {
                    nuclear: self.nuclear.unwrap_or(0.0),
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
            mode: self.mode.unwrap_or_default(),
        };
        Ok(Arc::new(FrankWolfe::new(facts.items, parameters)?))
    }

    fn sketch(&self) -> Option<Program> {
        None
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            completes: true,
            published: self.mode == Some(CompletionMode::Paper),
            ..DataRequirements::default()
        }
    }

    fn completer(parts: &CompleterParts) -> Result<Option<Box<dyn Completer>>, PartsError> {
        parts.made(FrankWolfeCompleter::METHOD, FrankWolfeCompleter::of)
    }
}

impl FrankWolfeTable {
    /// Refuses keys that do not go with each other.
    fn check(&self) -> Result<(), AlgorithmError> {
        let moves = self.local != Some(LocalStep::Ridge);
        let products = matches!(self.global, Some(GlobalPart::Power | GlobalPart::Oja));
        let wrong = [
            (
                "nuclear",
                self.nuclear.is_some() && !moves,
                "and local = \"ridge\" has no place: a regression has no ball; leave it out",
            ),
            (
                "step",
                self.step.is_some() && !moves,
                "and local = \"ridge\" has no place: a regression makes no steps; leave it out",
            ),
            (
                "nuclear",
                self.nuclear.is_none() && moves,
                "is missing: give the public size of the ball, in units of ratings; of the order of the largest singular value of the \
                 ratings times the number of iterations",
            ),
            (
                "inner",
                self.inner.is_some() != products,
                "belongs to global = \"power\" and \"oja\", which need it: give both or neither",
            ),
            (
                "oja_step",
                self.oja_step.is_some() && self.global != Some(GlobalPart::Oja),
                "belongs to global = \"oja\": leave it out",
            ),
        ];
        match wrong.into_iter().find(|(_, wrong, _)| *wrong) {
            Some((key, _, why)) => Err(AlgorithmError::key(
                key,
                format!("with algorithm.kind = \"frank-wolfe\" {why}"),
            )),
            None => Ok(()),
        }
    }
}
