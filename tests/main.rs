//! The one integration binary.

mod analytic;
mod central_equivalence;
#[cfg(feature = "cli")]
mod cli;
mod conformance;
mod consensus;
mod equivalence;
mod golden;
mod layering;
mod loss;
mod plain_pca;
mod programs;
#[cfg(feature = "cli")]
mod readme;
mod recipes;
mod recommender;
mod rust_version;
mod sims;
mod support;
mod sweep;
mod tree;
mod utility;
mod verification;
mod words;
