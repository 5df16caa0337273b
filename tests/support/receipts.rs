//! Receipts as JSON: every number of one, what is near it, and whether a check finds a change.

use std::path::Path;

use serde_json::Value;
use undertone::run::receipt::{Receipt, Standing};

/// A hundredth more and less; one more and less of what is counted.
pub(crate) fn nearby(value: &Value) -> Vec<Value> {
    match (value.as_u64(), value.as_f64()) {
        (Some(0), _) => vec![1.into()],
        (Some(count), _) => vec![(count + 1).into(), (count - 1).into()],
        // A hundredth of nothing is nothing.
        (None, Some(0.0)) | (None, None) => Vec::new(),
        (None, Some(number)) => vec![(number * 1.01).into(), (number * 0.99).into()],
    }
}

/// Whether a check finds something, or refuses.
pub(crate) fn found(receipt: &Value) -> bool {
    let bytes = receipt.to_string().into_bytes();
    let Ok(receipt) = Receipt::parse(Path::new("a receipt"), &bytes) else {
        return true;
    };
    match receipt.check() {
        Ok(findings) => findings.iter().any(|f| !f.agrees),
        Err(_) => true,
    }
}

/// Pointers to all numbers; of the edges of the graph only the first's.
pub(crate) fn numbers(value: &Value, at: &str) -> Vec<String> {
    let below = |key: String, value: &Value| numbers(value, &format!("{at}/{key}"));
    match value {
        Value::Number(_) => vec![at.to_owned()],
        Value::Object(table) => table
            .iter()
            .flat_map(|(k, v)| below(k.clone(), v))
            .collect(),
        Value::Array(list) => {
            let shown = if at.ends_with("edges") { 1 } else { list.len() };
            let entries = list.iter().take(shown).enumerate();
            entries.flat_map(|(i, v)| below(i.to_string(), v)).collect()
        }
        _ => Vec::new(),
    }
}

/// The field of a pointer as the table has it: `/releases/1/statistic` is `releases[].statistic`.
pub(crate) fn general(path: &str) -> String {
    let mut name = String::new();
    for part in path.split('/').skip(1) {
        if part.parse::<usize>().is_ok() {
            name.push_str("[]");
        } else {
            name.push_str(if name.is_empty() { "" } else { "." });
            name.push_str(part);
        }
    }
    // Entries of a list of numbers are the field's own.
    name.trim_end_matches("[]").to_owned()
}

pub(crate) fn with(receipt: &Value, changes: &[(&str, Value)]) -> Value {
    let mut changed = receipt.clone();
    for (path, value) in changes {
        *changed.pointer_mut(path).expect("a leaf") = value.clone();
    }
    changed
}

/// How far a check vouches for a field: as its line says, or that of the table that it is in.
pub(crate) fn standing(field: &str) -> Option<Standing> {
    let standings = Receipt::standings();
    let mut name = field;
    loop {
        if let Some(line) = standings.iter().find(|line| line.field == name) {
            return Some(line.standing);
        }
        name = name
            .strip_suffix("[]")
            .or_else(|| Some(name.rsplit_once('.')?.0))?;
    }
}
