//! Number types for peers, iterations and rounds that cannot be mistaken for one another.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The dense index of a peer, `0..s`. (libp2p's `PeerId` is something else: a public-key hash.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PeerIndex(pub u32);

/// The number of an iteration, counted from 1; iteration `l` turns `X^{l-1}` into `X^l`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Iteration(pub u32);

/// The place of a release in a session's program of releases, counted from 1.
///
/// It keys everything that must not be used twice: random streams, frames, ledger entries. Algorithms with one release
/// per iteration have equal numbers for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ReleaseId(pub u32);

/// The number of a gossip exchange within one phase of one release, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Round(pub u32);

impl PeerIndex {
    /// The index as a subscript.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The peer with subscript `index`.
    ///
    /// # Panics
    /// If `index` does not fit 32 bits; topologies are refused long before that size.
    #[must_use]
    pub fn from_index(index: usize) -> Self {
        Self(u32::try_from(index).expect("peer counts are validated to fit 32 bits"))
    }
}

/// "peer 3"; "peer Oslo" inside the text of a [`Named`](super::Named) error.
impl fmt::Display for PeerIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        super::naming::write_peer(self.0, f)
    }
}

impl fmt::Display for Iteration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "iteration {}", self.0)
    }
}

impl fmt::Display for ReleaseId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "release {}", self.0)
    }
}

impl ReleaseId {
    /// The subscript of this release in a list of all.
    #[must_use]
    pub fn index(self) -> usize {
        self.0.saturating_sub(1) as usize
    }

    /// The release after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "round {}", self.0)
    }
}
