//! `undertone run`: runs one experiment, writes its files and prints the first screen, or with `--verbose` everything.

mod defaults;
mod details;
mod privacy_line;
mod screen;

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::Verdict;
use super::arguments::RunArguments;
use super::live::Showing;
use super::progress::Progress;
use crate::campaign::auto::Auto;
use crate::report;
use crate::run::faults::FaultsError;
use crate::run::{RunError, output, run};

pub(crate) fn execute(arguments: &RunArguments) -> Result<Verdict> {
    if let Some(study) = arguments.experiment.study()? {
        refuse_flags_of_sweeps(arguments, "a study")?;
        Showing::refuse(arguments, "a study")?;
        return super::study::execute(arguments, &study);
    }
    let config = arguments.experiment.config()?;
    let defaults = arguments.experiment.left_to_defaults()?;
    if config.sweep.is_some() || Auto::is_meant(&config) {
        ensure!(
            arguments.faults.is_none(),
            "--faults is for one run: {} is a sweep, or chooses its algorithm first",
            arguments.experiment.sim.display()
        );
    }
    if config.sweep.is_some() {
        Showing::refuse(arguments, "a sweep")?;
        return super::sweep::execute(arguments, config);
    }
    refuse_flags_of_sweeps(arguments, "one run")?;
    let quiet = arguments.report.quiet;
    let mut progress = Progress::new("reading", quiet);
    let open = Auto::is_meant(&config);
    let folder = |name: &str| {
        let own = arguments.out.clone();
        own.unwrap_or_else(|| PathBuf::from("out").join(name))
    };
    let (experiment, chosen) = match open {
        true => {
            output::create(&folder(&config.name))?;
            let chosen = super::auto::choose(&arguments.experiment, config, &progress)?;
            (chosen.experiment.clone(), Some(chosen))
        }
        false => {
            let faults = arguments.faults.as_deref();
            (arguments.experiment.with_faults(config, faults)?, None)
        }
    };
    let directory = folder(&experiment.config().name);
    output::create(&directory)?;
    progress.message("running");
    let showing = Showing::start(arguments, &experiment)?;
    let mut observer = showing.observer(&experiment, &mut progress);
    let found = match &chosen {
        Some(chosen) => chosen.run(&mut *observer).map_err(anyhow::Error::from),
        None => run(&experiment, &mut *observer).map_err(anyhow::Error::from),
    };
    drop(observer);
    let results = match found {
        Ok(results) => results,
        Err(error) => match error.downcast::<RunError>() {
            Ok(RunError::Faults(FaultsError::NoResult(none))) => {
                progress.finish();
                showing.failed(&none);
                output::write_no_result(&directory, &none.faulty)?;
                let mut out = io::stdout().lock();
                if arguments.report.json {
                    serde_json::to_writer_pretty(&mut out, &none.faulty.summary)
                        .context("cannot print the summary")?;
                    writeln!(out)?;
                } else if !quiet {
                    super::faults::print(&mut out, &none.faulty.summary)?;
                    writeln!(out, "what went wrong: {}", directory.display())?;
                }
                super::colour::error(&none);
                showing.stay();
                return Ok(Verdict::CheckFailed);
            }
            Ok(other) => return Err(other.into()),
            Err(other) => return Err(other),
        },
    };
    progress.finish();
    let written_as = match &chosen {
        Some(chosen) => chosen.portable_config(),
        None => experiment.portable_config(),
    };
    output::write(&directory, &written_as, &results, arguments.trace)?;
    if let Some(chosen) = &chosen {
        output::write_advice(&directory, &chosen.advice)?;
    }
    let page = match &chosen {
        Some(chosen) => report::chosen_page(chosen, &results),
        None => report::run_page(&experiment, &results),
    };
    let page = page.context("cannot draw the report")?;
    let written = report::write(&directory, &page)?;
    let mut out = io::stdout().lock();
    if arguments.report.json {
        serde_json::to_writer_pretty(&mut out, &results.summary)
            .context("cannot print the summary")?;
        writeln!(out)?;
    } else if !quiet {
        let mut lines = screen::lines(&experiment, &results.summary, &written)?;
        lines.extend(defaults::line(experiment.config(), &defaults));
        writeln!(out, "{}", lines.join("\n"))?;
        if arguments.detail.verbose {
            writeln!(out)?;
            if let Some(chosen) = &chosen {
                super::auto::print(&mut out, chosen)?;
            }
            details::print(&mut out, &results)?;
            writeln!(out, "results: {}", directory.display())?;
        }
    }
    super::warn(&results.summary.warnings);
    showing.done(&results.summary);
    showing.stay();
    Ok(Verdict::Success)
}

/// Refuses what has no effect but on a sweep.
fn refuse_flags_of_sweeps(arguments: &RunArguments, what: &str) -> Result<()> {
    let given = [
        ("--shard", arguments.shard.is_some()),
        ("--pareto", arguments.detail.pareto),
    ];
    for (flag, given) in given {
        let sim = arguments.experiment.sim.display();
        ensure!(
            !given,
            "{flag} is for sweeps, and {sim} is {what}: leave it out"
        );
    }
    Ok(())
}
