//! What `[algorithm]` does not go with, and which of its counts fit the data.

use super::error::{AlgorithmTableError, ExperimentError, PrivacyTableError};
use super::rules::{Rule, keep};
use super::{clipping, completion, graph};
use crate::algorithm::{AlgorithmError, Output};
use crate::config::{AnyAlgorithmTable, Config};
use crate::data::Dataset;
use crate::linalg::start_block;
use crate::papers::ClipRule;
use crate::privacy::PrivacyError;
use crate::protocol::SessionPlanError;
use crate::vocabulary::{Quantity, Seed};

/// Refuses keys of other tables that the algorithm does not go with, then numbers that do not fit so many items.
pub(super) fn check(config: &Config, items: usize) -> Result<(), ExperimentError> {
    if config.algorithm.is_auto() {
        return Err(SessionPlanError::from(AlgorithmError::Unchosen).into());
    }
    clipping::check(config)?;
    check_precondition(config)?;
    check_counts(config, items)
}

/// Refuses a rank or iterations of 0, and more columns than there are items.
fn check_counts(config: &Config, items: usize) -> Result<(), ExperimentError> {
    let table = config.algorithm.table();
    let (rank, iterations) = (table.rank(), table.iterations());
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

/// Refuses what is about a file of an experiment, or about public degrees of items, where rows in memory have neither; then searches that only an
/// experiment plans.
pub(super) fn check_in_memory(
    algorithm: &AnyAlgorithmTable,
    dataset: &Dataset,
) -> Result<(), AlgorithmTableError> {
    let table = algorithm.table();
    if let Some(why) = needed_beside_rows(algorithm, dataset) {
        let kind = algorithm.name();
        return Err(AlgorithmTableError::KindInMemory { kind, why });
    }
    let required = table.requirements();
    let weights = required.weights;
    let beyond = [
        ("start", !required.start.is_random()),
        ("precondition", !weights.source.is_none()),
        ("precondition_exponent", weights.exponent.is_some()),
        ("precondition_shrinkage", weights.shrinkage.is_some()),
        ("output", required.output != Output::Basis),
    ];
    if let Some((key, _)) = beyond.into_iter().find(|(_, given)| *given) {
        return Err(AlgorithmTableError::InMemory { key });
    }
    match algorithm.clip(1) {
        Some(clip) if clip.rule == ClipRule::SparseVector => {
            let rule = clip.rule.name();
            Err(AlgorithmTableError::ClipInMemory { rule })
        }
        _ => Ok(()),
    }
}

/// What a kind needs that these rows in memory do not have; `None` where rows are enough.
fn needed_beside_rows(algorithm: &AnyAlgorithmTable, dataset: &Dataset) -> Option<&'static str> {
    let required = algorithm.table().requirements();
    if algorithm.is_auto() {
        return Some("chooses an algorithm after a pilot run");
    }
    if required.arrival.is_some() {
        return Some("takes rows batch by batch and needs their arrival");
    }
    if required.completes {
        return Some("predicts ratings and needs their public range");
    }
    if matches!(dataset, Dataset::Interactions { .. }) {
        return None;
    }
    let first = algorithm
        .table()
        .sketch()?
        .releases
        .first()?
        .blocks
        .first()?
        .quantity;
    match first {
        Quantity::TailCounts => Some("counts interactions"),
        Quantity::TriangleAndMargins => Some("is proved for rows of interactions"),
        _ => None,
    }
}

/// What a P does not go with.
const PRECONDITION: &[Rule] = &[
    (
        "peers.count = \"vertices\"",
        graph::is_of_vertices,
        "vertices have no public degrees",
    ),
    (
        "data of numbers",
        |config| config.data.is_of_numbers() && !completion::is_meant(config),
        "columns of numbers have no degrees; scale them by data.ranges",
    ),
    (
        "algorithm.output = \"low-rank\"",
        |config| config.algorithm.table().requirements().output == Output::LowRank,
        "its factors would be those of P A P and not of A",
    ),
];

/// Refuses the keys of a P where there is none, and a P where there are no items with degrees or with what it does not go with.
fn check_precondition(config: &Config) -> Result<(), AlgorithmTableError> {
    let weights = config.algorithm.weights();
    if weights.source.is_none() {
        let given = [
            ("precondition_exponent", weights.exponent),
            ("precondition_shrinkage", weights.shrinkage),
        ];
        return match given.into_iter().find(|(_, given)| given.is_some()) {
            Some((key, _)) => Err(AlgorithmTableError::PreconditionKey { key }),
            None => Ok(()),
        };
    }
    keep(PRECONDITION, config, |other, why| {
        AlgorithmTableError::PreconditionWith { other, why }
    })
}
