//! What a session's noise is bound to beside its plan and its rows: every setting that decides what is published, as sorted lines.

use serde::Serialize;
use serde_json::{Value, json};

use super::experiment::Experiment;
use crate::config::EngineKind;

/// Keys that files always write, with the value at which they say nothing.
const SILENT: [(&str, &str); 5] = [
    ("data.degree_floor", "1"),
    ("data.items", "0"),
    ("data.path", "\"\""),
    ("data.threshold", "0.0"),
    ("dropouts.retries", "0"),
];

impl Experiment {
    /// A digest of [`Self::setting_lines`]. Two runs of one seed that differ in any line share no noise, even where it came to
    /// leave the rows as they were, and so cannot be compared.
    pub(super) fn setting(&self) -> [u8; 32] {
        let lines = self.setting_lines().join("\n");
        blake3::derive_key("undertone 2026-11 noise setting v2", lines.as_bytes())
    }

    /// Every setting that decides what is published and that neither the plan nor the rows show, as sorted lines `table.key = value`: how the
    /// rows were chosen, and by which kind of engine.
    ///
    /// Faults that may lose a peer are among them, with what tolerates them, since they decide which releases are repeated, and by whom. A run without
    /// them that is to be compared with one under faults takes the setting of that one.
    ///
    /// Paths and names are left out: a copied experiment gives the same bits. The engines that pass the same messages are one.
    #[must_use]
    pub fn setting_lines(&self) -> Vec<String> {
        let config = &self.config;
        let engine = match config.engine.kind {
            EngineKind::Lockstep | EngineKind::Event | EngineKind::Swarm => "peers",
            other => other.name(),
        };
        let mut data = config.data.without_paths();
        if self.mean_by_rule {
            // The number that the rule gives is the rule.
            data.set_mean_share(None);
        }
        let mut lines = Vec::new();
        let mut add = |table: &str, value| add_lines(table, &value, &mut lines);
        add("engine", json!(engine));
        add("evaluation.held", json!(config.held_share()));
        add("evaluation.test", json!(config.evaluation.test.is_some()));
        add("data", value(&data));
        add("peers", value(&config.peers));
        add("algorithm", value(&config.algorithm));
        add("privacy", value(&config.privacy));
        add("noise", value(&config.noise));
        if let Some(faults) = self.bound_faults.as_ref().filter(|all| all.may_lose()) {
            add("dropouts", value(&config.dropouts));
            add("faults", value(faults));
        }
        lines.sort();
        lines
    }
}

fn value(table: &impl Serialize) -> Value {
    serde_json::to_value(table).expect("settings are numbers, texts and lists")
}

/// One line for every value below `path` that says something.
fn add_lines(path: &str, value: &Value, lines: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(table) => {
            for (key, value) in table {
                add_lines(&format!("{path}.{key}"), value, lines);
            }
        }
        Value::Array(list) if list.iter().any(Value::is_object) => {
            for (index, value) in list.iter().enumerate() {
                add_lines(&format!("{path}.{index}"), value, lines);
            }
        }
        _ => {
            let text = value.to_string();
            if !SILENT.contains(&(path, text.as_str())) {
                lines.push(format!("{path} = {text}"));
            }
        }
    }
}
