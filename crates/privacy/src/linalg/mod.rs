//! Matrices and the kernels that touch exchanged values.
//!
//! Everything here is computed in a fixed order from additions, multiplications, divisions and square roots: the same inputs give the
//! same bits in every engine, for every number of threads and on every machine with IEEE doubles. Products of dense matrices are
//! those of `product.rs`, never nalgebra's: its `*` and `gemm` choose their kernel by the processor at run time.

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
mod product;
mod sparse;
mod sparse_dense;
mod sparse_file;
mod sparse_products;
mod spectrum;
mod subspace;

pub use block::Block;
pub use bracket::Bracket;
pub use eigen::{signed, symmetric_eigenpairs};
pub use extension::extend_basis;
pub(crate) use inverse::{CheckedInverse, IllConditioned};
pub use item_weights::{ItemWeights, ItemWeightsError};
pub(crate) use laplacian::ShiftedLaplacian;
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use packed::PackedTriangle;
pub use sparse::{SparseError, SparseRows};
pub use sparse_file::SparseFileProblem;
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    cache_line::AtLine, cache_line::LINE, cholesky::Cholesky, cholesky::allowance,
    coherence::Coherence, coherence::coherence, eigen::small_leading_eigenvectors,
    extension::normal_columns, gram_schmidt::TallMatrix, lanczos::columns::leading_eigenvectors,
    product::add_product, product::product, sparse_file::SparseFile, spectrum::Spectrum,
};
