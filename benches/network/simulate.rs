//! One experiment on two hosts against the same in one process: real processes on loopback TCP, taken in turns.
//!
//! 256 peers of Jester, rank 8 (`jester-256.toml` beside this file): `undertone run --engine swarm`, and two processes of `undertone node
//! simulate` with 128 peers each. Seconds are of the part `run` in the summary, from the first connection to the last result, and of the
//! whole command. Bases must be equal.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::median;

/// Ports of the first host; those of the second follow. Below those that systems take for outgoing connections.
const FIRST_PORT: u16 = 27_000;

const PEERS: u16 = 128;

/// What a turn took: seconds of the part `run`, of the whole command, and of CPU time of all its processes.
type Taken = [f64; 3];

/// CPU seconds of all processes that this one has started and waited for.
fn children_cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(13).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

fn started(arguments: &[&str], folder: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_undertone"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary was built")
}

/// Runs these to their ends; the first writes its results to `out`.
fn taken(commands: &[Vec<&str>], folder: &Path, out: &str) -> (Taken, Vec<u8>) {
    let (began, cpu) = (Instant::now(), children_cpu_seconds());
    let running: Vec<Child> = commands.iter().map(|one| started(one, folder)).collect();
    for mut child in running {
        let status = child.wait().expect("a child");
        assert!(status.success(), "{commands:?}");
    }
    let whole = began.elapsed().as_secs_f64();
    let cpu = children_cpu_seconds() - cpu;
    let summary = fs::read(folder.join(out).join("summary.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_slice(&summary).expect("JSON");
    let run = summary["timing"]["seconds"]["run"].as_f64();
    let basis = fs::read(folder.join(out).join("basis.npy")).expect("a basis");
    ([run.expect("a number"), whole, cpu], basis)
}

/// Takes turns and prints what they took.
pub(crate) fn compare(repetitions: usize) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if !root
        .join("../shared/data/ratings/jester-1-1.csv.gz")
        .is_file()
    {
        eprintln!(
            "SKIPPED, nothing was measured: there is no ../shared/data/ratings/jester-1-1.csv.gz"
        );
        return;
    }
    let sim = root.join("benches/network/jester-256.toml");
    let sim = sim.to_str().expect("a path in Unicode");
    let folder = tempfile::tempdir().expect("a folder");
    let host = |host: u16| {
        let (port, first) = (FIRST_PORT + host * (PEERS + 1), host * PEERS);
        let end = first + PEERS;
        format!(
            "[[host]]\nname = \"host-{host}\"\naddress = \"127.0.0.1\"\nbase_port = {port}\npeers = \"{first}..{end}\"\n"
        )
    };
    let hosts = host(0) + &host(1);
    fs::write(folder.path().join("hosts.toml"), hosts).expect("written");
    let alone = vec!["run", sim, "--quiet", "--engine", "swarm", "--out", "alone"];
    let part = |host| {
        let first = ["node", "simulate", sim, "--hosts", "hosts.toml"];
        [&first[..], &["--host", host, "--out", "together"]].concat()
    };
    let (mut ones, mut twos) = (Vec::new(), Vec::new());
    for _ in 0..repetitions {
        let (one, expected) = taken(std::slice::from_ref(&alone), folder.path(), "alone");
        let (two, basis) = taken(&[part("0"), part("1")], folder.path(), "together");
        assert!(basis == expected, "bases differ");
        ones.push(one);
        twos.push(two);
    }
    println!(
        "256 peers of Jester, rank 8: one process, two processes of 128, {repetitions} turns each"
    );
    println!(
        "{:<12} {:>10} {:>10} {:>8} {:>8}",
        "", "one: best", "two: best", "ratio", "median"
    );
    for (at, name) in ["run, s", "command, s", "CPU, s"].into_iter().enumerate() {
        let best = |taken: &[Taken]| taken.iter().map(|t| t[at]).fold(f64::INFINITY, f64::min);
        let ratios = ones.iter().zip(&twos).map(|(one, two)| two[at] / one[at]);
        println!(
            "{name:<12} {:>10.2} {:>10.2} {:>8.2} {:>8.2}",
            best(&ones),
            best(&twos),
            best(&twos) / best(&ones),
            median(ratios.collect())
        );
    }
}
