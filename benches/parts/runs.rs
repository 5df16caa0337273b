//! Whole runs.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use undertone::engine::{Silent, lockstep};
use undertone::run::{peak_memory_bytes, run};
use undertone::scenario::Experiment;

use super::sessions::{Size, session, topology};

/// The quickstart and, where their data are, the sets with every user a peer.
pub(crate) fn bench(quick: bool) {
    println!(
        "\nwhole runs (reading, planning, run, comparisons); peak memory is the process's so far"
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    report("quickstart", &root.join("sims/quickstart.toml"), &[]);
    if quick {
        return;
    }
    for (name, data, format, items, rank) in [
        ("jester", "jester-1-1.csv.gz", "jester", 0, 32),
        ("gowalla", "gowalla.train.txt.gz", "lightgcn", 4000, 8),
    ] {
        let path = root.join("../shared/data/ratings").join(data);
        if !path.exists() {
            println!("{name:>12}  skipped: its data are not here");
            continue;
        }
        let set = [
            format!("data.path={:?}", path.display().to_string()),
            format!("data.format={format:?}"),
            format!("data.items={items}"),
            format!("algorithm.rank={rank}"),
            "topology.degree=10".to_owned(),
        ];
        report(name, &root.join("sims/quickstart.toml"), &set);
    }
}

fn report(name: &str, path: &Path, set: &[String]) {
    let start = Instant::now();
    let experiment = match Experiment::load(path, set) {
        Ok(experiment) => experiment,
        Err(error) => {
            println!("{name:>12}  not run: {error}");
            return;
        }
    };
    let report = match run(&experiment, &mut Silent) {
        Ok(report) => report,
        Err(error) => {
            println!("{name:>12}  failed: {error}");
            return;
        }
    };
    let summary = &report.summary;
    println!(
        "{name:>12}  {} peers, {} x {}, {} rounds: {:.1} s, {} MiB",
        summary.peers,
        summary.dimension,
        summary.rank,
        experiment.rounds(),
        start.elapsed().as_secs_f64(),
        peak_memory_bytes().unwrap_or(0) >> 20,
    );
    for (part, seconds) in &summary.timing.seconds {
        println!("{:>26} {seconds:>8.2} s", part);
    }
}

/// 10⁶ peers with 64 coordinates each.
pub(crate) fn million() {
    println!("\na million peers, n·p = 64, degree 10");
    let mut clock = Instant::now();
    let mut lap = |part: &str| {
        println!(
            "{part:>26} {:>8.2} s, peak {} MiB",
            clock.elapsed().as_secs_f64(),
            peak_memory_bytes().unwrap_or(0) >> 20
        );
        clock = Instant::now();
    };
    let topology = Arc::new(topology(1_000_000));
    lap("topology and spectrum");
    let session = session(
        topology,
        Size {
            items: 16,
            rank: 4,
            iterations: 3,
            rounds: 40,
        },
    );
    lap("session");
    let outcome = lockstep::run(&session, &mut Silent).expect("runs");
    lap("3 iterations, 40 rounds");
    let worst = outcome.records[2].consensus.expect("peers").disagreement;
    println!("{:>26} {worst:.1e}", "disagreement");
}
