//! Which keys of `[algorithm]` go together, and which numbers fit the data.

use super::clipping;
use super::error::{AlgorithmTableError, ExperimentError, PrivacyTableError};
use crate::algorithm::{AlgorithmKind, NoiseScale, Output};
use crate::config::{AlgorithmConfig, Config};
use crate::linalg::start_block;
use crate::privacy::PrivacyError;
use crate::vocabulary::Seed;

/// Refuses keys that the algorithm has not or that do not fit so many items, then numbers that do not.
pub(super) fn check(config: &Config, items: usize) -> Result<(), ExperimentError> {
    check_keys(config, items)?;
    check_counts(config, items)
}

/// Refuses a rank or iterations of 0, and more columns than there are items.
fn check_counts(config: &Config, items: usize) -> Result<(), ExperimentError> {
    let AlgorithmConfig {
        rank, iterations, ..
    } = config.algorithm;
    if rank == 0 {
        let name = "algorithm.rank";
        return Err(PrivacyTableError::from(PrivacyError::Zero { name }).into());
    }
    if iterations == 0 {
        return Err(PrivacyTableError::from(PrivacyError::Iterations).into());
    }
    // Whoever asks for more has no starting block, which says why.
    let start = |source| AlgorithmTableError::Rank {
        rank,
        items,
        source,
    };
    if rank > items {
        start_block(&Seed::from_u64(config.seed), items, rank).map_err(start)?;
    }
    Ok(())
}

/// Refuses keys that the algorithm has not, or that do not fit, and asks for those it needs.
fn check_keys(config: &Config, items: usize) -> Result<(), AlgorithmTableError> {
    let AlgorithmConfig {
        kind,
        rank,
        block,
        momentum,
        eigenvalue_share,
        scale,
        coherence,
        arrival,
        output,
        ..
    } = config.algorithm;
    clipping::check(config)?;
    if output == Some(Output::LowRank) && kind != AlgorithmKind::Power {
        return Err(AlgorithmTableError::Output { kind: kind.name() });
    }
    if arrival.is_some() && kind != AlgorithmKind::Streaming {
        return Err(AlgorithmTableError::Arrival { kind: kind.name() });
    }
    let matched = match scale {
        Some(NoiseScale::Fixed) => coherence.is_some(),
        Some(NoiseScale::Adaptive) | None => coherence.is_none(),
    };
    if !matched || (scale.is_some() && kind != AlgorithmKind::Ppi) {
        return Err(AlgorithmTableError::Scale { kind: kind.name() });
    }
    if let Some(found) = eigenvalue_share
        && kind != AlgorithmKind::Deflation
    {
        let kind = kind.name();
        return Err(AlgorithmTableError::EigenvalueShare { found, kind });
    }
    let fits = momentum.is_none_or(|beta| beta.is_finite() && beta >= 0.0);
    if momentum.is_some() != (kind == AlgorithmKind::Momentum) || !fits {
        let kind = kind.name();
        return Err(AlgorithmTableError::Momentum {
            found: momentum,
            kind,
        });
    }
    match block {
        Some(block) if kind != AlgorithmKind::Krylov || !(rank..=items).contains(&block) => {
            Err(AlgorithmTableError::Block {
                block,
                kind: kind.name(),
                rank,
                items,
            })
        }
        _ => Ok(()),
    }
}
