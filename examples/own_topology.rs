//! A graph of your own: what would it protect, what would it cost, and does it work?
//!
//! `cargo run --example own_topology`

use std::path::Path;

use undertone::config::read_config;
use undertone::engine::Silent;
use undertone::run::run;
use undertone::scenario::Experiment;
use undertone::topology::{Graph, Provenance, Topology};

const SIMS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sims");

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two rings of eight, joined by four bridges. Each edge is named once, by the indices of its ends.
    let ring = |first: u32| (0..8).map(move |i| (first + i, first + (i + 1) % 8));
    let bridges = (0..8).step_by(2).map(|i| (i, i + 8));
    let edges: Vec<(u32, u32)> = ring(0).chain(ring(8)).chain(bridges).collect();
    let graph = Graph::from_edges(16, &edges)?;
    // Averaging weights and the spectrum follow from the graph.
    let topology = Topology::from_graph(graph, Provenance::edges("two-rings"));
    let numbers = topology.summary();
    println!(
        "{} peers, {} edges, algebraic connectivity {:.3}",
        numbers.nodes, numbers.edges, numbers.algebraic_connectivity
    );

    // Everything else comes from an experiment file; its 610 users are dealt to the 16 peers.
    let file = Path::new(SIMS).join("quickstart.toml");
    let config = read_config(&file, &["peers.count=16".to_owned()])?;
    // The graph decides how much noise hides each peer. A graph that cannot keep the promise is refused here.
    let experiment = Experiment::on_topology(config, Path::new(SIMS), topology)?;
    println!("{}", experiment.statement().sentence());
    for view in experiment.noise().views() {
        let (seen_by, epsilon) = (&view.view, view.epsilon);
        println!("  {seen_by:<17} learns at most epsilon = {epsilon:.3}");
    }

    let report = run(&experiment, &mut Silent)?;
    let sent = &report.outcome.communication;
    println!(
        "{} messages, {:.1} MB, {} exchanges per release",
        sent.messages,
        sent.bytes_total as f64 / 1e6,
        sent.rounds[0]
    );
    let consensus = &report.summary.consensus;
    println!("peers disagree by {:.1e}", consensus.max_disagreement);
    // What was measured is within what was promised before the run.
    assert!(consensus.max_disagreement <= consensus.guaranteed);
    Ok(())
}
