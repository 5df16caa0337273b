//! Why an experiment cannot be run: every message names the table and key, what was found and what to change.

use std::path::PathBuf;

use super::evaluation::EvaluationError;
use super::overrides::OverrideError;
use super::peer_names::PeerMatchError;
use super::sweep::SweepError;
use crate::data::DataError;
use crate::engine::SessionError;
use crate::linalg::NotFullRank;
use crate::privacy::{Adjacency, PrivacyError};
use crate::protocol::PlanError;
use crate::protocol::averaging::AveragingError;
use crate::topology::TopologyError;
use crate::vocabulary::Quantity;

/// Why an experiment cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// The file cannot be read.
    #[error("cannot read the experiment file {path}: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file lies where no TOML file can say.
    #[error(
        "{path} lies in a folder whose name is not UTF-8, which config.toml could not name: move or rename the folder",
        path = path.display()
    )]
    PathNotText {
        /// The file.
        path: PathBuf,
    },
    /// The file is not a valid experiment.
    #[error("{path}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, column, key, what was found and what was expected.
        source: Box<toml::de::Error>,
    },
    /// A `--set key=value` that cannot be applied.
    #[error(transparent)]
    Override(#[from] OverrideError),
    /// The data cannot be used.
    #[error("[data] {0}")]
    Data(#[from] DataError),
    /// The data file does not exist.
    #[error(
        "[data] there is no file {path}: put it there, or say where it is with --set data.path=FILE{obtain}",
        path = path.display(), obtain = obtained(obtain.as_deref())
    )]
    MissingData {
        /// The file as looked for.
        path: PathBuf,
        /// `data.obtain`: where to get it.
        obtain: Option<String>,
    },
    /// The users cannot be dealt to the peers.
    #[error("[peers] {0}")]
    Peers(DataError),
    /// The topology cannot be used.
    #[error("[topology] {0}")]
    Topology(TopologyError),
    /// The noise topology cannot be used.
    #[error("[noise_topology] {0}")]
    NoiseTopology(TopologyError),
    /// The noise topology is over other peers than the topology.
    #[error("[noise_topology] {0}")]
    PeerMatch(#[from] PeerMatchError),
    /// The privacy parameters cannot be met.
    #[error("[privacy] {0}")]
    Privacy(#[from] PrivacyError),
    /// The evaluation asked for is not possible.
    #[error("[evaluation] {0}")]
    Evaluation(#[from] EvaluationError),
    /// No averaging schedule.
    #[error("[averaging] {0}")]
    Averaging(#[from] AveragingError),
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The session's parts do not fit its plan.
    #[error(transparent)]
    Session(#[from] SessionError),
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
    /// A momentum where there is none, none where there must be one, or a number that is no momentum.
    #[error(
        "algorithm.momentum is {} with algorithm.kind = \"{kind}\": kind \"momentum\" needs a finite number of at least 0, near \
         (lambda_(rank+1) / 2)^2, and no other kind has the key",
        found.map_or_else(|| "missing".to_owned(), |beta| beta.to_string())
    )]
    Momentum {
        /// What was found.
        found: Option<f64>,
        /// The algorithm.
        kind: &'static str,
    },
    /// A block for an algorithm without one, or one that does not fit.
    #[error(
        "[algorithm] block = {block} with kind = \"{kind}\" and rank = {rank}: only krylov has blocks, and theirs hold at least \
         rank and at most as many columns as there are items ({items}); leave block out or change it"
    )]
    Block {
        /// The block asked for.
        block: usize,
        /// The algorithm.
        kind: &'static str,
        /// Its rank.
        rank: usize,
        /// Items after the filters.
        items: usize,
    },
    /// Both ways of fixing the number of rounds.
    #[error("[averaging] give either tolerance or rounds, not both")]
    ToleranceAndRounds,
    /// A number of rounds outside what can be run.
    #[error("[averaging] rounds must lie between 1 and {limit}, found {found}")]
    Rounds {
        /// The number given.
        found: u32,
        /// The largest number allowed.
        limit: u32,
    },
    /// A degree floor of 0.
    #[error(
        "[data] degree_floor must be at least 1 (1 divides each row by its own degree), found 0"
    )]
    DegreeFloor,
    /// The sweep cannot be run.
    #[error("[sweep] {0}")]
    Sweep(#[from] SweepError),
    /// Nothing left to compute with, and no noise either. Under noise such a run is like any other.
    #[error(
        "[data] no interaction is left: all {ratings} ratings lie at or below data.threshold = {threshold}; lower it"
    )]
    NoInteractions {
        /// Ratings read.
        ratings: u64,
        /// The threshold.
        threshold: f64,
    },
    /// A graph of the caller's own that does not have a node per peer.
    #[error(
        "[peers] count makes {peers} peers, but the topology has {nodes} nodes: set peers.count = {nodes}"
    )]
    NodeCount {
        /// Peers of the experiment.
        peers: usize,
        /// Nodes of the graph.
        nodes: usize,
    },
    /// Two sources of the item list.
    #[error(
        "[data] give either items (the {items} most rated, drawn from the data) or items_file (a list that is public), not \
         both; a file that should count for less is shortened with a text editor"
    )]
    ItemsAndItemsFile {
        /// `data.items`.
        items: usize,
    },
    /// The hash of a list without the list.
    #[error(
        "[data] items_hash belongs to items_file, which is missing: give both or leave both out"
    )]
    ItemsHashAlone,
    /// A list other than the one the configuration was made with.
    #[error(
        "[data] items_file {path} holds another list than items_hash says (found {found}, stated {stated}): restore the file, \
         or leave items_hash out to accept this one",
        path = path.display()
    )]
    ItemsHash {
        /// The file.
        path: PathBuf,
        /// `data.items_hash`.
        stated: String,
        /// The hash of the list in the file.
        found: String,
    },
    /// A hold-out where a record is a change of the matrix.
    #[error(
        "[evaluation] holdout with privacy.adjacency = \"{adjacency}\": a record is a change of the matrix A, and what is held \
         out is no function of A, so that a small change of all data could be any change of what the peers hold; give \
         the held-out interactions in a file (evaluation.test), or use adjacency = \"interaction\""
    )]
    HoldoutOfMatrix {
        /// The adjacency asked for.
        adjacency: Adjacency,
    },
    /// A degree cap of 0.
    #[error("[data] degree_cap must be at least 1, found 0; leave it out to keep all interactions")]
    DegreeCap,
    /// A name that is no file name.
    #[error(
        "name = {name:?} must be 1 to 80 letters, digits, dots, dashes or underscores and not begin with a dot: it names the output folder"
    )]
    Name {
        /// The name given.
        name: String,
    },
    /// A number that no experiment file can hold.
    #[error(
        "seed = {seed} is too large for an experiment file: the largest is {}",
        i64::MAX
    )]
    Seed {
        /// The seed given.
        seed: u64,
    },
    /// Latency bounds in the wrong order.
    #[error("[engine] latency.uniform needs low_micros <= high_micros, found {low} and {high}")]
    Latency {
        /// Shortest time given.
        low: u64,
        /// Longest time given.
        high: u64,
    },
    /// A number of probes the analytic engine cannot draw.
    #[error(
        "[engine] probes must lie between 1 and {most} (64, or the number of peers where that is less), found {found}"
    )]
    Probes {
        /// The number given.
        found: usize,
        /// The largest number allowed.
        most: usize,
    },
    /// An algorithm the analytic engine cannot run.
    #[error(
        "[engine] kind = \"analytic\" draws sums of products A X, but algorithm.kind releases {released}: set engine.kind = \"lockstep\" \
         or another algorithm"
    )]
    AnalyticRelease {
        /// What the algorithm releases.
        released: Quantity,
    },
    /// More colluders than can be told from the honest.
    #[error("[privacy] colluders = {colluders} of {peers} peers leaves nobody to protect; set it to at most {}", peers - 1)]
    Colluders {
        /// Colluders asked for.
        colluders: usize,
        /// Number of peers.
        peers: usize,
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

/// `data.obtain` as the end of a message, on one line.
pub(super) fn obtained(obtain: Option<&str>) -> String {
    obtain.map_or_else(String::new, |text| {
        let words: Vec<&str> = text.split_whitespace().collect();
        format!("; to obtain it: {}", words.join(" "))
    })
}
