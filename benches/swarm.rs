//! The swarm engine against a bare exchange of the same bytes over the same libp2p, in one run.
//!
//! `cargo bench --bench swarm` runs 64 peers of degree 6 with blocks of 1 MiB over memory and TCP, then 256
//! peers; `-- --quick` is done in about ten seconds. Printed are ratios of decimal MB/s, best of the repetitions
//! of each side, taken alternately.
//!
//! What is counted: the averaging rounds, which is where the bytes move. Of the engine, the time from the end of
//! the first averaging round to the end of the last but one, told by the count of messages written; mixing,
//! encoding, decoding and checking are in it, the drawing of the noise, the contribution and QR before and after
//! are not. CPU seconds per GB are those of the process in the same window; where other work shares the cores their
//! ratio is the steadier one. Of the bare exchange (see `network/bare.rs`), all rounds after a first one. `whole run` is the
//! engine's MB/s from call to return, with set-up, handshakes, noise, QR and the collector.

#[path = "network/bare.rs"]
mod bare;
mod network;

use std::time::Instant;

use network::Shape;
use network::process::{cpu_seconds, memory_kib};
use undertone::engine::{Observer, Session};
use undertone::node::{SwarmOptions, Transport, run};
use undertone::protocol::Values;
use undertone::protocol::wire::framed_block_len;

/// What moved, at what cost.
#[derive(Clone, Copy)]
struct Rate {
    /// Decimal MB per second.
    megabytes: f64,
    /// CPU seconds per decimal GB.
    cpu: f64,
}

impl Rate {
    const NONE: Self = Self {
        megabytes: 0.0,
        cpu: f64::INFINITY,
    };

    fn new(bytes: f64, seconds: f64, cpu: f64) -> Self {
        Self {
            megabytes: bytes / seconds * 1e-6,
            cpu: cpu / bytes * 1e9,
        }
    }

    /// The better of two repetitions, each figure for itself.
    fn best(self, other: Self) -> Self {
        Self {
            megabytes: self.megabytes.max(other.megabytes),
            cpu: self.cpu.min(other.cpu),
        }
    }
}

/// Notes at what wall and CPU time how many messages had been written.
struct Clock {
    began: Instant,
    ticks: Vec<(f64, f64, u64)>,
}

impl Observer for Clock {
    fn progress(&mut self, done: u64, _total: u64) {
        let seconds = self.began.elapsed().as_secs_f64();
        self.ticks.push((seconds, cpu_seconds(), done));
    }
}

/// The averaging rounds, and the whole run.
fn engine(session: &Session, shape: Shape, transport: Transport) -> (Rate, Rate) {
    let options = SwarmOptions {
        transport,
        ..SwarmOptions::default()
    };
    let cpu = cpu_seconds();
    let mut clock = Clock {
        began: Instant::now(),
        ticks: Vec::new(),
    };
    let outcome = run(session, &options, &mut clock).expect("runs");
    let seconds = clock.began.elapsed().as_secs_f64();
    let total = outcome.communication.bytes_total as f64;
    let whole = Rate::new(total, seconds, cpu_seconds() - cpu);
    let step = shape.messages_per_step();
    let scale = u64::from(Shape::SCALE_ROUNDS) * step;
    let rounds = scale + step..=scale + u64::from(shape.rounds - 1) * step;
    let mut within = clock.ticks.iter().filter(|tick| rounds.contains(&tick.2));
    let (Some(first), Some(last)) = (within.next(), within.next_back()) else {
        return (Rate::NONE, whole);
    };
    let bytes = framed_block_len(shape.dimension * shape.rank, Values::F64) as f64
        * (last.2 - first.2) as f64;
    (Rate::new(bytes, last.0 - first.0, last.1 - first.1), whole)
}

fn compare(shape: Shape, transport: Transport, repetitions: u32) {
    let session = shape.session();
    let bytes = framed_block_len(shape.dimension * shape.rank, Values::F64);
    let total = (bytes as u64 * shape.messages_per_step() * u64::from(shape.rounds)) as f64;
    let (mut ours, mut whole, mut bare) = (Rate::NONE, Rate::NONE, Rate::NONE);
    for _ in 0..repetitions {
        let stack = match transport {
            Transport::Memory => bare::Stack::Memory,
            // Hosts are none of a benchmark's.
            Transport::Tcp | Transport::Hosts => bare::Stack::Tcp,
        };
        let (seconds, cpu) = bare::exchange(session.graph(), stack, bytes, shape.rounds);
        bare = bare.best(Rate::new(total, seconds, cpu));
        let (rounds, all) = engine(&session, shape, transport);
        ours = ours.best(rounds);
        whole = whole.best(all);
    }
    println!(
        "{:>6} {:>9} {:>7} {:>9.0} {:>9.0} {:>7.2} {:>10.2} {:>10.2} {:>7.2} {:>9.0} {:>9.0}",
        shape.peers,
        format!("{transport:?}"),
        shape.rounds,
        ours.megabytes,
        bare.megabytes,
        ours.megabytes / bare.megabytes,
        ours.cpu,
        bare.cpu,
        bare.cpu / ours.cpu,
        whole.megabytes,
        memory_kib("VmHWM:") / 1024.0,
    );
}

fn main() {
    let given = |key: &str| std::env::args().any(|argument| argument == key);
    let quick = given("--quick");
    let shape = |peers, rounds| Shape {
        peers,
        degree: 6,
        dimension: 16_384,
        rank: 8,
        iterations: 1,
        rounds,
    };
    println!("blocks of 1 MiB, degree 6, averaging rounds; the peak is that of the process so far");
    println!(
        "{:>6} {:>9} {:>7} {:>9} {:>9} {:>7} {:>10} {:>10} {:>7} {:>9} {:>9}",
        "peers",
        "transport",
        "rounds",
        "MB/s",
        "bare MB/s",
        "ratio",
        "CPU s/GB",
        "bare s/GB",
        "ratio",
        "whole run",
        "peak MiB"
    );
    let mut transports = vec![Transport::Memory, Transport::Tcp];
    if given("--memory") {
        transports.pop();
    }
    for &transport in &transports {
        let (rounds, repetitions) = if quick { (4, 1) } else { (12, 3) };
        compare(shape(64, rounds), transport, repetitions);
    }
    if !quick {
        for &transport in &transports {
            compare(shape(256, 6), transport, 1);
        }
    }
}
