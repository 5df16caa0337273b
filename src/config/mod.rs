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

pub use error::ConfigError;
pub use file::read_config;
pub use overrides::OverrideError;
pub use schema::Config;
pub use study::StudyConfig;
pub use sweep::SweepConfig;

// For the Python package, and for integration tests.
#[doc(hidden)]
pub use self::{
    algorithms::AnyAlgorithmTable,
    faults_file::read_faults,
    file::{anchored, left_to_defaults, resolved},
    numbers::{DataFormat, MeanShare},
    reader::ReadTable,
    schema::{EngineConfig, EngineKind, TransportKind},
    topology::{FileSource, TopologySource},
};
#[doc(hidden)]
pub use overrides::{apply, parse_set};

pub(crate) use completion::CompletionConfig;
pub(crate) use data::{DataConfig, Family, MatrixCentre};
pub(crate) use dropouts::{DropoutsConfig, FaultsConfig, Publish};
pub(crate) use evaluation::{EvaluationConfig, EvaluationError};
pub(crate) use faults_file::faults_text;
pub(crate) use file::check_identity;
#[cfg(feature = "cli")]
pub(crate) use known_keys::keys_called;
pub(crate) use numbers::{Centre, MeansConfig, NamedCentre, RangesConfig};
pub(crate) use overrides::with;
pub(crate) use peer_name::PeerName;
pub(crate) use peers::{PeerCount, PeersConfig};
pub(crate) use pilot::PilotConfig;
#[cfg(feature = "cli")]
pub(crate) use place::Place;
pub(crate) use reader::arranged;
pub(crate) use recommender::{ItemCount, RecommenderConfig};
pub(crate) use schema::{AveragingConfig, NoiseConfig, PrivacyConfig};
pub(crate) use study::{Coherence, Cost, Dataset, StartRatio, StudyKind};
pub(crate) use sweep::{MethodConfig, Ordered, Seeds, SweptBytes, SweptError};
