//! What the end of a run may depend on: every error, warning and refusal, and what it lets out.
//!
//! ε covers what is published under noise. A run also ends, with an exit code and a text, and whoever sees that it ended
//! learns what the end depends on. Were that the data, one bit would be out that no noise covers: a refusal at "rank below
//! p" tells the rank of the raw matrix with certainty.
//!
//! # Statement
//! Take two data sets with the same list of users and the same list of items, read from well-formed files, and one
//! experiment with noise. Where hashes of names deal users to peers and no file lists them, take two with any users. Then `undertone run` ends with the same exit code and the same standard error on both, but for
//! what is computed from the released numbers, and for what the machine does.
//!
//! # Argument
//! Up to the first iteration the data enter only as rows, which nothing looks at but the filters and the peers; every
//! refusal before it is a function of the settings and of the two lists. From then on the engine sees the data
//! through noisy contributions alone, and all that can fail is a function of these (post-processing). After it, figures
//! are measured against the raw data; where one does not exist it is a null with a reason inside
//! [`Summary::not_for_publication`](super::summary::NotForPublication), and nothing there returns an error.
//!
//! # Every way to end
//! [`Discloses`] sorts every error of a run into one of the classes of [`Dependence`]; its matches name every variant, so
//! that a new one does not compile before it is sorted. There is no class for private data: what would belong there must
//! not be an error.
//!
//! | What | Class |
//! |---|---|
//! | settings that contradict each other, graphs, noise plans, averaging schedules, ranks and blocks against the number of items, peers against the number of users | [`Public`](Dependence::Public) |
//! | a test file none of whose users is known | [`Public`](Dependence::Public): the lists of users; no error where the list is private |
//! | `algorithm.start = "popularity"` without a start block | [`Public`](Dependence::Public): that start declares the item degrees public, and a warning says so |
//! | a noisy sum without a unique basis, an overflow of noisy values, a query that is not orthonormal, a message that breaks the protocol | [`Release`](Dependence::Release) |
//! | a rating file that is not in its format | [`Format`](Dependence::Format) |
//! | files, memory, sockets, time | [`Machine`](Dependence::Machine) |
//! | no interaction at all, without noise | [`Unprotected`](Dependence::Unprotected) |
//! | a picture that cannot be drawn, a lost task | [`Defect`](Dependence::Defect) |
//!
//! # What used to be an error and is not
//! No interaction left (under noise), nobody with a held-out interaction, a non-private or curator's run without a basis,
//! exact eigenvectors that do not exist or take too long, a method to compare with that comes to no end: each is a null with a reason.
//!
//! # Warnings and progress
//! Warnings are computed from the settings, the graphs, the noise plan and the *number* of users where it is public; that no direction of a released Gram
//! matrix stands out of the noise is computed from the release and the public item degrees. Progress counts steps of the plan. None sees the rows.
//!
//! # What is left
//! - Time and memory: how long a run takes moves with the number of interactions, and so does whether the machine runs out of
//!   memory. The refusal beforehand does not; it asks for what the public sizes need.
//! - The list of items where `data.items` picks the most rated: it is a function of the data and taken to be public.
//! - A sweep and a study measure against the raw data throughout, and a sweep warns where exact eigenvectors are out of reach,
//!   which the number of interactions decides: what they print and write is for the holder of the data.
//! - Standard output, `summary.json`, `report.html` and the like hold figures measured on the raw data; they are for its
//!   holder and marked so.

use super::engine::RunError;
use super::faults::FaultsError;
use crate::config::{ConfigError, EvaluationError};
use crate::data::{DataError, DatasetError};
use crate::engine::EngineError;
#[cfg(feature = "node")]
use crate::node::HostError;
use crate::protocol::PeerError;
use crate::scenario::{
    AlgorithmTableError, CompletionTableError, DataTableError, EngineTableError, ExperimentError,
    NetworkError, PilotTableError,
};

/// What a way to end a run depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependence {
    /// Only what everybody may know: settings, graphs, the lists of users and items.
    Public,
    /// Only what the run publishes under noise, which ε covers however it is processed.
    Release,
    /// Whether a file is a data set at all. Neighbours are data sets, so this tells none from another; it is said to
    /// the file's reader before anything is computed or sent.
    Format,
    /// What the system, the network or the clock did.
    Machine,
    /// The data, where the settings ask for no noise: such a run protects nobody, and says so.
    Unprotected,
    /// A defect of this program.
    Defect,
}

/// An error that knows what it depends on.
pub trait Discloses {
    /// What seeing this error tells about.
    fn dependence(&self) -> Dependence;
}

impl Discloses for ExperimentError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Config(error) => error.dependence(),
            Self::Data(error) => error.dependence(),
            Self::Network(error) => error.dependence(),
            Self::Algorithm(error) => error.dependence(),
            Self::Completion(error) => error.dependence(),
            Self::Pilot(error) => error.dependence(),
            // Keys against each other.
            Self::Recommender(_) => Dependence::Public,
            Self::Engine(error) => error.dependence(),
            Self::Evaluation(error) => error.dependence(),
            // Whole layers that the data never reach: noise plans, schedules, values.
            Self::Session(_)
            | Self::Privacy(_)
            | Self::Averaging(_)
            | Self::Dropouts(_)
            | Self::Plan(_) => Dependence::Public,
            Self::Memory { .. } | Self::MemberMemory { .. } => Dependence::Machine,
        }
    }
}

