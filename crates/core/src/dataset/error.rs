//! Rows in memory that cannot be made, or dealt to peers.

use crate::interactions::InteractionsError;

/// Why rows cannot be made, or dealt to peers.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum DatasetError {
    /// A bound on the length of samples that is none.
    #[error("the radius of samples must be a finite number above 0, found {found}")]
    Radius {
        /// The value given.
        found: f64,
    },
    /// Nobody to hold the data.
    #[error("0 peers cannot hold any users; ask for at least 1 peer")]
    NoPeers,
    /// More peers than users.
    #[error(
        "{peers} peers for {users} users: every peer must hold at least one user; \
         ask for at most {users} peers or keep more users"
    )]
    TooManyPeers {
        /// Peers asked for.
        peers: usize,
        /// Users there are.
        users: usize,
    },
    /// Sizes of peers that do not deal every user once.
    #[error(
        "peers.sizes has {found} numbers that sum to {sum}, and there are {peers} peers and {users} users: give every peer a number of at \
         least 1, {users} together"
    )]
    Sizes {
        /// How many sizes.
        found: usize,
        /// Their sum.
        sum: u64,
        /// Peers there are.
        peers: usize,
        /// Users there are.
        users: usize,
    },
    /// Rows that have no names to be hashed.
    #[error(
        "peers.partition = \"hashed\" assigns users by their names, and these rows have none: choose \"round-robin\", \"contiguous\" or \"random\""
    )]
    HashedNames,
    /// A row that is not a sorted set of item indices.
    #[error(transparent)]
    Row(#[from] InteractionsError),
    /// An edge of a vertex that is not there.
    #[error(
        "an edge names vertex {found}, and there are {vertices}, numbered from 0: correct the edge or the number of vertices"
    )]
    Vertex {
        /// The number named.
        found: u32,
        /// Number of vertices.
        vertices: usize,
    },
}
