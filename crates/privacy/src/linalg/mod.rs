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
#[doc(hidden)]
pub use cache_line::{AtLine, LINE};
#[doc(hidden)]
pub use cholesky::{Cholesky, allowance};
pub use coherence::{Coherence, coherence};
pub use eigen::{signed, small_leading_eigenvectors, symmetric_eigenpairs};
pub use extension::extend_basis;
#[doc(hidden)]
pub use extension::normal_columns;
pub use gram_schmidt::TallMatrix;
pub(crate) use inverse::CheckedInverse;
pub use inverse::IllConditioned;
pub use item_weights::{ItemWeights, ItemWeightsError};
pub use lanczos::columns::leading_eigenvectors;
pub(crate) use laplacian::ShiftedLaplacian;
pub use orthonormal::{NotFullRank, orthonormalise, start_block};
pub use packed::PackedTriangle;
#[doc(hidden)]
pub use product::{add_product, product};
pub use sparse::{SparseError, SparseRows};
pub use sparse_file::{SparseFile, SparseFileProblem};
pub use spectrum::Spectrum;
pub use subspace::{EigenError, TopEigenvectors, subspace_distance, top_eigenvectors};
