//! The same bits on every machine: digests of small runs and of plans, computed without the network, threads or processes.
//!
//! A program of its own, so that another processor (`qemu-x86_64`) or WebAssembly runs it alone; `.ci/portable` does both. It depends on
//! nothing but the core. Arguments name what is computed, none stand for everything. With `UNDERTONE_GOLDEN=print` it prints the table
//! instead of comparing with it.

#[path = "golden/digest.rs"]
mod digest;

use std::path::PathBuf;
use std::process::ExitCode;

use undertone::config::read_config;
use undertone::scenario::{Experiment, Materials};

use digest::digest_of;

/// What all runs share: 32 peers who hold the ratings of the quickstart's users for 30 items.
const SMALL: [&str; 2] = ["data.items=30", "peers.count=32"];

/// A name and what is set in `tests/power.toml`.
const RUNS: [(&str, &[&str]); 18] = [
    ("power", &[]),
    (
        "linear",
        &["averaging.scheme=linear", "averaging.tolerance=1e-4"],
    ),
    ("krylov", &["algorithm.kind=krylov", "algorithm.block=6"]),
    (
        "covariance",
        &["algorithm.kind=covariance", "algorithm.iterations=1"],
    ),
    (
        "raked-covariance",
        &[
            "data.degree_floor=7",
            "privacy.sensitivity=root-floor",
            "algorithm.kind=raked-covariance",
            "algorithm.iterations=1",
        ],
    ),
    (
        "momentum",
        &["algorithm.kind=momentum", "algorithm.momentum=0.3"],
    ),
    (
        "event",
        &[
            "engine.kind=event",
            "engine.latency={exponential={mean_micros=900}}",
        ],
    ),
    (
        "heavy-tail",
        &[
            "engine.kind=event",
            "engine.latency={heavy-tail={least_micros=100}}",
        ],
    ),
    ("federated", &["engine.kind=federated"]),
    ("central", &["engine.kind=central"]),
    ("analytic", &["engine.kind=analytic"]),
    ("tree", &["averaging={scheme=\"tree\"}"]),
    (
        "integers",
        &["noise.scheme=ring", "averaging={scheme=\"tree\"}"],
    ),
    (
        "laplace",
        &[
            "engine.kind=federated",
            "noise.distribution=laplace",
            "privacy.delta=0",
            "privacy.adjacency=user",
            "privacy.sensitivity=exact",
        ],
    ),
    (
        "ring",
        &["topology={generator=\"ring\"}", "privacy.colluders=0"],
    ),
    (
        "erdos-renyi",
        &["topology={generator=\"erdos-renyi\",probability=0.4,seed=3}"],
    ),
    (
        "random-geometric",
        &["topology={generator=\"random-geometric\",radius=0.6,seed=3}"],
    ),
    (
        "zcdp",
        &["privacy.calibration=zcdp", "privacy.budget=[3, 2, 1]"],
    ),
];

/// Graphs that noise is planned on, of 64 nodes.
const GRAPHS: [&str; 9] = [
    "generator=\"complete\"",
    "generator=\"ring\"",
    "generator=\"star\"",
    "generator=\"path\"",
    "generator=\"grid\",rows=8,columns=8",
    "generator=\"hypercube\"",
    "generator=\"random-regular\",degree=6,seed=2",
    "generator=\"barabasi-albert\",edges_per_node=4,seed=2",
    "generator=\"watts-strogatz\",degree=6,rewire=0.2,seed=2",
];

/// Digests of [`RUNS`] and of the plans.
const EXPECTED: &[(&str, &str)] = &[
    ("power", "e14401021fad"),
    ("linear", "ff720a6c3ea5"),
    ("krylov", "b7a2c101ff90"),
    ("covariance", "90ea471e9044"),
    ("raked-covariance", "364f9c30f5a2"),
    ("momentum", "0950d09d1c74"),
    ("event", "e14401021fad"),
    ("heavy-tail", "e14401021fad"),
    ("federated", "85ebc7acaa39"),
    ("central", "347c14b51c42"),
    ("analytic", "7e45c0615a8b"),
    ("tree", "18a1163329df"),
    ("integers", "72e05832079e"),
    ("laplace", "5fbaa9a6c78a"),
    ("ring", "07902303d655"),
    ("erdos-renyi", "fd3ae74950ac"),
    ("random-geometric", "0b30d4eb8d15"),
    ("zcdp", "f9a7b9bd27fe"),
    ("plans", "958ba300093d"),
];

fn repository(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn resolve(materials: &Materials, set: &[&[&str]]) -> Result<Experiment, String> {
    let set: Vec<String> = set.concat().iter().map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository("tests/power.toml"), &set).map_err(|e| e.to_string())?;
    Experiment::resolve_from(config, materials).map_err(|e| e.to_string())
}

/// Calibrations and noise plans on all graphs as JSON, or that a coalition is too large for one.
fn plans(materials: &Materials) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut planned = 0;
    for graph in GRAPHS {
        let graph = format!("topology={{{graph}}}");
        for colluders in [0, 1, 2] {
            let colluders = format!("privacy.colluders={colluders}");
            for scheme in ["pairwise", "local", "ring"] {
                let scheme = format!("noise.scheme={scheme}");
                let set = [&graph, &colluders, &scheme].map(String::as_str);
                let more = [
                    "peers.count=64",
                    "privacy.on_disconnect=smallest-component",
                    "averaging={scheme=\"tree\"}",
                ];
                let text = match resolve(materials, &[&SMALL, &set, &more]) {
                    Ok(experiment) => {
                        planned += 1;
                        let plan = (experiment.calibrated(), experiment.noise());
                        serde_json::to_string(&plan).expect("numbers")
                    }
                    Err(why) => {
                        assert!(why.contains("no certified bound"), "{why}");
                        "refused".to_owned()
                    }
                };
                hasher.update(text.as_bytes());
            }
        }
    }
    assert!(planned > 40, "{planned} of 81 could be planned");
    hasher.finalize().to_hex()[..12].to_owned()
}

fn main() -> ExitCode {
    // Others are for cargo's own tests, such as --nocapture.
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| {
        let named = asked.iter().filter(|one| !one.starts_with('-'));
        named.clone().count() == 0 || named.clone().any(|one| one == name)
    };
    let print = std::env::var_os("UNDERTONE_GOLDEN").is_some();
    let materials = Materials::new(&repository("sims"));
    let mut failed = false;
    let names = RUNS.iter().map(|(name, _)| *name).chain(["plans"]);
    for name in names.filter(|name| wanted(name)) {
        let found = match RUNS.iter().find(|(other, _)| *other == name) {
            Some((_, set)) => match resolve(&materials, &[&SMALL, set]) {
                Ok(experiment) => digest_of(&experiment),
                Err(why) => why,
            },
            None => plans(&materials),
        };
        if print {
            println!("    ({name:?}, {found:?}),");
            continue;
        }
        let expected = EXPECTED.iter().find(|(other, _)| *other == name);
        match expected.map(|(_, digest)| *digest) {
            Some(expected) if expected == found => println!("{name} {found}"),
            expected => {
                failed = true;
                eprintln!("{name}: found {found}, expected {expected:?}");
            }
        }
    }
    ExitCode::from(u8::from(failed))
}
