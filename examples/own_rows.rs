//! Rows of your own, in memory: private principal components of 400 made-up measurements held by 40 peers.
//!
//! `cargo run --release --example own_rows`

use undertone::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Measurements that vary mostly along one direction. `radius` is public; longer rows are shortened to it.
    let mut rows = SparseRows::new(4);
    for i in 0..400 {
        let (x, y) = (f64::from(i).sin(), f64::from(7 * i).cos());
        rows.push_row((0..).zip([2.0 * x, x, 0.2 * y, 0.1]))?;
    }
    let dataset = Dataset::Samples { rows, radius: 2.3 };
    // One person is one row; nobody, not even a curious peer that sees every message, learns more than (1, 1e-5)-DP allows.
    let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
    let simulation = Simulation::new(dataset, Covariance::new(4, 1)?, promise)
        .peers(40)
        .averaging(AveragingKind::Tree)
        .seed(7)
        .build()?;
    let outcome = simulation.run(&mut Silent)?;
    for view in simulation.noise().map_or(&[][..], |noise| noise.views()) {
        println!("{:<18} epsilon = {:.3}", view.view, view.epsilon);
    }
    let exact = top_eigenvectors(&simulation.own_session().all_rows(), 1)?.vectors;
    println!("private direction: {:.3?}", outcome.basis().values());
    println!(
        "distance to the exact one: {:.3}",
        subspace_distance(outcome.basis(), &exact)
    );
    println!(
        "bytes sent by the busiest peer: {}",
        outcome.communication.bytes_max_peer
    );
    Ok(())
}
