//! Clipped contributions: which keys go with a clip, and what a curator's searches for thresholds take of the budget.

use super::error::{AlgorithmTableError, PrivacyTableError};
use crate::algorithm::{AlgorithmKind, Clip, ClipRule, Output};
use crate::config::{Config, EngineKind};
use crate::privacy::sparse_vector::{self, Searched};
use crate::privacy::{Budget, Scheme};

/// Refuses a clip where there is nothing to clip, or with what it does not go with.
pub(super) fn check(config: &Config) -> Result<(), AlgorithmTableError> {
    let algorithm = &config.algorithm;
    let rule = algorithm.clip.name();
    let key = |key, of| Err(AlgorithmTableError::ClipKey { key, of });
    let with = |key, why| Err(AlgorithmTableError::ClipWith { key, rule, why });
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

/// What searching for thresholds costs, and what is left for the releases, where a curator searches.
pub(super) fn searched(
    config: &Config,
    budget: Budget,
) -> Result<Option<Searched>, PrivacyTableError> {
    let algorithm = &config.algorithm;
    // What a share is when it is not said is the table's to say, not that of how many rows there are.
    let Some(clip) = algorithm.clip_of(1) else {
        return Ok(None);
    };
    if clip.rule != ClipRule::SparseVector {
        return Ok(None);
    }
    let calibration = config.privacy.calibration;
    sparse_vector::calibrate(calibration, budget, algorithm.iterations, clip.share)
        .map(Some)
        .map_err(PrivacyTableError::from)
}

/// How rows that fill some of so many slots are clipped; `None` where they are not.
pub(super) fn of(config: &Config, slots: usize, searched: Option<&Searched>) -> Option<Clip> {
    let noisy = config.noise.scheme != Scheme::None;
    let searched = searched.filter(|_| noisy);
    config.algorithm.clip_of(slots).map(|clip| Clip {
        test_epsilon: searched.map_or(0.0, |searched| searched.search_epsilon),
        ..clip
    })
}
