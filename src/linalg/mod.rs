//! Matrices and the kernels that touch exchanged values.
//!
//! Kernels that touch exchanged values are plain loops in a fixed order: the same inputs give the same bits in every engine
//! and on every machine. Products of dense matrices (eigenvectors, block Krylov, covariance) are nalgebra's, whose
//! `gemm` chooses its kernel by the processor at run time: their bits are the same in every engine and for every number of
//! threads on one model of processor, and may differ in the last place on another.

mod block;
mod block_lanczos;
mod cache_line;
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
pub(crate) use cache_line::{AtLine, LINE};
pub use coherence::{Coherence, coherence};
pub use extension::extend_basis;
pub use gram_schmidt::TallMatrix;
pub use lanczos::{leading_eigenvectors, signed, small_leading_eigenvectors};
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use packed::PackedTriangle;
pub use sparse::{SparseError, SparseRows};
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
