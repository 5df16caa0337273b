//! An algorithm on data of some shape, as configurations arrange it.

use std::sync::Arc;

use crate::algorithm::{
    Algorithm, Centred, LARGEST_ENTRY, NotOnGraph, NotPreconditioned, OnBipartite, OnGraph,
    Preconditioned, Prelude, Program, ReleaseSpec, Unsupported,
};
use crate::linalg::ItemWeights;

/// What the rows of peers are to one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataShape {
    /// Rows over the same items, whose sum over the peers is released.
    Rows,
    /// A graph, each of whose vertices is a peer.
    Graph,
    /// A matrix whose rows, so many, and whose columns are the peers.
    Bipartite {
        /// Rows.
        rows: usize,
        /// Whether entries are mapped to 0 to 1.
        in_unit_range: bool,
    },
}

/// An algorithm on data of some shape, before anything is decided about its budget.
#[derive(Clone, Debug)]
pub(crate) struct Arranged {
    algorithm: Arc<dyn Algorithm>,
    program: Program,
}

impl Arranged {
    /// The algorithm with its program.
    pub(crate) fn new(algorithm: Arc<dyn Algorithm>) -> Self {
        Self {
            program: algorithm.program(),
            algorithm,
        }
    }

    /// The same on data of this shape.
    ///
    /// # Errors
    /// [`NotOnGraph`] if it does not run there.
    pub(crate) fn on(self, shape: DataShape) -> Result<Self, NotOnGraph> {
        let algorithm: Arc<dyn Algorithm> = match shape {
            DataShape::Rows => return Ok(self),
            DataShape::Graph => Arc::new(OnGraph::new(self.algorithm)?),
            DataShape::Bipartite {
                rows,
                in_unit_range,
            } => {
                let largest = if in_unit_range { 1.0 } else { LARGEST_ENTRY };
                Arc::new(OnBipartite::new(self.algorithm, rows)?.within(largest))
            }
        };
        Ok(Self::new(algorithm))
    }

    /// The same for the eigenvectors of P A P, with these weights as the diagonal of P; its releases stay what they are.
    ///
    /// # Errors
    /// [`NotPreconditioned`] if it does not go with a P, or not with this one.
    pub(crate) fn preconditioned(
        self,
        weights: Arc<ItemWeights>,
    ) -> Result<Self, NotPreconditioned> {
        let around = Preconditioned::new(self.algorithm, weights)?;
        Ok(Self::new(Arc::new(around)))
    }

    /// The first release, whose bound is that of the whole program but for a private mean.
    pub(crate) fn first(&self) -> &ReleaseSpec {
        &self.program.releases[0]
    }

    /// The same on rows from which a mean was taken that is itself released first.
    ///
    /// # Errors
    /// [`Unsupported`] if it may not follow a mean.
    pub(crate) fn centred(self, prelude: Prelude) -> Result<Self, Unsupported> {
        let around = Centred::new(self.algorithm, prelude)?;
        Ok(Self::new(Arc::new(around)))
    }

    /// What it releases.
    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// The algorithm.
    pub(crate) fn into_algorithm(self) -> Arc<dyn Algorithm> {
        self.algorithm
    }
}
