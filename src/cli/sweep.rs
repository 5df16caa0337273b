//! `undertone run` of an experiment file with a `[sweep]`, whole or a shard of it, and `undertone sweep merge`.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::arguments::{ReportArguments, RunArguments, SweepCommand};
use super::progress::Progress;
use super::{Verdict, table};
use crate::campaign::sweep::{Advance, Coincidence, Curve, Frontier, Shards, Sweep, SweepResult};
use crate::config::{Config, Seeds, SweepConfig, SweptError, resolved};
use crate::report;
use crate::writing::bytes;

pub(crate) fn execute(arguments: &RunArguments, config: Config) -> Result<Verdict> {
    let quiet = arguments.report.quiet;
    let Some(table) = config.sweep.clone() else {
        bail!("{} has no [sweep]", arguments.experiment.sim.display());
    };
    refuse_what_has_no_effect(arguments, &table)?;
    if arguments.trace {
        bail!(
            "--trace is for a single run, but {} has a [sweep]",
            arguments.experiment.sim.display()
        );
    }
    let directory = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(&config.name));
    let progress = Progress::new("checking", quiet);
    let base = arguments.experiment.base();
    let written = resolved(&config);
    let sweep = Sweep::new(config, base).map_err(|error| arguments.experiment.named(error))?;
    progress.message("sweeping");
    let mut told = |advance: Advance| progress.advance(advance);
    if let Some(shard) = arguments.shard {
        let cells = sweep.run_shard(shard, &directory, &mut told)?;
        progress.finish();
        if !quiet {
            println!(
                "shard {shard}: {cells} of {} cells, in {}\nwhen all shards have ended: undertone sweep merge DIR ...",
                sweep.cells().len(),
                directory.display(),
            );
        }
        return Ok(Verdict::Success);
    }
    let result = sweep.run(&directory, &mut told)?;
    progress.finish();
    report_on(&result, (&table, &written), &directory, &arguments.report)
}

/// `undertone sweep merge`.
pub(crate) fn execute_command(command: &SweepCommand) -> Result<Verdict> {
    let SweepCommand::Merge(arguments) = command;
    let progress = Progress::new("merging", arguments.report.quiet);
    let shards = Shards::open(&arguments.folders, arguments.base.as_deref())?;
    let config = shards.config();
    let own = arguments.out.clone();
    let directory = own.unwrap_or_else(|| PathBuf::from("out").join(&config.name));
    let result = shards.merge(&directory)?;
    progress.finish();
    let written = resolved(config);
    report_on(
        &result,
        (shards.table(), &written),
        &directory,
        &arguments.report,
    )
}

/// Writes the page, prints the comparison and says whether what was to be checked holds. `described` is the table of the sweep and the whole file.
fn report_on(
    result: &SweepResult,
    described: (&SweepConfig, &str),
    directory: &Path,
    how: &ReportArguments,
) -> Result<Verdict> {
    let page = report::sweep_page(&report::SweepReport::of(result, described.0, described.1))?;
    let page = report::write(directory, &page)?;
    let mut out = io::stdout().lock();
    if how.json {
        serde_json::to_writer_pretty(&mut out, result)?;
        writeln!(out)?;
    } else if !how.quiet {
        print(&mut out, result)?;
        writeln!(out, "\nresults: {}", directory.display())?;
        writeln!(out, "report: {}", page.display())?;
    }
    super::warn(&result.warnings);
    if result.failed > 0 {
        eprintln!(
            "warning: {} of {} cells failed; sweep.csv says why",
            result.failed, result.cells
        );
    }
    Ok(if result.holds() {
        Verdict::Success
    } else {
        Verdict::CheckFailed
    })
}

/// Options that the sweep overrides in every cell must not look as if they had been applied.
fn refuse_what_has_no_effect(arguments: &RunArguments, sweep: &SweepConfig) -> Result<()> {
    let chooses = |key: &String| key == "engine" || key == "engine.kind";
    let methods = sweep.methods.iter();
    let choosing: Vec<&str> = methods
        .filter(|method| method.set.0.iter().any(|(key, _)| chooses(key)))
        .map(|method| method.name.as_str())
        .collect();
    let swept = sweep.over.0.iter().any(|(key, _)| chooses(key));
    if let Some(engine) = &arguments.experiment.engine
        && (swept || !choosing.is_empty())
    {
        let whose = if swept {
            "sweep.over".to_owned()
        } else {
            format!("{choosing:?}")
        };
        bail!(
            "--engine {engine} would not reach every run: {whose} set engine.kind, because the engine is part of what \
             is compared; leave --engine out, or change the methods in the file"
        );
    }
    if arguments.experiment.seed.is_some() && matches!(sweep.seeds, Seeds::List(_)) {
        bail!(
            "--seed has no effect on a sweep that lists its seeds; use --set sweep.seeds=[...], or give the file a number of seeds"
        );
    }
    Ok(())
}

