//! The table of experiment files.

use undertone::campaign::auto::Auto;
use undertone::config::{Config, EngineKind, OverrideError, apply};
use undertone::scenario::{Experiment, ExperimentError, Materials};

use super::axes::{ADJACENCIES, Data, KINDS, NOISES, PAIRS, RULES, RUNNERS, WRAPPERS};
use super::keys::Keys;
use super::table::{ALLOWED, Row, Section};
use crate::support::repository;

/// Little of everything that no axis sets.
const REST: &str = r#"
[topology]
generator = "complete"
[averaging]
scheme = "tree"
[engine]
probes = 2
[algorithm]
kind = "power"
rank = 1
iterations = 2
[privacy]
epsilon = 2.0
delta = 1e-5
"#;

/// One section of the table: what all its rows have in common.
pub(super) struct Asked {
    /// How the section is called.
    pub(super) name: String,
    data: Data,
    set: Vec<String>,
}

impl Asked {
    fn new(wrapper: (&str, &str), data: Data, adjacency: &str, rule: &str) -> Self {
        let mut name = format!("{} {} {adjacency}", wrapper.0, data.name());
        let mut set = format!("privacy.adjacency={adjacency} {}", data.rule(adjacency));
        if !rule.is_empty() {
            name += &format!(" {rule}");
            set += &format!(" privacy.sensitivity={rule}");
        }
        set += &format!(" {}", wrapper.1);
        Self {
            name,
            data,
            set: set.split_whitespace().map(str::to_owned).collect(),
        }
    }

    /// All sections, in the order of the table.
    pub(super) fn all() -> Vec<Self> {
        let mut found = Vec::new();
        for wrapper in &WRAPPERS {
            for data in Data::ALL {
                let adjacencies = match wrapper.set {
                    "" => &ADJACENCIES[..],
                    _ => data.adjacencies(),
                };
                for adjacency in adjacencies {
                    let wrapper = (wrapper.name, wrapper.set);
                    found.push(Self::new(wrapper, data, adjacency, ""));
                }
                let first = data.adjacencies()[0];
                for rule in RULES.iter().filter(|_| wrapper.set.is_empty()) {
                    found.push(Self::new((wrapper.name, ""), data, first, rule));
                }
            }
        }
        for (name, sets) in &PAIRS {
            let set = sets.join(" ");
            for data in Data::ALL {
                found.push(Self::new((name, &set), data, data.adjacencies()[0], ""));
            }
        }
        found
    }

    /// Every kind, on every runner with every noise.
    pub(super) fn section(&self, keys: &mut Keys) -> Section {
        let materials = Materials::new(&repository("tests/goes_with/data"));
        let text = format!("name = \"small\"\nseed = 3\n{}{REST}", self.data.settings());
        let table: toml::Table = toml::from_str(&text).expect("an experiment");
        let rows = KINDS.iter().map(|kind| {
            let own = kind.set.split_whitespace().map(str::to_owned);
            let set: Vec<String> = own.chain(self.set.iter().cloned()).collect();
            let cells = match apply::<Config>(table.clone(), &set) {
                Ok(config) => cells(&config, &materials, keys),
                Err(error) => {
                    let text = match error {
                        // Without the overrides, which name keys that are not refused.
                        OverrideError::Invalid { reason, .. } => reason,
                        other => other.to_string(),
                    };
                    vec![vec![keys.named(&text); NOISES.len()]; RUNNERS.len()]
                }
            };
            Row {
                name: kind.name.to_owned(),
                cells,
            }
        });
        Section {
            name: self.name.clone(),
            rows: rows.collect(),
        }
    }
}

/// This configuration on every runner with every noise.
fn cells(config: &Config, materials: &Materials, keys: &mut Keys) -> Vec<Vec<String>> {
    let of_runner = |runner: EngineKind| {
        let cells = NOISES.iter().map(|noise| {
            let mut config = config.clone();
            config.engine.kind = runner;
            noise.apply(&mut config);
            match planned(config, materials) {
                Ok(()) => ALLOWED.to_owned(),
                Err(error) => keys.named(&error.to_string()),
            }
        });
        cells.collect()
    };
    RUNNERS.into_iter().map(of_runner).collect()
}

/// Resolves an experiment with all that it consists of, and plans every session of it.
fn planned(config: Config, materials: &Materials) -> Result<(), ExperimentError> {
    if Auto::is_meant(&config) {
        let auto = Auto::new(config, materials.base())?;
        for part in auto.pilot().into_iter().chain([auto.ground()]) {
            let _ = part.session(&part.root_seed());
        }
        return Ok(());
    }
    let experiment = Experiment::resolve_from(config, materials)?;
    let _ = experiment.session(&experiment.root_seed());
    if let Some(other) = experiment.compared()? {
        let _ = other.session(&other.root_seed());
    }
    Ok(())
}
