//! A test of your own: on your graph, is what peers learn really what a trusted curator with the same noise would have told them?
//!
//! `cargo run --release --example equivalence_test`; in your crate the body is a `#[test]`.

use std::path::Path;

use undertone::assess::verification::{VerifyOptions, verify};
use undertone::config::read_config;
use undertone::engine::central::{self, SumNoise};
use undertone::engine::{Silent, lockstep};
use undertone::linalg::subspace_distance;
use undertone::scenario::Experiment;
use undertone::topology::{Graph, Provenance, Topology};
use undertone::vocabulary::Seed;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sims = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims");
    let set = ["peers.count=6", "data.items=30", "algorithm.rank=2"].map(str::to_owned);
    let config = read_config(&sims.join("quickstart.toml"), &set)?;
    // Two triangles and two bridges: put your own graph here.
    let edges = [
        (0, 1),
        (0, 2),
        (1, 2),
        (3, 4),
        (3, 5),
        (4, 5),
        (0, 3),
        (1, 4),
    ];
    let graph = Graph::from_edges(6, &edges)?;
    let topology = Topology::from_graph(graph, Provenance::edges("two triangles"));
    let experiment = Experiment::on_topology(config, &sims, topology)?;

    // The same noise, once averaged by gossip and once added up by a curator: equal up to what averaging leaves over.
    let session = experiment.session(&Seed::from_u64(1));
    let peers = lockstep::run(&session, &mut Silent)?;
    let curator = central::run(&session, SumNoise::Shares, &mut Silent)?;
    let apart = subspace_distance(peers.basis(), curator.basis());
    println!("peers against a curator with their shares: {apart:.2e}");
    assert!(apart < 1e-3);

    // The law of everything that is published, held against the plan: who draws what, shared with whom, how large.
    let table = verify(&experiment, VerifyOptions::default(), &mut Silent)?;
    println!(
        "{} checks of {} failed",
        table.failures().count(),
        table.checks.len()
    );
    assert!(table.passed(), "{:?}", table.failures().collect::<Vec<_>>());
    Ok(())
}
