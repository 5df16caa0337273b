//! What a session runs over: two graphs and an averaging.

use std::sync::Arc;

use crate::protocol::Values;
use crate::protocol::averaging::{
    AveragingError, AveragingKind, AveragingOptions, AveragingScheme, Length, MixingBounds,
    Neighbourhood, Schedule,
};
use crate::topology::Topology;
use crate::vocabulary::PeerIndex;

/// What a session runs over.
#[derive(Clone, Debug)]
pub struct Network {
    /// The communication graph.
    pub topology: Arc<Topology>,
    /// The graph that noise is shared on; usually the same.
    pub noise_topology: Arc<Topology>,
    /// How inputs become a sum.
    pub averaging: Averaging,
    /// What the coordinates of a sum of reals are while they are averaged.
    pub values: Values,
    /// Rows of the peer that holds most: public, asked by sums of integers alone.
    pub most_rows: usize,
}

impl Network {
    /// On this graph, on which noise is shared too: Chebyshev gossip of 64-bit numbers.
    #[must_use]
    pub fn on(topology: impl Into<Arc<Topology>>) -> Self {
        let topology = topology.into();
        Self {
            noise_topology: Arc::clone(&topology),
            topology,
            averaging: Averaging::default(),
            values: Values::F64,
            most_rows: 0,
        }
    }
}

/// How inputs become a sum.
#[derive(Clone)]
pub enum Averaging {
    /// A scheme that files can name, for as long as it takes.
    Named {
        /// Which.
        scheme: AveragingKind,
        /// How long.
        length: Length,
        /// What else it was told.
        options: AveragingOptions,
    },
    /// A scheme of your own.
    Own {
        /// What compiles the graph.
        scheme: Arc<dyn AveragingScheme + Send + Sync>,
        /// How long.
        length: Length,
    },
}

impl Default for Averaging {
    fn default() -> Self {
        AveragingKind::Chebyshev.into()
    }
}

/// A scheme for as long as it takes by itself.
impl From<AveragingKind> for Averaging {
    fn from(scheme: AveragingKind) -> Self {
        Self::Named {
            scheme,
            length: Length::Own,
            options: AveragingOptions::default(),
        }
    }
}

impl Averaging {
    /// The schedule on this graph.
    ///
    /// # Errors
    /// [`AveragingError`] if there is none.
    pub(crate) fn compile(
        &self,
        topology: &Topology,
        bounds: MixingBounds,
    ) -> Result<Schedule, AveragingError> {
        match self {
            Self::Named {
                scheme,
                length,
                options,
            } => scheme.compile(topology, bounds, *length, *options),
            Self::Own { scheme, length } => {
                scheme.compile(topology, bounds, *length, AveragingOptions::default())
            }
        }
    }

    /// The same among these peers, in ascending order, who are numbered anew: a root is given up with the peer that it is.
    pub(crate) fn among(&self, members: &[PeerIndex]) -> Self {
        let mut fewer = self.clone();
        if let Self::Named { options, .. } = &mut fewer
            && let Some(root) = options.root()
        {
            *options = match members.binary_search(&PeerIndex(root)) {
                Ok(place) => options.with_root(place as u32),
                Err(_) => AveragingOptions::default(),
            };
        }
        fewer
    }

    /// The guaranteed factor by which so many rounds shrink the spread, as the scheme says.
    pub(super) fn contraction(
        &self,
        bounds: MixingBounds,
        rounds: u32,
    ) -> Result<f64, AveragingError> {
        match self {
            Self::Named { scheme, .. } => scheme.contraction(bounds, rounds),
            Self::Own { scheme, .. } => scheme.contraction(bounds, rounds),
        }
    }

    /// Whether it is known not to add every input exactly once.
    pub(super) fn divides(&self) -> bool {
        matches!(self, Self::Named { scheme, .. } if !scheme.is_exact())
    }
}

impl std::fmt::Debug for Averaging {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Named {
                scheme,
                length,
                options,
            } => write!(f, "{scheme:?} ({length:?}, {options:?})"),
            Self::Own { length, .. } => write!(f, "a scheme of your own ({length:?})"),
        }
    }
}

impl Neighbourhood for Topology {
    fn peers(&self) -> usize {
        self.graph().nodes()
    }

    fn neighbours(&self, peer: usize) -> &[u32] {
        self.graph().neighbours(peer)
    }

    fn weights(&self, peer: usize) -> &[f64] {
        self.mixing().neighbour_weights(peer)
    }

    fn self_weight(&self, peer: usize) -> f64 {
        self.mixing().self_weight(peer)
    }
}

/// Bounds of the eigenvalues of a graph's mixing matrix.
#[must_use]
pub fn mixing_bounds(topology: &Topology) -> MixingBounds {
    let spectrum = topology.spectrum();
    MixingBounds {
        lowest: spectrum.mixing_smallest.low,
        second: spectrum.mixing_second.high,
    }
}

/// Hash of the edges of the communication graph and of the noise graph, as plans name them.
#[must_use]
pub fn graphs_digest(topology: &Topology, noise: &Topology) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("undertone 2026-11 topology v1");
    for topology in [topology, noise] {
        let graph = topology.graph();
        hasher.update(&(graph.nodes() as u64).to_le_bytes());
        hasher.update(&(graph.edges() as u64).to_le_bytes());
        for (u, v) in graph.edge_list() {
            hasher.update(&u.to_le_bytes());
            hasher.update(&v.to_le_bytes());
        }
    }
    *hasher.finalize().as_bytes()
}
