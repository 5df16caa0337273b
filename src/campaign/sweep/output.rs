//! `sweep.csv`, `curves.csv`, `summary.json` and `config.toml` of a sweep.

use std::fs;
use std::path::Path;

use super::curve::Curve;
use super::error::SweepRunError;
use super::grid::Sweep;
use super::journal::CellOutcome;
use super::measures::{COLUMNS, number};
use super::result::SweepResult;
use crate::config::resolved;
use crate::run::output::{OutputError, put};
use crate::writing::csv;

/// The experiment file as it was run, with absolute paths.
pub(super) fn write_config(sweep: &Sweep, directory: &Path) -> Result<(), OutputError> {
    let config = sweep.materials.anchored(sweep.whole_config());
    put(directory, "config.toml", resolved(&config).as_bytes())
}

/// Removes the results of an earlier sweep, so that files of two sweeps never stand beside each other; the journal
/// stays.
pub(super) fn forget(directory: &Path) -> Result<(), OutputError> {
    for name in ["sweep.csv", "curves.csv", "summary.json", "report.html"] {
        let path = directory.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != std::io::ErrorKind::NotFound => {
                return Err(OutputError { path, source });
            }
            _ => {}
        }
    }
    Ok(())
}

/// One row per finished cell, in cell order: method, every swept key, seed, measures, error.
pub(super) fn write_cells(
    sweep: &Sweep,
    directory: &Path,
    outcomes: &[Option<CellOutcome>],
) -> Result<(), SweepRunError> {
    let keys = sweep.table.over.0.iter().map(|(key, _)| key.clone());
    let mut rows = vec![
        std::iter::once("method".to_owned())
            .chain(keys)
            .chain(std::iter::once("seed".to_owned()))
            .chain(COLUMNS.map(str::to_owned))
            .chain(std::iter::once("error".to_owned()))
            .collect::<Vec<String>>(),
    ];
    for (cell, outcome) in sweep.cells.iter().zip(outcomes) {
        let Some(outcome) = outcome else { continue };
        let mut row = vec![sweep.methods[cell.method].name.clone()];
        row.extend(sweep.grid[cell.point].iter().map(text));
        row.push(cell.seed.to_string());
        match outcome {
            Ok(measures) => {
                row.extend(measures.fields());
                row.push(String::new());
            }
            Err(error) => {
                row.extend(COLUMNS.map(|_| String::new()));
                row.push(error.clone());
            }
        }
        rows.push(row);
    }
    Ok(put(directory, "sweep.csv", &csv(&rows))?)
}

/// `curves.csv` and `summary.json`.
pub(super) fn write_result(result: &SweepResult, directory: &Path) -> Result<(), SweepRunError> {
    let heading = [
        "measure", "method", &result.x, "runs", "mean", "low", "high",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (measure, curves) in [
        ("relative_error_non_private", &result.curves),
        ("relative_error", &result.curves_exact),
        ("epsilon_spent", &result.spent),
        ("epsilon_planned", &result.planned),
        ("epsilon_realised", &result.realised),
        ("participants", &result.participants),
        ("recall", &result.curves_recall),
        ("recall", &result.lines_recall),
        ("ndcg", &result.curves_ndcg),
        ("ndcg", &result.lines_ndcg),
    ] {
        for Curve { method, points } in curves {
            rows.extend(points.iter().map(|point| {
                vec![
                    measure.to_owned(),
                    method.clone(),
                    number(point.x),
                    point.runs.to_string(),
                    number(point.mean),
                    number(point.low),
                    number(point.high),
                ]
            }));
        }
    }
    put(directory, "curves.csv", &csv(&rows))?;
    let mut json = serde_json::to_vec_pretty(result).map_err(|error| OutputError {
        path: directory.join("summary.json"),
        source: error.into(),
    })?;
    json.push(b'\n');
    Ok(put(directory, "summary.json", &json)?)
}

/// A swept value as a field: text without quotes.
fn text(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Float(value) => number(*value),
        other => other.to_string(),
    }
}
