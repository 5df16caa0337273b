//! Why a configuration makes no experiment: every message names the table and key, what was found and what to change.
//!
//! One type per table of the file, and [`ExperimentError`] over them all.

mod algorithm;
mod averaging;
mod completion;
mod data;
mod dropouts;
mod engine;
mod network;
mod pilot;
mod privacy;
mod recommender;

pub(crate) use algorithm::AlgorithmTableError;
pub use averaging::AveragingTableError;
pub(crate) use completion::CompletionTableError;
pub use data::DataTableError;
pub(crate) use dropouts::DropoutsTableError;
pub use engine::EngineTableError;
pub use network::NetworkError;
pub use pilot::PilotTableError;
pub(crate) use privacy::PrivacyTableError;
pub(crate) use recommender::RecommenderTableError;

pub(crate) use data::{obtained, tidied};

use crate::config::{ConfigError, EvaluationError};
use crate::engine::SessionError;
use crate::protocol::SessionPlanError;

/// Why an experiment cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataTableError),
    /// There is no network of peers.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// The algorithm does not fit.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmTableError),
    /// A pilot cannot be made, or cannot go before this.
    #[error(transparent)]
    Pilot(#[from] PilotTableError),
    /// Ratings cannot be predicted like this.
    #[error(transparent)]
    Completion(#[from] CompletionTableError),
    /// There is no matrix to recommend from, or not like this.
    #[error(transparent)]
    Recommender(#[from] RecommenderTableError),
    /// The privacy parameters cannot be met.
    #[error(transparent)]
    Privacy(#[from] PrivacyTableError),
    /// The values cannot be averaged that way.
    #[error(transparent)]
    Averaging(#[from] AveragingTableError),
    /// The engine cannot run this.
    #[error(transparent)]
    Engine(#[from] EngineTableError),
    /// Losses cannot be tolerated like this, or not these.
    #[error(transparent)]
    Dropouts(#[from] DropoutsTableError),
    /// The evaluation asked for is not possible.
    #[error("[evaluation] {0}")]
    Evaluation(#[from] EvaluationError),
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] SessionPlanError),
    /// The session's parts do not fit its plan.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// More memory than a participant of a session allows.
    #[error(
        "policy: session.max_memory = {limit} MiB, and this peer's part of the session takes about {needed} MiB ({largest}): refuse the session, or allow \
         as much"
    )]
    MemberMemory {
        /// Mebibytes needed.
        needed: u64,
        /// Mebibytes allowed.
        limit: u64,
        /// The largest parts, in words.
        largest: String,
    },
    /// More memory than the machine has free.
    #[error(
        "the run needs about {needed} MiB ({largest}), but only {free} MiB are free; \
         with {peers} peers x {items} items x rank {rank}, {advice}"
    )]
    Memory {
        /// Mebibytes needed.
        needed: u64,
        /// The largest parts, in words.
        largest: String,
        /// Mebibytes free.
        free: u64,
        /// Number of peers.
        peers: usize,
        /// Number of items.
        items: usize,
        /// Columns of X.
        rank: usize,
        /// What would fit.
        advice: String,
    },
}