impl Discloses for ConfigError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Override(_)
            | Self::Parse { .. }
            | Self::PathNotText { .. }
            | Self::Name { .. }
            | Self::Seed { .. } => Dependence::Public,
            Self::Read { .. } => Dependence::Machine,
        }
    }
}

// Settings against each other and against the lists of users and items are public.

impl Discloses for DataTableError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Key { .. }
            | Self::NumbersAdjacency { .. }
            | Self::RatingClip { .. }
            | Self::Image { .. }
            | Self::ItemsHash { .. }
            | Self::UsersHash { .. } => Dependence::Public,
            Self::Data(error) => error.dependence(),
            Self::MissingData { .. } => Dependence::Machine,
            // Whether the file holds a graph at all.
            Self::Graph(_) | Self::UnknownPeer { .. } => Dependence::Format,
            Self::NoInteractions { .. } => Dependence::Unprotected,
        }
    }
}

impl Discloses for NetworkError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Topology(_)
            | Self::NoiseTopology(_)
            | Self::PeerMatch(_)
            | Self::PrivateEdges { .. }
            | Self::Hashed { .. }
            | Self::HashedUnlisted { .. }
            | Self::NodeCount { .. } => Dependence::Public,
            Self::Peers(error) => error.dependence(),
        }
    }
}

impl Discloses for AlgorithmTableError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::InMemory { .. }
            | Self::KindInMemory { .. }
            | Self::ClipInMemory { .. }
            | Self::Rank { .. }
            | Self::Weights { .. }
            | Self::OnGraph(_)
            | Self::Unsupported(_)
            | Self::ClipWith { .. }
            | Self::SparseVector { .. }
            | Self::PreconditionKey { .. }
            | Self::PreconditionWith { .. }
            | Self::Preconditioned(_)
            // Degrees are public where weights are made of them.
            | Self::ItemWeights(_) => Dependence::Public,
        }
    }
}

impl Discloses for CompletionTableError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Key { .. }
            | Self::Algorithm { .. }
            | Self::TestShare { .. }
            | Self::Adjacency { .. }
            | Self::PublishedReplace => Dependence::Public,
        }
    }
}

impl Discloses for PilotTableError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Share { .. }
            | Self::Nothing
            | Self::With { .. }
            | Self::Follows { .. }
            | Self::NotChosen { .. }
            | Self::Open { .. }
            | Self::Unproved(_) => Dependence::Public,
        }
    }
}

impl Discloses for EngineTableError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Latency { .. }
            | Self::Loss { .. }
            | Self::Probes { .. }
            | Self::AnalyticRing
            | Self::AnalyticRelease { .. } => Dependence::Public,
        }
    }
}

impl Discloses for EvaluationError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::ReferenceFloor
            | Self::HoldoutAndTest
            | Self::Top
            | Self::HoldoutOfMatrix { .. }
            | Self::Holdout(_)
            | Self::OtherUsers => Dependence::Public,
            Self::Test(error) => error.dependence(),
        }
    }
}

impl Discloses for DataError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Threshold { .. }
            | Self::Preparation(_)
            | Self::Generated(_)
            | Self::SizesPartition => Dependence::Public,
            Self::Dataset(error) => error.dependence(),
            // A limit on rows, where one is promised, is part of what makes a file a data set.
            Self::Line { .. }
            | Self::Array { .. }
            | Self::Sparse { .. }
            | Self::Columns(_)
            | Self::NumpyArchive { .. }
            | Self::LongRow { .. }
            | Self::TruncatedGzip { .. }
            | Self::CorruptGzip { .. }
            | Self::Container { .. }
            | Self::Empty { .. }
            | Self::EmptyList { .. }
            | Self::Row(_) => Dependence::Format,
            Self::Open { .. } | Self::Read { .. } | Self::ReadBytes { .. } => Dependence::Machine,
        }
    }
}

impl Discloses for DatasetError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Radius { .. }
            | Self::NoPeers
            | Self::Sizes { .. }
            | Self::HashedNames
            | Self::TooManyPeers { .. } => Dependence::Public,
            Self::Vertex { .. } | Self::Row(_) => Dependence::Format,
        }
    }
}

impl Discloses for RunError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Engine(error) => error.error().dependence(),
            #[cfg(feature = "node")]
            Self::Swarm(error) => error.error().dependence(),
            #[cfg(not(feature = "node"))]
            Self::NoNode => Dependence::Public,
            // No runner of this program ends like that.
            Self::Runner(_) => Dependence::Defect,
            Self::Compared(error) => error.dependence(),
            // A peer stops over what it can see: frames, and states that come of noisy sums.
            Self::Faults(FaultsError::Peer(_) | FaultsError::Deviants(_)) => Dependence::Release,
            // Who crashes when is the schedule's.
            Self::Faults(FaultsError::NoResult(_)) => Dependence::Public,
        }
    }
}

