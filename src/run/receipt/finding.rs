//! One line of a check, and the comparison of two JSON trees leaf by leaf.

use serde::Serialize;
use serde_json::{Number, Value};

/// One line of a check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What was compared: the path of a field, or a sentence about several.
    pub what: String,
    /// What the receipt says.
    pub stated: Value,
    /// What the check computes.
    pub computed: Value,
    /// Whether they agree.
    pub agrees: bool,
}

/// Numbers agree that differ by at most this share.
pub(super) const TOLERANCE: f64 = 1e-6;

impl Finding {
    /// Something that holds or does not.
    pub(super) fn flag(what: &str, agrees: bool) -> Self {
        Self {
            what: what.to_owned(),
            stated: true.into(),
            computed: agrees.into(),
            agrees,
        }
    }

    /// Two numbers that should be equal.
    pub(super) fn equal(what: &str, stated: f64, computed: f64) -> Self {
        Self {
            what: what.to_owned(),
            stated: stated.into(),
            computed: computed.into(),
            agrees: near(stated, computed),
        }
    }
}

/// Whether a number is the one computed to one part in a million.
pub(super) fn near(stated: f64, computed: f64) -> bool {
    // Infinite numbers have no difference, and every number would be within a share of them.
    let is_near = (stated - computed).abs() <= TOLERANCE * computed.abs();
    stated == computed || (computed.is_finite() && is_near)
}

/// Compares a stated tree with one that was computed, leaf by leaf: whole numbers, words and empty fields must be equal, other numbers near. Every leaf of
/// either is one finding with its path below `at`.
pub(super) fn compare(at: &str, stated: &Value, computed: &Value, findings: &mut Vec<Finding>) {
    leaves(at, Some(stated), Some(computed), findings);
}

fn leaves(at: &str, stated: Option<&Value>, computed: Option<&Value>, findings: &mut Vec<Finding>) {
    match (stated, computed) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let missing = a.keys().filter(|key| !b.contains_key(*key));
            for key in b.keys().chain(missing) {
                leaves(&format!("{at}.{key}"), a.get(key), b.get(key), findings);
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) => {
            for place in 0..a.len().max(b.len()) {
                let path = format!("{at}[{place}]");
                leaves(&path, a.get(place), b.get(place), findings);
            }
        }
        _ => findings.push(Finding {
            what: at.to_owned(),
            stated: shown(stated),
            computed: shown(computed),
            agrees: match (stated, computed) {
                (Some(Value::Number(a)), Some(Value::Number(b))) => same(a, b),
                _ => stated == computed,
            },
        }),
    }
}

/// A leaf as a finding shows it: what is no leaf, or not there, is named.
fn shown(value: Option<&Value>) -> Value {
    match value {
        None => "absent".into(),
        Some(Value::Object(_)) => "a table".into(),
        Some(Value::Array(list)) => format!("a list of {}", list.len()).into(),
        Some(leaf) => leaf.clone(),
    }
}

/// Whether a number is the one computed: exactly where that is whole.
fn same(stated: &Number, computed: &Number) -> bool {
    let (Some(a), Some(b)) = (stated.as_f64(), computed.as_f64()) else {
        return false;
    };
    match computed.is_f64() {
        true => near(a, b),
        false => stated == computed || (stated.is_f64() && a == b),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failed(stated: &Value, computed: &Value) -> Vec<String> {
        let mut findings = Vec::new();
        compare("tree", stated, computed, &mut findings);
        let failed = findings.into_iter().filter(|one| !one.agrees);
        failed.map(|one| one.what).collect()
    }

    #[test]
    fn every_leaf_that_differs_is_named_by_its_path() {
        let honest = json!({"a": 1.5, "b": [1, {"c": "word"}], "d": null, "e": 1_u64 << 60});
        assert_eq!(failed(&honest, &honest), Vec::<String>::new());
        for (stated, path) in [
            (
                json!({"a": 1.50001, "b": [1, {"c": "word"}], "d": null, "e": 1_u64 << 60}),
                "tree.a",
            ),
            (
                json!({"a": "1.5", "b": [1, {"c": "word"}], "d": null, "e": 1_u64 << 60}),
                "tree.a",
            ),
            (
                json!({"a": 1.5, "b": [2, {"c": "word"}], "d": null, "e": 1_u64 << 60}),
                "tree.b[0]",
            ),
            (
                json!({"a": 1.5, "b": [1, {"c": "else"}], "d": null, "e": 1_u64 << 60}),
                "tree.b[1].c",
            ),
            (
                json!({"a": 1.5, "b": [1], "d": null, "e": 1_u64 << 60}),
                "tree.b[1]",
            ),
            (
                json!({"a": 1.5, "b": {}, "d": null, "e": 1_u64 << 60}),
                "tree.b",
            ),
            (
                json!({"a": 1.5, "b": [1, {"c": "word"}], "d": 60.0, "e": 1_u64 << 60}),
                "tree.d",
            ),
            (
                json!({"a": 1.5, "b": [1, {"c": "word"}], "e": 1_u64 << 60}),
                "tree.d",
            ),
            // A whole number is no other one, however near.
            (
                json!({"a": 1.5, "b": [1, {"c": "word"}], "d": null, "e": (1_u64 << 60) + 1}),
                "tree.e",
            ),
            (
                json!({"a": 1.5, "b": [1, {"c": "word"}], "d": null, "e": 1_u64 << 60, "f": 1}),
                "tree.f",
            ),
        ] {
            assert_eq!(failed(&stated, &honest), [path]);
        }
        // One part in a million is forgiven, and how a whole number is written.
        let forgiven =
            json!({"a": 1.500_000_1, "b": [1.0, {"c": "word"}], "d": null, "e": 1_u64 << 60});
        assert_eq!(failed(&forgiven, &honest), Vec::<String>::new());
    }

    #[test]
    fn nothing_finite_is_near_what_is_infinite() {
        assert!(near(f64::INFINITY, f64::INFINITY) && near(0.0, 0.0));
        assert!(!near(1.0, f64::INFINITY) && !near(f64::NAN, 1.0) && !near(1.0, 0.0));
    }
}
