//! From a configuration to a validated [`Experiment`]: data, network, noise plan, rounds, memory.
//!
//! Resolving reads the data, filters it, deals it to the peers, builds both graphs, plans the noise and checks that
//! all of it fits together. Whatever holds an [`Experiment`] can rely on that, since nothing of it can be changed.

mod algorithm_keys;
mod arranged;
mod assumptions;
mod averaging;
mod clipping;
mod clock;
mod compared;
mod completion;
mod data_summary;
mod defaults;
mod deployment;
pub(crate) mod divisor;
mod dropouts;
mod error;
mod experiment;
pub(crate) mod filters;
pub(crate) mod graph;
mod held;
mod held_out;
mod in_memory;
mod labels;
mod materials;
pub(crate) mod memory;
mod named_algorithm;
mod network;
pub(crate) mod numbers;
mod peer_names;
mod pilot;
mod placement;
mod planning;
mod preconditioning;
mod promise;
mod rating;
mod rating_scale;
mod rating_test;
mod recommender;
mod resolve;
mod rows;
mod rules;
mod runner;
mod session;
mod setting;
mod stated_lists;
#[cfg(test)]
pub(crate) mod testing;
mod training;
mod warning;
mod warnings;

pub use error::{DataTableError, ExperimentError, NetworkError};
pub use experiment::Experiment;
pub use materials::Materials;
pub use named_algorithm::simulation;
pub use warning::Warning;

// For the command `undertone node`, and for integration tests.
#[doc(hidden)]
pub use self::{
    deployment::{
        Deployment, DeploymentError, OwnRows, PlannedSession, SessionDraft, SessionTables,
    },
    error::{AveragingTableError, EngineTableError, PilotTableError},
    memory::{FACTOR as MEMORY_FACTOR, MemoryPlan},
};

pub(crate) use assumptions::Assumed;
pub(crate) use clock::Clock;
pub(crate) use data_summary::DataSummary;
pub(crate) use dropouts::MOST_RETRIES;
pub(crate) use error::{AlgorithmTableError, CompletionTableError};
pub(crate) use error::{obtained, tidied};
pub(crate) use held_out::HeldOut;
pub(crate) use materials::HeldKey;
pub(crate) use preconditioning::Preconditioning;
pub(crate) use preconditioning::of as preconditioning_of;
pub(crate) use rating_scale::RatingScale;
pub(crate) use rating_test::RatingTest;
#[cfg(not(feature = "node"))]
pub(crate) use runner::without_node::NoNode;
pub(crate) use stated_lists::{ItemSource, StatedItems, UserSource};
pub(crate) use training::{training_data, training_ratings};
