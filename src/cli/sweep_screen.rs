//! The screen of a sweep: one line for every point of every curve, with its band and its runs.

use std::io::{self, Write};

use super::arguments::DetailArguments;
use super::sweep_labels::coincidence;
use super::{colour, sweep_details, sweep_pareto, sweep_points, sweep_target, table};
use crate::campaign::sweep::SweepResult;
use crate::config::{SweepConfig, SweptError};

/// Promises of a short screen.
const MOST_PROMISES: usize = 2;

/// Prints what a sweep with this table found: at most ten lines, and one for every point of a curve.
pub(super) fn print(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
    detail: DetailArguments,
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
    print_promises(out, result, detail.verbose)?;
    writeln!(
        out,
        "{}: mean of n runs, 99 % confidence band of that mean (bootstrap)",
        measured(result)
    )?;
    table::write(out, &sweep_points::rows(result, swept))?;
    writeln!(
        out,
        "where two bands overlap, the difference may be chance: more seeds make them narrower"
    )?;
    if detail.verbose {
        sweep_details::print(out, result, swept)?;
    } else {
        if result.target.is_some() {
            writeln!(out, "{}", sweep_target::reached(result, swept))?;
        }
        print_coincidences(out, result)?;
    }
    if detail.pareto {
        sweep_pareto::print(out, result, swept)?;
    }
    let mut more = Vec::new();
    if !detail.verbose {
        more.push("all details: --verbose");
    }
    if !detail.pareto && !result.frontiers.is_empty() {
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
