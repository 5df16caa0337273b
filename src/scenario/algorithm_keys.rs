//! Which keys of `[algorithm]` go together, and which numbers fit the data.

use super::error::{AlgorithmTableError, ExperimentError, PrivacyTableError};
use super::{clipping, completion, graph, numbers};
use crate::algorithm::{AlgorithmError, AlgorithmKind, ClipRule, NoiseScale, Output};
use crate::config::{AlgorithmConfig, Config};
use crate::data::Dataset;
use crate::linalg::start_block;
use crate::privacy::PrivacyError;
use crate::protocol::SessionPlanError;
use crate::vocabulary::Seed;

/// Refuses keys that the algorithm has not or that do not fit so many items, then numbers that do not.
pub(super) fn check(config: &Config, items: usize) -> Result<(), ExperimentError> {
    if config.algorithm.kind == AlgorithmKind::Auto {
        return Err(SessionPlanError::from(AlgorithmError::Unchosen).into());
    }
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
    clipping::check(config)?;
    check_precondition(config)?;
    check_own_keys(&config.algorithm, items)
}

/// Refuses what is about a file of an experiment, or about public degrees of items, where rows in memory have neither; then what
/// [`check`] refuses of the table alone.
pub(super) fn check_in_memory(
    table: &AlgorithmConfig,
    dataset: &Dataset,
) -> Result<(), AlgorithmTableError> {
    if let Some(why) = needed_beside_rows(table.kind, dataset) {
        let kind = table.kind.name();
        return Err(AlgorithmTableError::KindInMemory { kind, why });
    }
    let beyond = [
        ("start", !table.start.is_random()),
        ("precondition", !table.precondition.is_none()),
        (
            "precondition_exponent",
            table.precondition_exponent.is_some(),
        ),
        (
            "precondition_shrinkage",
            table.precondition_shrinkage.is_some(),
        ),
        ("output", table.output.is_some()),
        ("arrival", table.arrival.is_some()),
    ];
    if let Some((key, _)) = beyond.into_iter().find(|(_, given)| *given) {
        return Err(AlgorithmTableError::InMemory { key });
    }
    clipping::check_keys(table)?;
    if table.clip == ClipRule::SparseVector {
        let rule = table.clip.name();
        return Err(AlgorithmTableError::ClipInMemory { rule });
    }
    check_own_keys(table, dataset.items())
}

/// What a kind needs that these rows in memory do not have; `None` where rows are enough.
fn needed_beside_rows(kind: AlgorithmKind, dataset: &Dataset) -> Option<&'static str> {
    let interactions = matches!(dataset, Dataset::Interactions { .. });
    match kind {
        AlgorithmKind::Auto => Some("chooses an algorithm after a pilot run"),
        AlgorithmKind::Streaming => Some("takes rows batch by batch and needs their arrival"),
        AlgorithmKind::Pilot if !interactions => Some("counts interactions"),
        AlgorithmKind::RakedCovariance if !interactions => {
            Some("is proved for rows of interactions")
        }
        kind if kind.completes() => Some("predicts ratings and needs their public range"),
        _ => None,
    }
}

/// Refuses what one table says and its kind has not, or that does not fit so many items.
fn check_own_keys(table: &AlgorithmConfig, items: usize) -> Result<(), AlgorithmTableError> {
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
    } = *table;
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

/// Refuses the keys of a P where there is none, and a P where there are no items with degrees or with what it does not go with.
fn check_precondition(config: &Config) -> Result<(), AlgorithmTableError> {
    let algorithm = &config.algorithm;
    if algorithm.precondition.is_none() {
        let given = [
            ("precondition_exponent", algorithm.precondition_exponent),
            ("precondition_shrinkage", algorithm.precondition_shrinkage),
        ];
        return match given.into_iter().find(|(_, given)| given.is_some()) {
            Some((key, _)) => Err(AlgorithmTableError::PreconditionKey { key }),
            None => Ok(()),
        };
    }
    let with = |other, why| Err(AlgorithmTableError::PreconditionWith { other, why });
    if graph::is_of_vertices(config) {
        return with(
            "peers.count = \"vertices\"",
            "vertices have no public degrees",
        );
    }
    if numbers::are_meant(&config.data) && !completion::is_meant(config) {
        return with(
            "data of numbers",
            "columns of numbers have no degrees; scale them by data.ranges",
        );
    }
    if !algorithm.clip.is_none() {
        return with(
            "algorithm.clip",
            "clipped contributions are not A Q, of which P A P is made",
        );
    }
    if algorithm.output == Some(Output::LowRank) {
        return with(
            "algorithm.output = \"low-rank\"",
            "its factors would be those of P A P and not of A",
        );
    }
    Ok(())
}
