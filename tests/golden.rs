//! Digests of what runs produce, so that a change of structure shows when it changes a number.
//!
//! `tests/portable.rs` has those of smaller runs, which other machines compute too.
//! Who changes a random stream on purpose prints the new table with
//! `UNDERTONE_GOLDEN=print cargo test --test main golden -- --nocapture` and says why in the changelog.

mod digest;

use undertone::campaign::sweep::Sweep;
use undertone::config::read_config;

use crate::support::experiments::{resolve, sims};
use crate::support::repository;
use digest::digest_of;

fn digest(file: &str, set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(|s| (*s).to_owned()).collect();
    let config = read_config(&repository(file), &set).expect("valid");
    digest_of(&resolve(config).expect("valid"))
}

/// What is run: a name, an experiment file and changes that make it small.
const RUNS: &[(&str, &str, &[&str])] = &[
    ("quickstart", "tests/power.toml", &["data.items=60"]),
    (
        "linear",
        "tests/power.toml",
        &[
            "data.items=40",
            "averaging.scheme=linear",
            "averaging.tolerance=1e-4",
        ],
    ),
    (
        "krylov",
        "tests/power.toml",
        &[
            "data.items=40",
            "algorithm.kind=krylov",
            "algorithm.block=6",
            "privacy.budget=[3, 2, 1]",
        ],
    ),
    (
        "covariance",
        "tests/power.toml",
        &[
            "data.items=30",
            "peers.count=100",
            "algorithm.kind=covariance",
            "algorithm.iterations=1",
        ],
    ),
    (
        "raked-covariance",
        "tests/power.toml",
        &[
            "data.items=30",
            "data.degree_floor=7",
            "peers.count=100",
            "privacy.sensitivity=root-floor",
            "algorithm.kind=raked-covariance",
            "algorithm.iterations=1",
        ],
    ),
    (
        "momentum",
        "tests/power.toml",
        &[
            "data.items=40",
            "algorithm.kind=momentum",
            "algorithm.momentum=0.3",
        ],
    ),
    (
        "event",
        "tests/power.toml",
        &[
            "data.items=40",
            "peers.count=100",
            "engine.kind=event",
            "engine.latency={uniform={low_micros=1, high_micros=900}}",
        ],
    ),
    ("federated", "tests/power.toml", &["engine.kind=federated"]),
    ("central", "tests/power.toml", &["engine.kind=central"]),
    ("analytic", "tests/power.toml", &["engine.kind=analytic"]),
    #[cfg(feature = "node")]
    (
        "swarm-64",
        "sims/swarm-64.toml",
        &["data.items=40", "engine.transport=memory"],
    ),
];

/// Streams v3: a session is named by its algorithm's name, its settings and its releases, and its setting is a sorted list of lines.
const EXPECTED: &[(&str, &str)] = &[
    ("quickstart", "df4c2f129207"),
    ("linear", "a1c4975d88ce"),
    ("krylov", "9cf5874e7df9"),
    ("covariance", "50ee85395323"),
    ("raked-covariance", "6b5e7ea59f6c"),
    ("momentum", "759b03c5ba94"),
    ("event", "a7ea8b85df35"),
    ("federated", "f193f36e054b"),
    ("central", "f831c2d92025"),
    ("analytic", "03a06b2aeb00"),
    ("swarm-64", "5aae12924705"),
    ("sweep", "ebd8e53f291f"),
];

#[test]
fn runs_give_the_bits_they_gave_before() {
    let mut found: Vec<(&str, String)> = RUNS
        .iter()
        .map(|(name, file, set)| (*name, digest(file, set)))
        .collect();
    found.push(("sweep", sweep()));
    if std::env::var_os("UNDERTONE_GOLDEN").is_some() {
        for (name, digest) in &found {
            println!("    ({name:?}, {digest:?}),");
        }
        return;
    }
    for (name, digest) in found {
        let expected = EXPECTED.iter().find(|(other, _)| *other == name);
        let expected = expected.map(|(_, digest)| *digest);
        assert_eq!(expected, Some(digest.as_str()), "{name}");
    }
}

/// All cells of a sweep over five methods.
fn sweep() -> String {
    let set = [
        "sweep.coincide=[]",
        "sweep.seeds=1",
        "data.items=40",
        "algorithm.rank=3",
        "sweep.over={\"privacy.epsilon\"=[5]}",
    ]
    .map(str::to_owned);
    let config = read_config(&repository("sims/fig1-small.toml"), &set).expect("valid");
    let sweep = Sweep::new(config, &sims()).expect("valid");
    let mut hasher = blake3::Hasher::new();
    for &cell in sweep.cells() {
        let method = sweep.experiment(cell).expect("checked");
        let mut config = method.config().clone();
        config.seed = cell.seed;
        let experiment = resolve(config).expect("valid under any seed");
        hasher.update(digest_of(&experiment).as_bytes());
    }
    hasher.finalize().to_hex()[..12].to_owned()
}
