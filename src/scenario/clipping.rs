//! Clipped contributions: which keys go with a clip, and what a curator's searches for thresholds take of the budget.

use super::error::{AlgorithmTableError, PrivacyTableError};
use crate::algorithm::{AlgorithmKind, Clip, ClipRule, Output};
use crate::config::{AlgorithmConfig, Config, EngineKind};
use crate::plan::{self, Promise};
use crate::privacy::Scheme;
use crate::vocabulary::Distribution;

/// Refuses keys of a clip where there is none, and a clip where there is nothing to clip.
pub(super) fn check_keys(algorithm: &AlgorithmConfig) -> Result<(), AlgorithmTableError> {
    let rule = algorithm.clip.name();
    let key = |key, of| Err(AlgorithmTableError::ClipKey { key, of });
    if algorithm.clip_lag == Some(true) && algorithm.clip != ClipRule::Histogram {
        return key("clip_lag", "clip = \"histogram\"");
    }
    if algorithm.clip.is_none() {
        let of = "a clip";
        return match (algorithm.clip_share, algorithm.clip_quantile) {
            (Some(_), _) => key("clip_share", of),
            (_, Some(_)) => key("clip_quantile", of),
            _ => Ok(()),
        };
    }
    if algorithm.kind != AlgorithmKind::Power {
        let kind = algorithm.kind.name();
        return Err(AlgorithmTableError::Clip { rule, kind });
    }
    Ok(())
}

/// Refuses a clip where there is nothing to clip, or with what it does not go with.
pub(super) fn check(config: &Config) -> Result<(), AlgorithmTableError> {
    let algorithm = &config.algorithm;
    check_keys(algorithm)?;
    if algorithm.clip.is_none() {
        return Ok(());
    }
    let rule = algorithm.clip.name();
    let with = |key, why| Err(AlgorithmTableError::ClipWith { key, rule, why });
    if algorithm.output == Some(Output::LowRank) {
        let why = "the sum of clipped contributions is not A X, and no factor of A";
        return with("algorithm.output = \"low-rank\"", why);
    }
    if config.evaluation.diagnostics {
        let why = "the theorem is about noise on A X, and what is clipped is no noise";
        return with("evaluation.diagnostics", why);
    }
    let engine = config.engine.kind;
    match algorithm.clip == ClipRule::SparseVector && engine != EngineKind::Central {
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
    let algorithm = &config.algorithm;
    let gaussian = promise.noise.distribution() == Distribution::Gaussian;
    // What a share is when it is not said is the table's to say, not that of how many rows there are.
    let Some(clip) = algorithm.clip_of(1).filter(|_| gaussian) else {
        return Ok(None);
    };
    if clip.rule != ClipRule::SparseVector {
        return Ok(None);
    }
    plan::search_epsilon(promise, algorithm.iterations, clip.share)
        .map(Some)
        .map_err(PrivacyTableError::from)
}

/// How rows that fill some of so many slots are clipped; `None` where they are not.
pub(super) fn of(config: &Config, slots: usize, searches: Option<f64>) -> Option<Clip> {
    let noisy = config.noise.scheme != Scheme::None;
    config.algorithm.clip_of(slots).map(|clip| Clip {
        test_epsilon: searches.filter(|_| noisy).unwrap_or(0.0),
        ..clip
    })
}
