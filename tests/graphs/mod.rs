//! A private graph whose vertices are the peers: from the file to the eigenvector.

mod absorbed;
mod engines;
mod lower_bound;
mod privacy;
mod refusals;
mod table;

use undertone::scenario::Experiment;

use crate::plain_pca;

/// The experiment of `sims/graph-eigenvector.toml` on the karate club, with these keys changed.
fn karate(set: &[&str]) -> Experiment {
    let set = [&["data.path=../topologies/karate.edges"][..], set].concat();
    experiment(&set)
}

/// The experiment of that file, with these keys changed.
fn experiment(set: &[&str]) -> Experiment {
    plain_pca::experiment("graph-eigenvector.toml", set)
}

/// A block of the power method, the two scales of private power iteration, and deflation, whose quotients are sums.
const ALGORITHMS: [&[&str]; 4] = [
    &[
        "algorithm.rank=3",
        "algorithm.iterations=3",
        "privacy.adjacency=edge",
    ],
    &["algorithm.kind=ppi", "algorithm.iterations=3"],
    &[
        "algorithm.kind=ppi",
        "algorithm.scale=fixed",
        "algorithm.coherence=9",
        "privacy.adjacency=edge",
    ],
    &[
        "algorithm.kind=deflation",
        "algorithm.rank=2",
        "algorithm.iterations=2",
        "algorithm.eigenvalue_share=0.2",
        "privacy.adjacency=edge",
    ],
];
