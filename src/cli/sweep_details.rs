//! The details of a sweep that are printed on request: epsilons, crossings, coincidences.

use std::io::{self, Write};

use super::sweep_labels::{coincidence, name, places, target, x_name};
use super::table;
use crate::campaign::sweep::{Curve, SweepResult};
use crate::config::SweepConfig;

/// Prints the epsilons that were spent, where the target is reached, and every coincidence.
pub(super) fn print(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
) -> io::Result<()> {
    print_epsilons(out, result, swept)?;
    if result.target.is_some() {
        print_crossings(out, result, swept)?;
    }
    for pair in &result.coincidences {
        writeln!(out, "\n{}", coincidence(pair))?;
    }
    Ok(())
}

/// One row for every point: epsilon spent, and where losses are tolerated planned and realised.
fn print_epsilons(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
) -> io::Result<()> {
    if result.spent.is_empty() {
        return Ok(());
    }
    let charged = [
        ("planned for the attempts made", &result.planned),
        ("realised (a diagnostic)", &result.realised),
    ];
    let charged: Vec<_> = charged
        .iter()
        .filter(|(_, curves)| !curves.is_empty())
        .collect();
    let promised = match charged.is_empty() {
        true => "spent",
        false => "promised",
    };
    writeln!(out, "\nepsilon, mean over runs:")?;
    let names = charged.iter().map(|(name, _)| (*name).to_owned());
    let mut rows = vec![
        [result.x.as_str(), "method", promised]
            .map(str::to_owned)
            .into_iter()
            .chain(names)
            .collect::<Vec<_>>(),
    ];
    let spent: Vec<&Curve> = result.spent.iter().collect();
    for x in places(&spent) {
        for curve in &spent {
            let at = |curve: &Curve| {
                let point = curve.points.iter().find(|point| point.x == x);
                table::optional(point.map(|point| point.mean))
            };
            let mut row = vec![x_name(swept, x), curve.method.clone(), at(curve)];
            row.extend(charged.iter().map(|(_, curves)| {
                let own = curves.iter().find(|own| own.method == curve.method);
                own.map_or_else(|| "-".to_owned(), &at)
            }));
            rows.push(row);
        }
    }
    table::write(out, &rows)
}

/// One row for every method: where it reaches the target, and what it pays there.
fn print_crossings(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
) -> io::Result<()> {
    writeln!(
        out,
        "\nwhere the mean {} first reaches {}:",
        result.measure(),
        target(result)
    )?;
    let mut heading = vec!["method", &result.x, "epsilon spent"];
    if result.baseline.is_some() {
        heading.extend(["asked by the baseline", "spent by the baseline"]);
    }
    let mut rows = vec![heading.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for (place, crossing) in result.crossings.iter().enumerate() {
        let bound = if crossing.at_most { "<= " } else { "" };
        let x = crossing.x.map_or_else(
            || "not reached".to_owned(),
            |x| format!("{bound}{}", table::number(x)),
        );
        let mut row = vec![
            name(result, swept, place),
            x,
            table::optional(crossing.epsilon_spent),
        ];
        if result.baseline.is_some() {
            let times = |ratio: Option<f64>| {
                ratio.map_or_else(|| "-".to_owned(), |r| format!("{} x", table::number(r)))
            };
            row.extend([times(crossing.ratio), times(crossing.ratio_spent)]);
        }
        rows.push(row);
    }
    table::write(out, &rows)
}
