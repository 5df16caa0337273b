//! Small experiments on many topologies, all on the embedded ratings.

use std::path::Path;
use std::sync::LazyLock;

use undertone::config::{
    Config, ConfigError, EngineConfig, EngineKind, TransportKind, read_config,
};
use undertone::protocol::averaging::{AveragingError, AveragingKind};
use undertone::scenario::{AveragingTableError, Experiment, ExperimentError, Materials};

use super::repository;

/// A graph to test on, as an experiment file would name it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// For messages.
    pub(crate) name: &'static str,
    /// Number of peers.
    pub(crate) peers: usize,
    /// The `[topology]` table.
    pub(crate) topology: &'static str,
    /// The largest coalition the graph withstands whoever is in it.
    pub(crate) colluders: usize,
}

impl Case {
    /// The schemes that this graph has the edges for.
    pub(crate) fn schemes(self) -> impl Iterator<Item = AveragingKind> {
        AveragingKind::all().filter(move |scheme| {
            let found = Experiment::resolve(config(self, *scheme, &[]), &sims());
            !matches!(
                found,
                Err(ExperimentError::Averaging(AveragingTableError::Averaging(
                    AveragingError::NoGroups { .. }
                )))
            )
        })
    }

    /// These schemes with every tolerance that they take: an exact one has none to set and is tried once.
    pub(crate) fn with_tolerances(
        self,
        tolerances: &'static [f64],
    ) -> impl Iterator<Item = (AveragingKind, f64)> {
        self.schemes().flat_map(move |scheme| {
            let tried = if scheme.is_exact() {
                1
            } else {
                tolerances.len()
            };
            // Running totals do not come closer than rounding lets them.
            let reached = |tolerance: &&f64| !scheme.passes_mass() || **tolerance >= 1e-11;
            let tolerances = tolerances[..tried].iter().filter(reached);
            tolerances
                .map(move |&tolerance| (scheme, tolerance))
                .collect::<Vec<_>>()
        })
    }
}

const fn case(name: &'static str, peers: usize, topology: &'static str, colluders: usize) -> Case {
    Case {
        name,
        peers,
        topology,
        colluders,
    }
}

/// Cycle, hub, clique, lattice, expander, a social network and a backbone: slow and fast mixing, equal and
/// unequal degrees, with and without cut vertices, generated and read from files.
pub(crate) const CASES: [Case; 7] = [
    case("ring-8", 8, r#"{generator = "ring"}"#, 1),
    case("star-9", 9, r#"{generator = "star"}"#, 0),
    case("complete-10", 10, r#"{generator = "complete"}"#, 1),
    case(
        "random-regular-24-4",
        24,
        r#"{generator = "random-regular", degree = 4, seed = 1}"#,
        1,
    ),
    case(
        "torus-8x8",
        64,
        r#"{file = "../topologies/torus-8x8.toml"}"#,
        1,
    ),
    case("karate", 34, r#"{file = "../topologies/karate.toml"}"#, 0),
    case("abilene", 11, r#"{file = "../topologies/abilene.toml"}"#, 1),
];

/// P1's own method on the quickstart's users, shrunk to 40 items, rank 3 and 2 iterations on this graph, then changed.
pub(crate) fn config(case: Case, scheme: AveragingKind, set: &[&str]) -> Config {
    read(case, scheme, set).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// Why this is no experiment, with all causes: what reading says, or what resolving says.
pub(crate) fn refusal(case: Case, scheme: AveragingKind, set: &[&str]) -> String {
    let config = match read(case, scheme, set) {
        Ok(config) => config,
        Err(error) => return error.to_string(),
    };
    let Err(error) = resolve(config) else {
        panic!("{set:?} is accepted");
    };
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(error) = source {
        text += &format!(": {error}");
        source = error.source();
    }
    text
}

fn read(case: Case, scheme: AveragingKind, set: &[&str]) -> Result<Config, ConfigError> {
    let mut set = set.to_vec();
    let mut all = vec![
        format!("name={}", case.name),
        "seed=21".to_owned(),
        "data.items=40".to_owned(),
        "algorithm.rank=3".to_owned(),
        "algorithm.iterations=2".to_owned(),
        format!("peers.count={}", case.peers),
        format!("topology={}", case.topology),
        format!("privacy.colluders={}", case.colluders),
        format!("averaging.scheme={}", scheme.name()),
    ];
    if scheme.is_exact() {
        // It has no tolerance to set, whatever the file or a test wants of the other schemes.
        set.retain(|key| !key.starts_with("averaging.tolerance"));
        all.push(format!("averaging={{scheme=\"{}\"}}", scheme.name()));
    }
    all.extend(set.iter().map(|s| (*s).to_owned()));
    read_config(&repository("tests/power.toml"), &all)
}

/// That configuration, resolved.
pub(crate) fn experiment(case: Case, scheme: AveragingKind, set: &[&str]) -> Experiment {
    resolve(config(case, scheme, set)).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// The folder that paths in these configurations are relative to.
pub(crate) fn sims() -> std::path::PathBuf {
    repository("sims")
}

/// What the experiments of all tests share: every data set is read once.
static MATERIALS: LazyLock<Materials> = LazyLock::new(|| Materials::new(&sims()));

/// Resolves a configuration whose relative paths start at the folder `sims`.
pub(crate) fn resolve(config: Config) -> Result<Experiment, ExperimentError> {
    Experiment::resolve_from(config, &MATERIALS)
}

/// The same experiment on another gossip engine: graph, noise plan and schedule come out the same.
pub(crate) fn on_engine(experiment: &Experiment, engine: EngineConfig) -> Experiment {
    let mut config = experiment.config().clone();
    config.engine = engine;
    resolve(config).expect("valid on every gossip engine")
}

/// An engine with everything else at its default.
pub(crate) fn engine(kind: EngineKind) -> EngineConfig {
    EngineConfig {
        kind,
        ..EngineConfig::default()
    }
}

/// The swarm over a transport.
#[cfg_attr(not(feature = "node"), allow(dead_code, reason = "needs libp2p"))]
pub(crate) fn swarm(transport: TransportKind) -> EngineConfig {
    EngineConfig {
        transport,
        ..engine(EngineKind::Swarm)
    }
}

/// The contents of every file below `folder` whose name ends with `suffix`, by relative path.
pub(crate) fn files(folder: &Path, suffix: &str) -> std::collections::BTreeMap<String, Vec<u8>> {
    let mut found = std::collections::BTreeMap::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                let name = path.strip_prefix(folder).expect("below the folder");
                let bytes = std::fs::read(&path).expect("a readable file");
                found.insert(name.to_string_lossy().replace('\\', "/"), bytes);
            }
        }
    }
    found
}
