//! How the screen of a sweep names points, targets, methods and pairs of them.

use super::{colour, table};
use crate::campaign::sweep::{Coincidence, Curve, SweepResult};
use crate::config::SweepConfig;

/// All x at which any of these curves has a point, ascending.
pub(super) fn places(curves: &[&Curve]) -> Vec<f64> {
    let points = curves.iter().flat_map(|curve| &curve.points);
    let mut xs: Vec<f64> = points.map(|point| point.x).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// An x as in the file: x is a place in the list where the list does not consist of numbers.
pub(super) fn x_name(swept: &SweepConfig, x: f64) -> String {
    let values = &swept.over.0[0].1;
    let is_number =
        |value: &toml::Value| value.is_integer() || value.as_float().is_some_and(f64::is_finite);
    if values.iter().all(is_number) {
        return format!("{x}");
    }
    match values.get(x as usize) {
        Some(toml::Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => format!("{x}"),
    }
}

/// The target as a value of the measure.
pub(super) fn target(result: &SweepResult) -> String {
    let target = result.error.measure(result.target.unwrap_or_default());
    let text = table::number(target);
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The method of a crossing, marked if it is the baseline.
pub(super) fn name(result: &SweepResult, swept: &SweepConfig, place: usize) -> String {
    let method = &result.crossings[place].method;
    match swept.is_baseline(place, result.crossings.len()) {
        true => format!("{method} (baseline)"),
        false => method.clone(),
    }
}

/// The verdict on one pair.
pub(super) fn coincidence(pair: &Coincidence) -> String {
    let [one, other] = &pair.methods;
    let known = pair.points.iter().filter_map(|(_, p)| *p);
    let least = known.reduce(f64::min);
    format!(
        "{}  {one} and {other} have errors of the same law: least corrected p-value {} over {} points",
        colour::verdict(pair.holds),
        table::optional(least),
        pair.points.len()
    )
}
