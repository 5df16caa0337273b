//! Matrices and the kernels that touch exchanged values.
//!
//! Kernels are plain loops in a fixed order: the same inputs give the same bits in every engine.

mod block;
mod block_lanczos;
mod coherence;
mod gram_schmidt;
mod orthonormal;
mod sparse;
mod subspace;

pub use block::Block;
pub use coherence::{Coherence, coherence};
pub use gram_schmidt::TallMatrix;
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use sparse::{SparseError, SparseRows};
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
