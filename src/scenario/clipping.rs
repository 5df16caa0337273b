//! Clipped contributions: which keys go with a clip, and what a curator's searches for thresholds take of the budget.

use super::error::{AlgorithmTableError, PrivacyTableError};
use crate::config::{Config, EngineKind};
use crate::papers::{Clip, ClipRule};
use crate::plan::{self, Promise};
use crate::privacy::Scheme;
use crate::vocabulary::Distribution;

/// Refuses a clip with what it does not go with.
pub(super) fn check(config: &Config) -> Result<(), AlgorithmTableError> {
    let Some(Clip { rule, .. }) = config.algorithm.clip(1) else {
        return Ok(());
    };
    if config.evaluation.diagnostics {
        return Err(AlgorithmTableError::ClipWith {
            key: "evaluation.diagnostics",
            rule: rule.name(),
            why: "the theorem is about noise on A X, and what is clipped is no noise",
        });
    }
    let engine = config.engine.kind;
    match rule == ClipRule::SparseVector && engine != EngineKind::Central {
        true => Err(AlgorithmTableError::SparseVector {
            engine: engine.name(),
        }),
        false => Ok(()),
    }
}

/// ε_s of every search for a threshold, where a curator searches. Searches go with clipped quantities, of which nothing is proved in absolute values:
/// their Laplace plans are refused.
pub(super) fn search_epsilon(
    config: &Config,
    promise: &Promise,
) -> Result<Option<f64>, PrivacyTableError> {
    let table = config.algorithm.table();
    let gaussian = promise.noise.distribution() == Distribution::Gaussian;
    // What a share is when it is not said is the table's to say, not that of how many rows there are.
    let Some(clip) = config.algorithm.clip(1).filter(|_| gaussian) else {
        return Ok(None);
    };
    if clip.rule != ClipRule::SparseVector {
        return Ok(None);
    }
    plan::search_epsilon(promise, table.iterations(), clip.share)
        .map(Some)
        .map_err(PrivacyTableError::from)
}

/// How rows that fill some of so many slots are clipped; `None` where they are not.
pub(super) fn of(config: &Config, slots: usize, searches: Option<f64>) -> Option<Clip> {
    let noisy = config.noise.scheme != Scheme::None;
    config.algorithm.clip(slots).map(|clip| Clip {
        test_epsilon: searches.filter(|_| noisy).unwrap_or(0.0),
        ..clip
    })
}
