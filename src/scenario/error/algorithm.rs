//! What can be wrong with the `[algorithm]` table.

use crate::algorithm::{NotOnGraph, NotPreconditioned, Unsupported};
use crate::linalg::{ItemWeightsError, NotFullRank};

/// Why the `[algorithm]` table cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AlgorithmTableError {
    /// A key of what rows in memory do not have.
    #[error(
        "[algorithm] {key} is about public item degrees, batches or files that a run writes, which rows in memory do not have: leave it out, or \
         name an experiment file"
    )]
    InMemory {
        /// The key.
        key: &'static str,
    },
    /// A kind that needs more than rows in memory.
    #[error(
        "[algorithm] kind = \"{kind}\" {why}, which rows in memory do not have: name an experiment file, or choose another kind, such as \
         krylov, power or covariance"
    )]
    KindInMemory {
        /// The kind's name.
        kind: &'static str,
        /// What it needs.
        why: &'static str,
    },
    /// A clip whose search for a threshold only an experiment gives its part of the budget.
    #[error(
        "[algorithm] clip = \"{rule}\" searches for a threshold with a part of the budget that is planned of an experiment file: name one, or set \
         clip = \"histogram\" or \"geometric\""
    )]
    ClipInMemory {
        /// The rule's name.
        rule: &'static str,
    },
    /// The rank does not fit the items.
    #[error(
        "[algorithm] rank = {rank} needs at least that many items, but {items} are left: lower rank or raise data.items"
    )]
    Rank {
        /// The rank asked for.
        rank: usize,
        /// Items after the filters.
        items: usize,
        /// Why no start block exists.
        source: NotFullRank,
    },
    /// An algorithm that does not run on a private graph.
    #[error("[algorithm] {0}")]
    OnGraph(#[from] NotOnGraph),
    /// An algorithm that something of the experiment does not go with.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// A number of P where there is no P.
    #[error("[algorithm] {key} belongs to precondition = \"items\": set that or leave {key} out")]
    PreconditionKey {
        /// The key.
        key: &'static str,
    },
    /// A P where there is nothing to weigh, or with what it has not been shown to go with.
    #[error("[algorithm] precondition = \"items\" with {other}: {why}; leave one of them out")]
    PreconditionWith {
        /// The other setting.
        other: &'static str,
        /// Why the two do not go together.
        why: &'static str,
    },
    /// An algorithm that P does not go with.
    #[error("{0}")]
    Preconditioned(#[from] NotPreconditioned),
    /// Numbers from which no P follows.
    #[error("{0}")]
    ItemWeights(#[from] ItemWeightsError),
    /// Weights for releases that have shares of their own, or of which a record meets one.
    #[error(
        "privacy.budget has weights, but the releases of algorithm.kind = \"{kind}\" have shares of their own or meet different records: \
         leave it at \"even\""
    )]
    Weights {
        /// The algorithm.
        kind: &'static str,
    },
    /// A key that is about sums of contributions as long as they are.
    #[error("{key} with algorithm.clip = \"{rule}\": {why}; leave one of them out")]
    ClipWith {
        /// The other key.
        key: &'static str,
        /// The rule.
        rule: &'static str,
        /// Why the two do not go together.
        why: &'static str,
    },
    /// AboveThreshold without a curator.
    #[error(
        "[algorithm] clip = \"sparse-vector\" with engine.kind = \"{engine}\": this reconstruction compares a secret count with a secret threshold, which is no \
         noisy sum, so that only a curator who sees all rows can run it; set engine.kind = \"central\", or clip = \"histogram\""
    )]
    SparseVector {
        /// The engine.
        engine: &'static str,
    },
}
