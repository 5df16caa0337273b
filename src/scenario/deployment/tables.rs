//! The tables of a session file, as its members read them.

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use super::DeploymentError;
use crate::config::{
    AnyAlgorithmTable, AveragingConfig, CompletionConfig, Config, DataConfig, DropoutsConfig,
    EngineConfig, EngineKind, EvaluationConfig, NoiseConfig, PeerCount, PeersConfig, PrivacyConfig,
    TopologySource, arranged,
};
use crate::vocabulary::{Label, Seed};

/// Tables of an experiment file that a session has not, each with the reason.
const ELSEWHERE: [(&str, &str); 10] = [
    ("seed", "the beacon of the members decides; leave it out"),
    ("peers", "the members are the peers; leave it out"),
    ("engine", "deployed peers are libp2p nodes; leave it out"),
    (
        "evaluation",
        "nobody sees all data to measure against; leave it out",
    ),
    ("completion", "nobody sees all ratings; leave it out"),
    (
        "recommender",
        "recommend from the result afterwards; leave it out",
    ),
    ("pilot", "a session spends its budget at once; leave it out"),
    ("compare", "a session runs one algorithm; leave it out"),
    (
        "faults",
        "in a deployment they come by themselves; leave it out",
    ),
    ("sweep", "a session is one run; leave it out"),
];

/// Tables whose graph the beacon can draw.
pub(super) const GRAPHS: [&str; 2] = ["topology", "noise_topology"];

/// The tables of a session: whose rows, what is computed and promised, over which graphs.
///
/// It has no seed, no peers, no engine and nothing that is measured: members, their beacon and their own files decide those.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SessionTables {
    /// A short name for results.
    #[serde(default = "unnamed")]
    pub name: String,
    /// What every member's file becomes.
    pub data: DataConfig,
    /// Communication graph.
    pub topology: TopologySource,
    /// Graph that noise is shared on; the communication graph where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_topology: Option<TopologySource>,
    /// What is computed.
    pub algorithm: AnyAlgorithmTable,
    /// What it may reveal.
    pub privacy: PrivacyConfig,
    /// How the sum is protected.
    #[serde(default)]
    pub noise: NoiseConfig,
    /// How the mean is formed.
    #[serde(default)]
    pub averaging: AveragingConfig,
    /// How many members may be lost, and what that may cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropouts: Option<DropoutsConfig>,
}

fn unnamed() -> String {
    "experiment".to_owned()
}

impl SessionTables {
    /// Reads the tables as a session file has them, with the seeds of graphs that this draw of the beacon decides.
    ///
    /// # Errors
    /// [`DeploymentError`] naming a table that a session has not, a key that all members must agree on, or a key that does not read.
    pub fn read(tables: &Table, beacon: &[u8; 32], draw: u32) -> Result<Self, DeploymentError> {
        check_tables(tables)?;
        let mut tables = tables.clone();
        for key in GRAPHS {
            let seed = tables.get_mut(key).and_then(|graph| graph.get_mut("seed"));
            if let Some(seed) = seed
                && seed.as_str() == Some("beacon")
            {
                *seed = Value::Integer(drawn(beacon, key, draw) as i64);
            }
        }
        let has_path = tables.get("data").and_then(|data| data.get("path"));
        if has_path.is_some() {
            return Err(DeploymentError::Key {
                key: "data.path",
                why: "every member names its own rows: `undertone node run --data FILE`; leave it out",
            });
        }
        let read = arranged(tables).and_then(Self::deserialize);
        read.map_err(|error| DeploymentError::Parse(error.to_string()))
    }

    /// The tables as a session file has them, which names no file of rows.
    #[must_use]
    pub fn text(&self) -> String {
        let mut tables = Table::try_from(self).unwrap_or_default();
        if let Some(data) = tables.get_mut("data").and_then(Value::as_table_mut) {
            data.remove("path");
        }
        tables.to_string()
    }

    /// The tables in the form that all steps take which sessions and experiments share, for so many members; whatever a session has not is at its
    /// default.
    pub(super) fn shared(self, members: usize) -> Config {
        let kind = match self.dropouts {
            Some(_) => EngineKind::Event,
            None => EngineKind::Swarm,
        };
        Config {
            name: self.name,
            seed: 0,
            data: self.data,
            peers: PeersConfig {
                count: PeerCount::Number(members),
                ..PeersConfig::default()
            },
            topology: self.topology,
            noise_topology: self.noise_topology,
            algorithm: self.algorithm,
            privacy: self.privacy,
            noise: self.noise,
            averaging: self.averaging,
            engine: EngineConfig {
                kind,
                ..EngineConfig::default()
            },
            dropouts: self.dropouts,
            faults: None,
            evaluation: EvaluationConfig::default(),
            completion: CompletionConfig::default(),
            pilot: None,
            recommender: None,
            compare: None,
            sweep: None,
        }
    }

    /// The tables of a session out of that form.
    pub(super) fn of_shared(shared: &Config) -> Self {
        Self {
            name: shared.name.clone(),
            data: shared.data.clone(),
            topology: shared.topology.clone(),
            noise_topology: shared.noise_topology.clone(),
            algorithm: shared.algorithm,
            privacy: shared.privacy.clone(),
            noise: shared.noise,
            averaging: shared.averaging.clone(),
            dropouts: shared.dropouts,
        }
    }
}

/// The public seed that a beacon gives to what is called so: 63 bits, as files hold.
fn drawn(beacon: &[u8; 32], what: &str, draw: u32) -> u64 {
    let purpose = Seed::of_beacon(beacon, draw).named(Label::Beacon, what);
    purpose.bits("number") >> 1
}

/// The public seed of the starting block: whatever graph is drawn.
pub(super) fn start_seed(beacon: &[u8; 32]) -> u64 {
    drawn(beacon, "start", 0)
}

/// Whether the beacon draws a graph: another draw is another one.
pub(super) fn draws_graphs(tables: &Table) -> bool {
    GRAPHS.into_iter().any(|key| {
        let seed = tables.get(key).and_then(|graph| graph.get("seed"));
        seed.and_then(Value::as_str) == Some("beacon")
    })
}

/// Refuses tables that a session decides, and the lack of keys that members agree on.
fn check_tables(tables: &Table) -> Result<(), DeploymentError> {
    let decided = ELSEWHERE.into_iter();
    if let Some((key, why)) = decided
        .into_iter()
        .find(|(key, _)| tables.contains_key(*key))
    {
        return Err(DeploymentError::Key { key, why });
    }
    let says = |table: &str, key| {
        let table = tables.get(table).and_then(Value::as_table);
        table.is_some_and(|table| table.contains_key(key))
    };
    for (key, is_said, example) in [
        (
            "algorithm",
            tables.contains_key("algorithm"),
            "algorithm = { kind = \"covariance\", rank = 4, iterations = 1 }",
        ),
        (
            "topology",
            tables.contains_key("topology"),
            "topology = { generator = \"complete\" }",
        ),
        ("privacy.delta", says("privacy", "delta"), "delta = 1e-6"),
    ] {
        if !is_said {
            return Err(DeploymentError::Missing { key, example });
        }
    }
    Ok(())
}
