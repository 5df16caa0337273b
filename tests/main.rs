//! The one integration binary.

mod analytic;
mod central_equivalence;
#[cfg(feature = "cli")]
mod cli;
mod clipping;
mod completion;
mod completion_descent;
mod conformance;
mod consensus;
mod defaults;
mod deflation;
mod equivalence;
mod facts;
mod foreign;
mod goes_with;
mod golden;
mod gram_recommender;
mod graphs;
mod in_memory;
mod laplace;
mod layering;
mod list_sweeps;
#[cfg(feature = "live")]
mod live;
mod loss;
mod low_rank;
mod mistakes;
#[cfg(all(feature = "node", feature = "cli", unix))]
mod newcomers;
#[cfg(all(feature = "node", feature = "cli"))]
mod nodes;
mod noise_binding;
mod package;
mod plain_pca;
mod plans;
mod ppi;
mod preconditioning;
mod programs;
mod public_lists;
mod rating;
#[cfg(feature = "cli")]
mod readme;
#[cfg(feature = "cli")]
mod receipts;
mod recipes;
mod recommender;
mod rust_version;
mod sims;
mod streaming;
mod support;
mod sweep;
mod tree;
mod utility;
mod verification;
mod wishart;
mod words;
