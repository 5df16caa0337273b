//! Where a sweep's methods reach the target, in one line.

use super::sweep_labels::{name, target};
use super::table;
use crate::campaign::sweep::{Crossing, SweepResult};
use crate::config::{SweepConfig, SweptError};

/// Crossings of a short screen, with the baseline's.
const MOST_CROSSINGS: usize = 4;

/// Where the target is reached, in one line.
pub(super) fn reached(result: &SweepResult, swept: &SweepConfig) -> String {
    let all = result.crossings.iter().enumerate();
    let (mut reached, never): (Vec<_>, Vec<_>) = all.partition(|(_, found)| found.x.is_some());
    let x = |found: &Crossing| found.x.unwrap_or(f64::INFINITY);
    reached.sort_by(|a, b| x(a.1).total_cmp(&x(b.1)));
    let is_baseline = |place: usize| swept.is_baseline(place, result.crossings.len());
    let measure = match result.error {
        SweptError::NonPrivate | SweptError::Exact => "relative error".to_owned(),
        _ => result.measure(),
    };
    let goal = format!("{measure} {}", target(result));
    if reached.is_empty() {
        return format!("{goal} is not reached by any method");
    }
    let listed = |(place, found): &(usize, &Crossing)| {
        let bound = if found.at_most { " or less" } else { "" };
        let method = name(result, swept, *place);
        format!("{}{bound} by {method}", table::number(x(found)))
    };
    let (first, later) = reached.split_at(reached.len().min(MOST_CROSSINGS - 1));
    let (baselines, others): (Vec<_>, Vec<_>) =
        later.iter().partition(|(place, _)| is_baseline(*place));
    let mut parts: Vec<String> = first.iter().chain(baselines).map(listed).collect();
    if !others.is_empty() {
        parts.push(format!("later by {} more", others.len()));
    }
    match never.as_slice() {
        [] => {}
        [(place, _)] => parts.push(format!("never by {}", name(result, swept, *place))),
        several => parts.push(format!("never by {} of them", several.len())),
    }
    format!("{goal} is reached at {} = {}", result.x, parts.join("; "))
}
