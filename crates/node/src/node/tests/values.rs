//! Sums of other values and of other lengths over the swarm.

use super::*;
use crate::engine::event::{self, Latency};
use crate::engine::testing::changed;
use crate::protocol::Values;
use crate::protocol::wire::{CHUNK_BYTES, framed_block_len};

const LATENCY: Latency = Latency::Uniform {
    low_micros: 100,
    high_micros: 5000,
};

fn f32s(session: &Session) -> Session {
    changed(session, |parameters| parameters.values = Values::F32)
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
