//! The event engine, doubling by doubling: messages per second and memory per peer, beside a bare walk of such memory.
//!
//! `cargo bench --bench event` runs 625 to 10,000 peers (four doublings) on random 10-regular graphs with blocks of 16
//! values; `-- --quick` stops at 2,500, `-- large` runs 10,000 to 160,000, of which all but the first exceed 32 MiB. One iteration: eight
//! rounds of max-consensus, ten of averaging. Sessions are built before the clock starts. Sizes take turns, and each figure
//! is the best turn of its size, so that a busy moment of the machine does not fall on one size. In a turn a size runs as
//! often as it takes to exchange the messages of the largest, 10,000 peers at most: the kernel counts CPU time in ticks of milliseconds, of
//! which the best of short runs would save one.
//! The exponent is the slope of log CPU time over log peers by least squares; the engine has one thread, so
//! CPU time is what a run takes on an idle core.
//!
//! The bare walk is what any schedule that exchanges these messages does to the caches, with no protocol: every peer has
//! a record of 2 KiB, about what a running peer and its messages take; peers are visited in random order, as their messages
//! complete; a visit reads one value per cache line of the record, adds up its neighbours' blocks and writes
//! its own. 18 exchanges, as in a run.
//!
//! Memory of an idle peer is the growth of the resident set while twenty thousand peers are built, after a hundred
//! thousand that used up whatever the allocator held; it includes the peer's copy of its row.

mod network;

use std::hint::black_box;

use network::Shape;
use network::process::{memory_kib, thread_seconds};
use undertone::engine::event::{Latency, run};
use undertone::engine::{Session, Silent};
use undertone::protocol::Peer;
use undertone::vocabulary::PeerIndex;

const LATENCIES: [(&str, Latency); 2] = [
    ("constant", Latency::Constant { micros: 1000 }),
    (
        "uniform",
        Latency::Uniform {
            low_micros: 1,
            high_micros: 50_000,
        },
    ),
];

/// Times that every size is measured, three for large ones; the small ones more often.
const TURNS: usize = 8;

/// Runs of fewer peers are repeated until so many have run.
const MOST_REPEATED: usize = 10_000;

/// Exchanges of a run: those of max-consensus and of averaging.
const EXCHANGES: usize = Shape::SCALE_ROUNDS as usize + ROUNDS as usize;

const ROUNDS: u32 = 10;

fn shape(peers: usize) -> Shape {
    Shape {
        peers,
        degree: 10,
        dimension: 8,
        rank: 2,
        iterations: 1,
        rounds: ROUNDS,
    }
}

/// The least-squares slope of log y over log x.
fn exponent(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean = |part: fn(&(f64, f64)) -> f64| logs.iter().map(part).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let slope = |p: &(f64, f64)| ((p.0 - x) * (p.1 - y), (p.0 - x).powi(2));
    let (over, under) = logs
        .iter()
        .map(slope)
        .fold((0.0, 0.0), |(a, b), (c, d)| (a + c, b + d));
    over / under
}

/// KiB per peer that the peers of a session take before they start.
fn idle(session: &Session) -> f64 {
    let build = |peers: usize| -> Vec<_> {
        (0..peers)
            .map(|k| {
                let index = PeerIndex::from_index(k % session.peers());
                Peer::new(session.peer_setup(index, None)).expect("fits")
            })
            .collect()
    };
    let filling = build(100_000);
    let before = memory_kib("VmRSS:");
    let peers = build(20_000);
    let after = memory_kib("VmRSS:");
    black_box(&filling);
    (after - before) / black_box(&peers).len() as f64
}

/// Values of a peer's record in the bare walk, and of one of the two blocks at its start.
const RECORD: usize = 256;
const BLOCK: usize = 16;