fn print(out: &mut impl Write, result: &SweepResult) -> io::Result<()> {
    let lists = |measure| {
        format!(
            "{} of the users' lists (measured on the raw held-out interactions: not private)",
            result.at_top(measure)
        )
    };
    writeln!(
        out,
        "{}: {} runs, {} per point\n{}\n\n{}, mean over runs:",
        result.name,
        result.cells,
        result.seeds,
        result.promise(),
        match result.error {
            SweptError::NonPrivate | SweptError::Exact =>
                format!("relative error against {}", result.error.reference()),
            SweptError::Variance =>
                "captured variance, 1 for the exact eigenvectors (measured on the raw data: not private)".to_owned(),
            SweptError::Rmse =>
                "root mean squared error on the ratings kept aside (measured on the raw data: not private)".to_owned(),
            SweptError::Recall => lists("Recall"),
            SweptError::Ndcg => lists("NDCG"),
        }
    )?;
    print_curves(out, &result.x, &result.asked())?;
    let charged = [
        ("promised", &result.spent),
        ("planned for the tries that there were", &result.planned),
        ("of the executions, a diagnostic", &result.realised),
    ];
    for (what, curves) in charged.into_iter().filter(|_| !result.planned.is_empty()) {
        writeln!(out, "\nepsilon {what}, mean over runs:")?;
        print_curves(out, &result.x, curves)?;
    }
    if let Some(target) = result.target {
        writeln!(
            out,
            "\n{} at which the mean error first falls to {target}:",
            result.x
        )?;
        print_crossings(out, result)?;
    }
    for frontier in &result.frontiers {
        print_frontier(out, result, frontier)?;
    }
    for pair in &result.coincidences {
        print_coincidence(out, pair)?;
    }
    Ok(())
}

/// One line per x, one column per method.
fn print_curves(out: &mut impl Write, x: &str, curves: &[Curve]) -> io::Result<()> {
    for (number, curve) in curves.iter().enumerate() {
        writeln!(out, "  ({}) {}", number + 1, curve.method)?;
    }
    let mut xs: Vec<f64> = curves
        .iter()
        .flat_map(|curve| curve.points.iter().map(|point| point.x))
        .collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let numbers = (1..=curves.len()).map(|number| format!("({number})"));
    let mut rows = vec![
        std::iter::once(x.to_owned())
            .chain(numbers)
            .collect::<Vec<_>>(),
    ];
    for x in xs {
        let mut row = vec![format!("{x}")];
        row.extend(curves.iter().map(|curve| {
            let point = curve.points.iter().find(|point| point.x == x);
            table::optional(point.map(|point| point.mean))
        }));
        rows.push(row);
    }
    table::write(out, &rows)
}

fn print_crossings(out: &mut impl Write, result: &SweepResult) -> io::Result<()> {
    let mut heading = vec!["".to_owned(), result.x.clone(), "epsilon spent".to_owned()];
    if let Some(baseline) = &result.baseline {
        heading.push(format!("{baseline} asks"));
        heading.push(format!("{baseline} spends"));
    }
    let mut rows = vec![heading];
    for crossing in &result.crossings {
        let bound = if crossing.at_most { "<= " } else { "" };
        let x = crossing.x.map_or_else(
            || "not reached".to_owned(),
            |x| format!("{bound}{}", table::number(x)),
        );
        let mut row = vec![
            crossing.method.clone(),
            x,
            table::optional(crossing.epsilon_spent),
        ];
        if result.baseline.is_some() {
            let times = |ratio: Option<f64>| {
                ratio.map_or_else(|| "-".to_owned(), |r| format!("{} x", table::number(r)))
            };
            row.push(times(crossing.ratio));
            row.push(times(crossing.ratio_spent));
        }
        rows.push(row);
    }
    table::write(out, &rows)
}

/// The methods at one x that no other beats in both error and bytes, cheapest first.
fn print_frontier(
    out: &mut impl Write,
    result: &SweepResult,
    frontier: &Frontier,
) -> io::Result<()> {
    let mut best: Vec<_> = frontier.points.iter().filter(|p| p.on_frontier).collect();
    best.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    writeln!(
        out,
        "\n{} = {}: beaten by none in both error and bytes of {}:",
        result.x,
        frontier.x,
        result.bytes.sender()
    )?;
    let heading = ["", "busiest peer", "mean peer", "relative error"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(best.into_iter().map(|point| {
        vec![
            point.method.clone(),
            bytes(point.bytes_max_peer.round() as u64),
            bytes(point.bytes_mean_peer.round() as u64),
            table::number(point.error),
        ]
    }));
    table::write(out, &rows)
}

fn print_coincidence(out: &mut impl Write, pair: &Coincidence) -> io::Result<()> {
    let [one, other] = &pair.methods;
    let verdict = if pair.holds { "PASS" } else { "FAIL" };
    let known = pair.points.iter().filter_map(|(_, p)| *p);
    let least = known.reduce(f64::min);
    writeln!(
        out,
        "\n{verdict}  {one} and {other} have the same law: least corrected p-value {} over {} points",
        table::optional(least),
        pair.points.len()
    )
}
