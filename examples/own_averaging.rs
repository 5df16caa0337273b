//! An averaging scheme of your own: everybody sends to a hub, the hub sends the sum back. Two engines, equal bits.
//!
//! `cargo run --example own_averaging`

use std::path::Path;
use std::sync::Arc;

use undertone::engine::event::{self, Latency};
use undertone::engine::{Session, SessionParts, Silent, lockstep};
use undertone::protocol::averaging::*;
use undertone::protocol::{Plan, PlanParameters};
use undertone::{config::read_config, scenario::Experiment, vocabulary::Seed};

/// Peer 0 is the hub; every other peer must be its neighbour.
struct Hub;

impl AveragingScheme for Hub {
    /// Per peer: in which round to send to whom or to wait for whom. Neighbours are named by their place in the list.
    fn compile(
        &self,
        network: &dyn Network,
        _: MixingBounds,
        _: Length,
    ) -> Result<Program, AveragingError> {
        let all: Vec<u32> = (0..network.neighbours(0).len() as u32).collect();
        // What is heard counts once, the own value `own` times.
        let hear = |round, from: &[u32], own| {
            let expect = from.iter().map(|&position| Expected {
                position,
                weight: 1.0,
            });
            PeerStep {
                round,
                send_to: Arc::new([]),
                expect: expect.collect(),
                own,
            }
        };
        // Neighbours ascend, so the hub comes first in everybody's list. In round 1 only its value counts.
        let others = vec![PeerStep::sending(0, &[0]), hear(1, &[0], 0.0)];
        let mut steps = vec![others; network.peers()];
        steps[0] = vec![hear(0, &all, 1.0), PeerStep::sending(1, &all)];
        // A message that is not listed at both ends is refused here: on a graph without a hub, for example.
        Ok(Program::listed(network, 1.0, steps)?)
    }

    /// All peers end with the same bits.
    fn contraction(&self, _: MixingBounds, _: u32) -> Result<f64, AveragingError> {
        Ok(0.0)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sims = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/sims"));
    let settings = ["peers.count=12", "topology={generator=\"complete\"}"].map(str::to_owned);
    let config = read_config(&sims.join("quickstart.toml"), &settings)?;
    let usual = Experiment::resolve(config, sims)?.session(&Seed::from_u64(1));
    let bounds = MixingBounds {
        lowest: 0.0,
        second: 0.0,
    };
    let program = Hub.compile(&**usual.topology(), bounds, Length::Own)?;
    // The same rows, graph, noise and start as the usual session; the plan names the new program.
    let plan = Plan::new(PlanParameters {
        averaging_rounds: program.rounds(),
        program: program.digest(),
        ..usual.plan().parameters().clone()
    })?;
    let session = Session::new(SessionParts {
        plan: Arc::new(plan),
        program: Arc::new(program),
        topology: Arc::clone(usual.topology()),
        noise_topology: Arc::clone(usual.noise_topology()),
        rows: Arc::clone(usual.rows()),
        start: Arc::clone(usual.start()),
        seed: Seed::from_u64(1),
        sigma_central: usual.sigma_central(),
        setting: [0; 32],
    })?;
    let arrays = lockstep::run(&session, &mut Silent)?;
    let latency = Latency::Uniform {
        low_micros: 1,
        high_micros: 50_000,
    };
    let messages = event::run(&session, latency, &mut Silent)?;
    assert_eq!(
        arrays.basis().values(),
        messages.basis().values(),
        "equal bits"
    );
    let ours = messages.communication.bytes_total;
    let usual = lockstep::run(&usual, &mut Silent)?
        .communication
        .bytes_total;
    println!("equal bits on both engines; {ours} bytes, Chebyshev's {usual}");
    Ok(())
}
