//! Matrices and the kernels that touch exchanged values.
//!
//! Kernels that touch exchanged values are plain loops in a fixed order: the same inputs give the same bits in every engine
//! and on every machine. Products of dense matrices (eigenvectors, block Krylov, covariance) are nalgebra's, whose
//! `gemm` chooses its kernel by the processor at run time: their bits are the same in every engine and for every number of
//! threads on one model of processor, and may differ in the last place on another.

mod block;
mod bracket;
mod cache_line;
mod cholesky;
mod coherence;
mod eigen;
mod extension;
mod gram_schmidt;
mod inverse;
mod item_weights;
pub(crate) mod lanczos;
pub(crate) mod laplacian;
mod orthonormal;
mod packed;
mod sparse;
mod sparse_dense;
mod sparse_products;
mod spectrum;
mod subspace;

pub use block::Block;
pub use bracket::Bracket;
pub(crate) use cache_line::{AtLine, LINE};
pub(crate) use cholesky::{Cholesky, allowance};
pub use coherence::{Coherence, coherence};
pub use eigen::{signed, small_leading_eigenvectors, symmetric_eigenpairs};
pub use extension::extend_basis;
pub(crate) use extension::normal_columns;
pub use gram_schmidt::TallMatrix;
pub(crate) use inverse::CheckedInverse;
pub use inverse::IllConditioned;
pub use item_weights::{ItemWeights, ItemWeightsError};
pub use lanczos::columns::leading_eigenvectors;
pub(crate) use laplacian::ShiftedLaplacian;
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use packed::PackedTriangle;
pub use sparse::{SparseError, SparseRows};
pub use spectrum::Spectrum;
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
