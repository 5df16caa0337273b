//! `undertone run` of an experiment file with a `[sweep]`, whole or a shard of it, and `undertone sweep merge`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::{Result, bail};

use super::arguments::{DetailArguments, ReportArguments, RunArguments, SweepCommand};
use super::progress::Progress;
use super::sweep_screen;
use super::{Verdict, colour};
use crate::campaign::sweep::{Advance, Shards, Sweep, SweepResult};
use crate::config::{Config, Seeds, SweepConfig, resolved};
use crate::report;
use crate::scenario::Materials;

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
    let finished = Arc::new(Mutex::new(None));
    say_how_to_go_on(&progress, &finished, &directory);
    let mut told = |advance: Advance| {
        progress.advance(advance);
        if let Ok(mut last) = finished.lock() {
            *last = Some(advance);
        }
    };
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
    report_on(
        &result,
        (&table, &written),
        &directory,
        (&arguments.report, arguments.detail),
    )
}

/// On Ctrl-C says how many cells are finished and how to go on.
fn say_how_to_go_on(progress: &Progress, finished: &Arc<Mutex<Option<Advance>>>, directory: &Path) {
    let (progress, finished) = (progress.clone(), Arc::clone(finished));
    let directory = directory.to_path_buf();
    super::interrupted::say_at_the_end(move || {
        progress.finish();
        let last = finished.lock().ok();
        let Some(advance) = last.and_then(|last| *last) else {
            return;
        };
        let (kept, all) = (
            advance.resumed + advance.done,
            advance.resumed + advance.total,
        );
        anstream::eprintln!(
            "interrupted: {kept} of {all} cells are kept in {}; run the same command again to go on",
            directory.display()
        );
    });
}

/// `undertone sweep merge`.
pub(crate) fn execute_command(command: &SweepCommand) -> Result<Verdict> {
    let SweepCommand::Merge(arguments) = command;
    let progress = Progress::new("merging", arguments.report.quiet);
    let base = arguments.base.as_deref();
    let materials = |written: &Path| Materials::new(base.unwrap_or(written));
    let shards = Shards::open(&arguments.folders, materials)?;
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
        (&arguments.report, arguments.detail),
    )
}

/// Writes the page, prints the comparison and says whether what was to be checked holds. `described` is the table of the sweep and the whole file.
fn report_on(
    result: &SweepResult,
    described: (&SweepConfig, &str),
    directory: &Path,
    (how, detail): (&ReportArguments, DetailArguments),
) -> Result<Verdict> {
    let page = report::sweep_page(&report::SweepReport::of(result, described.0, described.1))?;
    let page = report::write(directory, &page)?;
    let mut out = colour::stdout();
    if how.json {
        serde_json::to_writer_pretty(&mut out, result)?;
        writeln!(out)?;
    } else if !how.quiet {
        sweep_screen::print(&mut out, result, described.0, detail)?;
        writeln!(out, "results: {}", directory.display())?;
        writeln!(out, "report: {}", page.display())?;
    }
    super::warn(&result.warnings);
    if let Some(first) = &result.first_failed {
        colour::warn(format_args!(
            "{} of {} cells failed, and means leave them out. The first is {}: {}. All are in sweep.csv",
            result.failed, result.cells, first.cell, first.reason
        ));
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
