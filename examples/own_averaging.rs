//! An averaging scheme of your own: everybody sends to a hub, the hub sends the sum back. Two engines, equal bits.
//!
//! `cargo run --example own_averaging`

use std::sync::Arc;

use undertone::algorithm::Covariance;
use undertone::engine::Simulation;
use undertone::engine::event::{self, Latency};
use undertone::engine::{Silent, lockstep};
use undertone::plan::{Averaging, Promise};
use undertone::protocol::averaging::*;
use undertone::{data::Dataset, linalg::SparseRows, privacy::Adjacency};

/// Peer 0 is the hub; every other peer must be its neighbour.
#[derive(Debug)]
struct Hub;

impl AveragingScheme for Hub {
    /// Per peer: in which round to send to whom or to wait for whom. Neighbours are named by their place in the list.
    fn compile(
        &self,
        graph: &dyn Neighbourhood,
        _: MixingBounds,
        _: Length,
        _: AveragingOptions,
    ) -> Result<Schedule, AveragingError> {
        let all: Vec<u32> = (0..graph.neighbours(0).len() as u32).collect();
        // What is heard counts once, the own value `own` times.
        let hear = |round, from: &[u32], own| {
            let weigh = |&position: &u32| Expected {
                position,
                weight: 1.0,
            };
            let expect = from.iter().map(weigh).collect();
            PeerStep {
                expect,
                own,
                ..PeerStep::sending(round, &[])
            }
        };
        // Neighbours ascend, so the hub comes first in everybody's list. In round 1 only its value counts.
        let others = vec![PeerStep::sending(0, &[0]), hear(1, &[0], 0.0)];
        let mut steps = vec![others; graph.peers()];
        steps[0] = vec![hear(0, &all, 1.0), PeerStep::sending(1, &all)];
        // A message that is not listed at both ends is refused here: on a graph without a hub, for example.
        Ok(Schedule::listed(graph, 1.0, steps)?)
    }

    /// All peers end with the same bits.
    fn contraction(&self, _: MixingBounds, _: u32) -> Result<f64, AveragingError> {
        Ok(0.0)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Up to eleven peers are all neighbours of one another where no graph is given.
    let mut rows = SparseRows::new(3);
    for i in 0..60 {
        rows.push_row((0..).zip([1.0, f64::from(i).sin(), 0.1]))?;
    }
    let averaging = Averaging::Own {
        scheme: Arc::new(Hub),
        length: Length::Own,
    };
    let promise = Promise::new(1.0, 1e-5, Adjacency::User)?;
    let dataset = Dataset::Samples { rows, radius: 1.5 };
    let simulation = Simulation::new(dataset, Covariance::new(3, 1)?, promise)
        .peers(8)
        .averaging(averaging)
        .seed(1)
        .build()?;
    let arrays = lockstep::run(&simulation.own_session(), &mut Silent)?;
    let latency = Latency::Constant { micros: 10 };
    let messages = event::run(&simulation.own_session(), latency, &mut Silent)?;
    assert_eq!(arrays.basis(), messages.basis(), "equal bits");
    println!(
        "equal bits after {} messages",
        messages.communication.messages
    );
    Ok(())
}
