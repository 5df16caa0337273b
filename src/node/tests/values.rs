//! Sums of other values and of other lengths over the swarm.

use super::*;
use crate::algorithm::AlgorithmSpec;
use crate::engine::event::{self, Latency};
use crate::engine::tests::changed;
use crate::protocol::Values;
use crate::protocol::wire::{CHUNK_BYTES, framed_block_len};

const LATENCY: Latency = Latency::Uniform {
    low_micros: 100,
    high_micros: 5000,
};

fn f32s(session: &Session) -> Session {
    changed(session, |parameters| parameters.values = Values::F32)
}

#[test]
fn singles_give_equal_bits_in_every_engine_for_every_scheme_and_algorithm() {
    let (rank, block) = (4, 4);
    let algorithms = [
        AlgorithmSpec::Power {
            rank,
            iterations: 2,
        },
        AlgorithmSpec::Krylov {
            rank,
            block,
            iterations: 2,
        },
        AlgorithmSpec::Covariance { rank },
    ];
    let graphs = graphs();
    for graph in [&graphs[0], &graphs[1]] {
        // Where mass is passed f32 is refused.
        for kind in schemes_on(graph).filter(|kind| !kind.passes_mass()) {
            for algorithm in &algorithms {
                let session = session_of(graph, rows(), rank, (2, 9), kind, 5);
                let doubles = changed(&session, |p| p.algorithm = algorithm.clone());
                let session = f32s(&doubles);
                let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
                let event = event::run(&session, LATENCY, &mut Silent).expect("runs");
                assert_same_bits(&lockstep, &event);
                let swarm = run(&session, &options(Transport::Memory), &mut Silent);
                assert_same_bits(&lockstep, &swarm.expect("runs"));
                // Rounding shows, and halves all bytes but those of headers and numbers.
                let sum = lockstep.records[0].sum.values();
                let doubles = lockstep::run(&doubles, &mut Silent).expect("runs");
                assert_ne!(sum, doubles.records[0].sum.values());
                let (ours, theirs) = (&lockstep.communication, &doubles.communication);
                assert_eq!(ours.messages, theirs.messages);
                assert!(ours.bytes_total * 10 < theirs.bytes_total * 6);
            }
        }
    }
}

/// A release of 280,000 values: three frames of f64, two of f32.
#[test]
fn releases_larger_than_a_frame_give_equal_bits_in_every_engine() {
    let path = Graph::from_edges(3, &[(0, 1), (1, 2)]).expect("a path");
    let dimension = 140_000;
    for kind in [AveragingKind::Tree, AveragingKind::Linear] {
        let rows = spread_rows(3, dimension, 4);
        let doubles = session_of(&path, rows, 2, (1, 2), kind, 3);
        for (session, frames) in [(f32s(&doubles), 2), (doubles, 3)] {
            let values = session.plan().values();
            let count = 2 * dimension as usize;
            let bytes = count * values.bytes();
            assert_eq!(bytes.div_ceil(CHUNK_BYTES), frames);
            assert_eq!(framed_block_len(count, values), bytes + 35 * frames);
            let lockstep = lockstep::run(&session, &mut Silent).expect("runs");
            let event = event::run(&session, LATENCY, &mut Silent).expect("runs");
            assert_same_bits(&lockstep, &event);
            for transport in TRANSPORTS {
                let swarm = run(&session, &options(transport), &mut Silent).expect("runs");
                assert_same_bits(&lockstep, &swarm);
            }
        }
    }
}