impl Discloses for EngineError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Peer(error) => error.dependence(),
            // Parts of a session are held against its plan: sizes, graphs, averaging, noise and the first query.
            Self::Start(_)
            | Self::Session(_)
            | Self::Schedule
            | Self::Integers
            | Self::Laplace
            | Self::Unbalanced { .. }
            | Self::Turns
            | Self::Lossless { .. }
            | Self::CuratorOnly
            | Self::Noise
            | Self::NotProduct { .. }
            | Self::OutOfOrder { .. }
            | Self::Stalled { .. } => Dependence::Public,
            Self::Fault { .. }
            | Self::Query { .. }
            | Self::NotFullRank { .. }
            | Self::Overflow { .. } => Dependence::Release,
        }
    }
}

impl Discloses for PeerError {
    fn dependence(&self) -> Dependence {
        match self {
            // Sizes are those of the plan, noise, neighbours and averaging those of the graphs.
            Self::Shape { .. }
            | Self::Inexact { .. }
            | Self::GivenReals { .. }
            | Self::CuratorOnly { .. }
            | Self::Schedule { .. }
            | Self::Noise { .. }
            | Self::NoisePartners { .. }
            | Self::Neighbours { .. }
            | Self::Lost { .. }
            | Self::OutOfOrder { .. }
            | Self::StartedTwice { .. } => Dependence::Public,
            // The first query is public, the others come of noisy sums, and so does every average.
            Self::Query { .. }
            | Self::NotFullRank { .. }
            | Self::Incomplete { .. }
            | Self::Overflow { .. } => Dependence::Release,
        }
    }
}

#[cfg(feature = "node")]
impl Discloses for HostError {
    fn dependence(&self) -> Dependence {
        match self {
            Self::Peer(error) => error.dependence(),
            // What others report may be of either kind; this is the one that says more.
            Self::Fault { .. }
            | Self::Misbehaved { .. }
            | Self::Tolerant(_)
            | Self::Missing { .. }
            | Self::Stranger { .. }
            | Self::Other { .. }
            | Self::Lost { .. }
            | Self::Ended { .. }
            | Self::Malformed { .. }
            | Self::Silent { .. }
            | Self::LostNeighbour { .. }
            | Self::Setup(_) => Dependence::Release,
            Self::Lossless { .. } => Dependence::Public,
            Self::NestedRuntime
            | Self::Runtime(_)
            | Self::FileDescriptors(_)
            | Self::Encryption(_)
            | Self::Address { .. }
            | Self::MemberTwice { .. }
            | Self::Charge { .. }
            | Self::Begin { .. }
            | Self::Keep(_)
            | Self::OtherLife { .. }
            | Self::Listen { .. }
            | Self::Dial { .. }
            | Self::Unconnected { .. }
            | Self::Handshake { .. }
            | Self::Disconnected { .. }
            | Self::Write { .. }
            | Self::Unread { .. } => Dependence::Machine,
            Self::QueueFull { .. }
            | Self::ControlTooLong { .. }
            | Self::ControlTooMany { .. }
            | Self::BegunBefore
            | Self::Neighbours
            | Self::TaskLost => Dependence::Defect,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The matches are complete because the compiler says so, as long as none of them has an arm for "the rest".
    #[test]
    fn no_match_has_an_arm_for_the_rest() {
        let source = include_str!("disclosure.rs");
        let code = source.split("#[cfg(test)]\nmod tests").next();
        let code = code.expect("the code comes first");
        for arm in ["_ =>", "other =>", "error =>", "..=>"] {
            assert!(
                !code.contains(arm),
                "an arm {arm:?} would sort new errors unseen"
            );
        }
    }

    /// What cannot happen under noise is refused without it, and only then.
    #[test]
    fn no_data_at_all_is_refused_only_without_noise() {
        use crate::config::read_config;
        use crate::scenario::Experiment;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mut ratings = String::from("user,item,rating\n");
        for user in 0..20 {
            (0..12).for_each(|item| ratings.push_str(&format!("u{user},i{item},0\n")));
        }
        std::fs::write(folder.path().join("ratings.csv"), ratings).expect("writable");
        let sims = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
        let set = [
            "data.path=ratings.csv",
            "data.format=csv-triples",
            "data.items=0",
            "peers.count=20",
            "topology.degree=4",
            "algorithm.rank=2",
        ];
        let load = |more: &str| {
            let set: Vec<String> = set.iter().chain([&more]).map(ToString::to_string).collect();
            let config = read_config(&sims.join("quickstart.toml"), &set).expect("valid keys");
            Experiment::resolve(config, folder.path())
        };
        load("noise.scheme=pairwise").expect("data like any other");
        let refused = load("noise.scheme=none").expect_err("nothing to compute with");
        assert_eq!(refused.dependence(), Dependence::Unprotected);
    }
}