/// CPU seconds of a bare walk over a session's graph, the mean of so many.
fn bare(session: &Session, times: usize) -> f64 {
    let peers = session.peers();
    let mut order: Vec<usize> = (0..peers).collect();
    // Any fixed shuffle will do.
    let mut state = 1_u64;
    for i in (1..peers).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        order.swap(i, (state >> 33) as usize % (i + 1));
    }
    let mut records = vec![1.0_f64; peers * RECORD];
    let used = thread_seconds();
    for step in 0..times * EXCHANGES {
        let (read, write) = (step % 2 * BLOCK, (step + 1) % 2 * BLOCK);
        for &u in &order {
            let record = &records[u * RECORD..][..RECORD];
            let mut sum = [record.iter().step_by(8).sum::<f64>() * 1e-9; BLOCK];
            for &v in session.graph().neighbours(u) {
                let block = &records[v as usize * RECORD + read..][..BLOCK];
                for (sum, x) in sum.iter_mut().zip(block) {
                    *sum += 0.1 * x;
                }
            }
            records[u * RECORD + write..][..BLOCK].copy_from_slice(&sum);
        }
    }
    black_box(&records);
    (thread_seconds() - used) / times as f64
}

/// The best turns of one size.
struct Best {
    messages: u64,
    /// CPU seconds per latency.
    runs: [f64; 2],
    bare: f64,
}

fn main() {
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let (start, doublings, turns) = if asked("--quick") {
        (625, 2, TURNS)
    } else if asked("large") {
        (10_000, 4, 3)
    } else {
        (625, 4, TURNS)
    };
    let sizes: Vec<usize> = (0..=doublings).map(|k| start << k).collect();
    let sessions: Vec<_> = sizes.iter().map(|&peers| shape(peers).session()).collect();
    let mut best: Vec<_> = sizes
        .iter()
        .map(|_| Best {
            messages: 0,
            runs: [f64::INFINITY; 2],
            bare: f64::INFINITY,
        })
        .collect();
    let repeated = sizes.last().map_or(1, |&peers| peers.min(MOST_REPEATED));
    for _ in 0..turns {
        for (session, best) in sessions.iter().zip(&mut best) {
            let times = (repeated / session.peers()).max(1);
            for ((_, latency), least) in LATENCIES.into_iter().zip(&mut best.runs) {
                let used = thread_seconds();
                for _ in 0..times {
                    let outcome = run(session, latency, &mut Silent).expect("runs");
                    best.messages = outcome.communication.messages;
                }
                *least = ((thread_seconds() - used) / times as f64).min(*least);
            }
            best.bare = bare(session, 10 * times).min(best.bare);
        }
    }
    println!("peak {:.0} MiB", memory_kib("VmHWM:") / 1024.0);
    // After larger runs the allocator holds more than idle peers could use up.
    if let Some(largest) = sessions.last().filter(|_| !asked("large")) {
        println!("memory of an idle peer: {:.2} KiB", idle(largest));
    }
    let [constant, uniform] = LATENCIES.map(|(name, _)| name);
    println!("messages/s in millions");
    println!(
        "{:>8} {:>10} {constant:>9} {uniform:>9} {:>9}",
        "peers", "messages", "bare"
    );
    for (peers, best) in sizes.iter().zip(&best) {
        let [constant, uniform, bare] = [best.runs[0], best.runs[1], best.bare]
            .map(|seconds| best.messages as f64 / seconds * 1e-6);
        println!(
            "{peers:>8} {:>10} {constant:>9.2} {uniform:>9.2} {bare:>9.2}",
            best.messages
        );
    }
    let fitted = |seconds: fn(&Best) -> f64| {
        let points = sizes.iter().zip(&best);
        exponent(
            &points
                .map(|(&s, b)| (s as f64, seconds(b)))
                .collect::<Vec<_>>(),
        )
    };
    println!(
        "time grows as peers to the power of: {constant} {:.3}, {uniform} {:.3}, bare {:.3}",
        fitted(|b| b.runs[0]),
        fitted(|b| b.runs[1]),
        fitted(|b| b.bare),
    );
}
