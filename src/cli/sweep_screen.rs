//! The screen of a sweep: one line for every point of every curve, with its band and its runs.

use std::io::{self, Write};

use super::sweep_labels::{coincidence, name, places, target, x_name};
use super::{colour, sweep_details, table};
use crate::campaign::sweep::{Crossing, Curve, SweepResult};
use crate::config::{SweepConfig, SweptError};

/// What is printed beside the points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Extent {
    /// All promises, epsilons, crossings and coincidences.
    pub(super) verbose: bool,
    /// The error against the bytes sent.
    pub(super) pareto: bool,
}

/// Promises of a short screen.
const MOST_PROMISES: usize = 2;
/// Crossings of a short screen, with the baseline's.
const MOST_CROSSINGS: usize = 4;

/// Prints what a sweep with this table found: at most ten lines, and one for every point of a curve.
pub(super) fn print(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
    extent: Extent,
) -> io::Result<()> {
    writeln!(
        out,
        "{}: {} runs: {} curves over {}, {} seeds at each point",
        result.name,
        result.cells,
        result.curves.len(),
        result.x,
        result.seeds
    )?;
    print_promises(out, result, extent.verbose)?;
    writeln!(
        out,
        "{}: mean of n runs, 99 % confidence band of that mean (bootstrap)",
        measured(result)
    )?;
    table::write(out, &points(result, swept))?;
    writeln!(
        out,
        "where two bands overlap, the difference may be chance: more seeds make them narrower"
    )?;
    if extent.verbose {
        sweep_details::print(out, result, swept)?;
    } else {
        if result.target.is_some() {
            writeln!(out, "{}", crossings(result, swept))?;
        }
        print_coincidences(out, result)?;
    }
    if extent.pareto {
        sweep_details::print_frontiers(out, result, swept)?;
    }
    let mut more = Vec::new();
    if !extent.verbose {
        more.push("all details: --verbose");
    }
    if !extent.pareto && !result.frontiers.is_empty() {
        more.push("the best methods for their bytes: --pareto");
    }
    match more.is_empty() {
        true => Ok(()),
        false => writeln!(out, "{}", more.join("; ")),
    }
}

/// The measure, in which direction it is good, and what it is measured on.
fn measured(result: &SweepResult) -> String {
    let measure = result.measure();
    match result.error {
        SweptError::NonPrivate | SweptError::Exact => format!("{measure} (less is better)"),
        SweptError::Variance => format!(
            "{measure} (1 for the exact eigenvectors; measured on the raw data: not private)"
        ),
        SweptError::Rmse => format!(
            "{measure} on the ratings kept aside (less is better; measured on the raw data: not private)"
        ),
        SweptError::Recall | SweptError::Ndcg => format!(
            "{measure} of the users' lists (more is better; measured on the raw held-out interactions: not private)"
        ),
    }
}

fn print_promises(out: &mut impl Write, result: &SweepResult, all: bool) -> io::Result<()> {
    match result.promises.as_slice() {
        [only] => writeln!(out, "{}", only.promise),
        several if all || several.len() <= MOST_PROMISES => several
            .iter()
            .try_for_each(|found| writeln!(out, "{}: {}", found.methods.join("; "), found.promise)),
        several => writeln!(
            out,
            "privacy: methods protect different records, or against different observers ({} promises): --verbose lists them",
            several.len()
        ),
    }
}

/// One row for every point of the curves asked for, by x; a curve that is the same everywhere has one row.
fn points(result: &SweepResult, swept: &SweepConfig) -> Vec<Vec<String>> {
    let heading = [result.x.as_str(), "method", "mean", "99 % band", "n"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let curves = result.asked();
    let (level, moving): (Vec<&Curve>, Vec<&Curve>) =
        curves.iter().partition(|curve| is_level(curve));
    for x in places(&moving) {
        for curve in &moving {
            let found = curve.points.iter().filter(|point| point.x == x);
            rows.extend(found.map(|point| row(x_name(swept, x), curve, point)));
        }
    }
    rows.extend(
        level
            .iter()
            .map(|curve| row("all".to_owned(), curve, &curve.points[0])),
    );
    rows
}

fn row(x: String, curve: &Curve, point: &crate::campaign::sweep::CurvePoint) -> Vec<String> {
    let band = match point.runs {
        1 => "-".to_owned(),
        _ => format!(
            "{} to {}",
            table::number(point.low),
            table::number(point.high)
        ),
    };
    let mean = table::number(point.mean);
    vec![x, curve.method.clone(), mean, band, point.runs.to_string()]
}

/// Whether a curve has the same mean at several points.
fn is_level(curve: &Curve) -> bool {
    let mut pairs = curve.points.windows(2);
    curve.points.len() > 1 && pairs.all(|pair| pair[0].mean == pair[1].mean)
}

/// Where the target is reached, in one line.
fn crossings(result: &SweepResult, swept: &SweepConfig) -> String {
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

/// One line: the verdict of all pairs, and which do not hold.
fn print_coincidences(out: &mut impl Write, result: &SweepResult) -> io::Result<()> {
    let pairs = &result.coincidences;
    let failing: Vec<String> = pairs
        .iter()
        .filter(|pair| !pair.holds)
        .map(|pair| pair.methods.join(" and "))
        .collect();
    match (pairs.as_slice(), failing.is_empty()) {
        ([], _) => Ok(()),
        ([only], _) => writeln!(out, "{}", coincidence(only)),
        (_, true) => writeln!(
            out,
            "{}  all {} pairs of methods have errors of the same law",
            colour::verdict(true),
            pairs.len()
        ),
        _ => writeln!(
            out,
            "{}  {} of {} pairs of methods have errors of different laws: {}",
            colour::verdict(false),
            failing.len(),
            pairs.len(),
            failing.join("; ")
        ),
    }
}
