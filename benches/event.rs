//! The event engine, doubling by doubling: messages per second and memory per peer.
//!
//! `cargo bench --bench event` runs 625 to 10,000 peers on random 10-regular graphs with blocks of 16 values;
//! `-- --quick` stops at 2,500. One iteration: eight rounds of max-consensus, ten of averaging. The exponent is
//! the slope of log CPU time over log peers by least squares; the engine has one thread, so CPU time is what a run
//! takes on an idle core. Memory of an idle peer is the growth of the resident set while all peers of the largest
//! session are built, by their number; it includes the peer's copy of its row.

mod network;

use std::hint::black_box;
use std::time::Instant;

use network::{Shape, memory_kib, thread_seconds};
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

fn shape(peers: usize) -> Shape {
    Shape {
        peers,
        degree: 10,
        dimension: 8,
        rank: 2,
        iterations: 1,
        rounds: 10,
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
    let before = memory_kib("VmRSS:");
    let peers: Vec<_> = (0..session.peers())
        .map(|u| Peer::new(session.peer_setup(PeerIndex::from_index(u), None)).expect("fits"))
        .collect();
    let after = memory_kib("VmRSS:");
    (after - before) / black_box(&peers).len() as f64
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let sizes: Vec<usize> = (0..if quick { 3 } else { 5 }).map(|k| 625 << k).collect();
    let sessions: Vec<_> = sizes.iter().map(|&peers| shape(peers).session()).collect();
    if let Some(largest) = sessions.last() {
        println!("memory of an idle peer: {:.2} KiB", idle(largest));
    }
    println!(
        "{:>8} {:>9} {:>10} {:>9} {:>9} {:>12} {:>9}",
        "peers", "latency", "messages", "seconds", "CPU s", "messages/s", "peak MiB"
    );
    for (name, latency) in LATENCIES {
        let mut points = Vec::new();
        for session in &sessions {
            let (mut seconds, mut cpu, mut messages) = (f64::INFINITY, f64::INFINITY, 0);
            for _ in 0..if session.peers() < 5000 { 3 } else { 2 } {
                let (began, used) = (Instant::now(), thread_seconds());
                let outcome = run(session, latency, &mut Silent).expect("runs");
                seconds = began.elapsed().as_secs_f64().min(seconds);
                cpu = (thread_seconds() - used).min(cpu);
                messages = outcome.communication.messages;
            }
            println!(
                "{:>8} {name:>9} {messages:>10} {seconds:>9.2} {cpu:>9.3} {:>12.0} {:>9.0}",
                session.peers(),
                messages as f64 / cpu,
                memory_kib("VmHWM:") / 1024.0,
            );
            points.push((session.peers() as f64, cpu));
        }
        println!("{name}: time grows as peers^{:.3}", exponent(&points));
    }
}
