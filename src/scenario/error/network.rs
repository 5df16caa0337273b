//! What can be wrong with the peers and the two graphs over them.

use crate::data::DataError;
use crate::scenario::peer_names::PeerMatchError;
use crate::topology::TopologyError;

/// Why the tables `[peers]`, `[topology]` and `[noise_topology]` give no network.
#[derive(Debug, thiserror::Error)]
pub enum NetworkError {
    /// The users cannot be dealt to the peers.
    #[error("[peers] {0}")]
    Peers(DataError),
    /// A key that does not go with hashes of users' names.
    #[error("[peers] partition = \"hashed\" does not go with {key}, which {why}")]
    Hashed {
        /// The key.
        key: &'static str,
        /// Why, and what to change.
        why: &'static str,
    },
    /// A key that needs a public number of users, which hashes of names do without.
    #[error(
        "[peers] partition = \"hashed\" keeps the number of users private, and {key} {why}: give a public list of users with \
         data.users_file, or choose another {key}"
    )]
    HashedUnlisted {
        /// The key.
        key: &'static str,
        /// What needs the number.
        why: &'static str,
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
    /// A private graph as the graph that everybody sees.
    #[error(
        "[{table}] names the file of data.path, whose edges data.format = \"graph\" is to keep private: who sends to whom, and who shares noise with whom, is seen by \
         everybody, and no epsilon covers it; set [{table}] to a graph that has nothing to do with the data, such as \
         {{ generator = \"random-regular\", degree = 10, seed = 1 }}"
    )]
    PrivateEdges {
        /// Which graph.
        table: &'static str,
    },
    /// The topology cannot be used.
    #[error("[topology] {0}")]
    Topology(TopologyError),
    /// The noise topology cannot be used.
    #[error("[noise_topology] {0}")]
    NoiseTopology(TopologyError),
    /// The noise topology is over other peers than the topology.
    #[error("[noise_topology] {0}")]
    PeerMatch(#[from] PeerMatchError),
}
