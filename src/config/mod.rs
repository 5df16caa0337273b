//! What experiment files can say: tables, keys, defaults, and overrides of them.
//!
//! A [`Config`] is what a file says, and may contradict itself; whether it makes an experiment is for
//! [`Experiment`](crate::scenario::Experiment) to find out. Nothing here reads data or builds a graph unasked.

mod algorithms;
mod completion;
mod data;
mod dropouts;
mod elsewhere;
mod error;
mod evaluation;
mod faults_file;
mod file;
mod known_keys;
mod numbers;
mod overrides;
mod peer_name;
mod peers;
mod pilot;
#[cfg(feature = "cli")]
mod place;
mod reader;
mod recommender;
mod remedy;
mod schema;
mod study;
mod sweep;
mod table_keys;
mod tagged;
mod topology;

pub use algorithms::{AnyAlgorithmTable, ComparedAlgorithm};
pub use completion::CompletionConfig;
pub use data::{
    BipartiteTable, DataConfig, Family, GraphTable, InteractionsTable, MatrixCentre, MatrixTable,
    RatingsTable,
};
pub use dropouts::{DropoutsConfig, FaultsConfig, Publish};
pub use error::ConfigError;
pub use evaluation::{EvaluationConfig, EvaluationError};
pub use faults_file::{faults_text, read_faults};
pub use file::{anchored, left_to_defaults, read_config, resolved};
pub use numbers::{
    Centre, DataFormat, MeanShare, MeansConfig, NamedCentre, RangesConfig, RatingValues,
};
pub use overrides::{OverrideError, apply, parse_set};
pub use peer_name::PeerName;
pub use peers::{PeerCount, PeersConfig};
pub use pilot::PilotConfig;
pub use reader::ReadTable;
pub(crate) use reader::arranged;
pub use recommender::{AutoFloor, ItemCount, RecommenderConfig};
pub use schema::{
    AveragingConfig, CompareConfig, Config, EngineConfig, EngineKind, NoiseConfig, PrivacyConfig,
    TransportKind,
};
pub use study::{Coherence, Cost, Dataset, Ranks, StartRatio, StudyConfig, StudyKind};
pub use sweep::{MethodConfig, Ordered, Seeds, SweepConfig, SweptBytes, SweptError};
pub use topology::{EdgesSource, FileSource, TopologySource};

pub(crate) use file::check_identity;
#[cfg(feature = "cli")]
pub(crate) use known_keys::keys_called;
pub(crate) use overrides::with;
#[cfg(feature = "cli")]
pub(crate) use place::Place;
