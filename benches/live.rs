//! What the page of a run costs the run: the same runs with a page and a reader of it, and without, in turns.
//!
//! `cargo bench --bench live` takes fifteen turns, `-- --quick` two of shorter runs. A run is 610 MovieLens peers, a power method of 12 iterations over `chebyshev` in
//! the event engine, which has one thread. The reader takes every picture that it is sent, as a browser does, in a thread of its own on the same cores. Printed are
//! medians over the turns of with / without: the time of the run, the CPU time of the thread that runs it, and the CPU time of the whole
//! process, in which the reader is, too.

#[path = "network/process.rs"]
mod process;

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::Instant;

use process::{cpu_seconds, thread_seconds};
use undertone::engine::event::{Latency, run};
use undertone::engine::{Session, Silent};
use undertone::live::Live;
use undertone::scenario::Experiment;

const SETTING: [&str; 5] = [
    "algorithm.kind=power",
    "algorithm.rank=8",
    "averaging.scheme=chebyshev",
    "averaging.tolerance=1e-9",
    "engine.kind=event",
];

const LATENCY: Latency = Latency::Constant { micros: 1000 };

/// Seconds of a run: of the wall, of its thread, of the process.
type Cost = [f64; 3];

/// Counts the pictures that a page sends until it ends.
fn read(address: &str) -> JoinHandle<usize> {
    let rest = address.strip_prefix("http://").expect("a page");
    let (host, path) = rest.split_once('/').expect("a path");
    let mut stream = TcpStream::connect(host).expect("listens");
    let request = format!("GET /{path}events HTTP/1.1\r\nHost: {host}\r\n\r\n");
    stream.write_all(request.as_bytes()).expect("written");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    std::thread::spawn(move || lines.filter(|line| line.starts_with("data: ")).count())
}

/// What a run cost, and how many pictures a second were read.
fn measured(experiment: &Experiment, session: &Session, is_shown: bool) -> (Cost, f64) {
    let now = || (Instant::now(), thread_seconds(), cpu_seconds());
    let cost = |begun: (Instant, f64, f64)| {
        let (thread, process) = (thread_seconds() - begun.1, cpu_seconds() - begun.2);
        [begun.0.elapsed().as_secs_f64(), thread, process]
    };
    if !is_shown {
        let begun = now();
        run(session, LATENCY, &mut Silent).expect("runs");
        return (cost(begun), 0.0);
    }
    let live = Live::start(experiment, 0, false).expect("listens");
    let reader = read(live.address());
    let begun = now();
    let mut silent = Silent;
    let mut watching = live.watch(experiment, &mut silent);
    run(session, LATENCY, &mut watching).expect("runs");
    let cost = cost(begun);
    drop(watching);
    drop(live);
    let pictures = reader.join().expect("reads");
    (cost, pictures as f64 / cost[0])
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let (turns, iterations) = if is_quick { (2, 2) } else { (15, 12) };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sims/quickstart.toml");
    let mut setting = SETTING.map(str::to_owned).to_vec();
    setting.push(format!("algorithm.iterations={iterations}"));
    let experiment = Experiment::load(&file, &setting).expect("valid");
    let session = experiment.session(&experiment.root_seed());
    let mut ratios = [const { Vec::new() }; 3];
    let mut pace = Vec::new();
    for turn in 0..turns {
        // Whoever goes first takes turns, too.
        let mut costs = [Cost::default(); 2];
        for is_shown in [turn % 2 == 0, turn % 2 == 1] {
            let (cost, pictures) = measured(&experiment, &session, is_shown);
            costs[usize::from(is_shown)] = cost;
            if is_shown {
                pace.push(pictures);
            }
        }
        let [without, with] = costs;
        for (ratio, (with, without)) in ratios.iter_mut().zip(with.iter().zip(without)) {
            ratio.push(with / without);
        }
    }
    println!("{turns} turns, {:.1} pictures a second read", median(pace));
    let names = ["time of the run", "CPU of its thread", "CPU of the process"];
    for (name, ratios) in names.iter().zip(ratios) {
        let (least, most) = (
            ratios.iter().copied().fold(f64::INFINITY, f64::min),
            ratios.iter().copied().fold(0.0, f64::max),
        );
        println!(
            "{name:20} with / without: {:.3} ({least:.3} to {most:.3})",
            median(ratios)
        );
    }
}
