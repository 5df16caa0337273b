//! Matrices and the kernels that touch exchanged values.
//!
//! Kernels are plain loops in a fixed order: the same inputs give the same bits in every engine.

mod block;
mod block_lanczos;
mod coherence;
mod extension;
mod gram_schmidt;
mod lanczos;
mod orthonormal;
mod packed;
mod sparse;
mod sparse_dense;
mod subspace;

pub use block::Block;
pub use coherence::{Coherence, coherence};
pub use extension::extend_basis;
pub use gram_schmidt::TallMatrix;
pub use lanczos::{leading_eigenvectors, signed, small_leading_eigenvectors};
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use packed::PackedTriangle;
pub use sparse::{SparseError, SparseRows};
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
