//! `undertone verify`: runs the statistical tests and prints PASS or FAIL for each.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::arguments::VerifyArguments;
use super::progress::Progress;
use super::{Verdict, colour, table};
use crate::assess::verification::{Check, Verification, VerifyOptions, verify, verify_pair};
use crate::assess::{held_against, repeated};
use crate::campaign::auto::{Auto, Chosen};
use crate::engine::Silent;
use crate::report;
use crate::run::output::{self, ResultFile};
use crate::run::run;
use crate::scenario::Experiment;

#[derive(Serialize)]
struct Document<'a> {
    name: &'a str,
    engine: &'static str,
    passed: bool,
    runs: u32,
    checks: &'a [Check],
    skipped: &'a [String],
}

pub(crate) fn execute(arguments: &VerifyArguments) -> Result<Verdict> {
    let significance = arguments.significance;
    if !(significance > 0.0 && significance < 1.0) {
        bail!("--significance must lie strictly between 0 and 1, found {significance}");
    }
    let quiet = arguments.report.quiet;
    let mut progress = Progress::new("reading", quiet);
    let config = arguments.experiment.config()?;
    let options = VerifyOptions {
        runs: arguments.runs,
        significance,
    };
    let (experiment, chosen) = match Auto::is_meant(&config) {
        true => {
            let chosen = super::auto::choose(&arguments.experiment, config, &progress)?;
            (chosen.experiment.clone(), Some(chosen))
        }
        false => (arguments.experiment.load()?, None),
    };
    progress.message("verifying");
    let pilot = chosen.as_ref().and_then(|chosen| chosen.pilot.as_ref());
    let mut table = match pilot {
        Some(pilot) => verify_pair(&pilot.experiment, &experiment, options, &mut progress)?,
        None => verify(&experiment, options, &mut progress)?,
    };
    if let Some(folder) = &arguments.results {
        progress.message("running again");
        let checks = again(folder, &experiment, chosen.as_ref())?;
        table.checks.extend(checks);
    } else if experiment.config().faults.is_some() {
        progress.message("running again");
        table.checks.extend(repeated(&experiment)?);
    }
    progress.finish();
    let passed = table.passed();
    let mut out = colour::stdout();
    if arguments.report.json {
        let document = Document {
            name: &experiment.config().name,
            engine: experiment.config().engine.kind.name(),
            passed,
            runs: table.runs,
            checks: &table.checks,
            skipped: &table.skipped,
        };
        serde_json::to_writer_pretty(&mut out, &document).context("cannot print the table")?;
        writeln!(out)?;
    } else if !quiet {
        print(&mut out, &experiment, &table)?;
    }
    super::warn(experiment.warnings());
    Ok(if passed {
        Verdict::Success
    } else {
        Verdict::CheckFailed
    })
}

/// Holds a folder against everything that `run` writes of the same file.
fn again(folder: &Path, experiment: &Experiment, chosen: Option<&Chosen>) -> Result<Vec<Check>> {
    let report = match chosen {
        Some(chosen) => chosen.run(&mut Silent)?,
        None => run(experiment, &mut Silent)?,
    };
    let (config, page) = match chosen {
        Some(chosen) => (
            chosen.portable_config(),
            report::chosen_page(chosen, &report),
        ),
        None => (
            experiment.portable_config(),
            report::run_page(experiment, &report),
        ),
    };
    let page = page.context("cannot draw the report")?;
    let mut files = output::files(&config, &report, true)?;
    if let Some(chosen) = chosen {
        files.push(output::advice_file(&chosen.advice)?);
    }
    let page = ResultFile::new(output::PAGE, page.into_bytes());
    Ok(held_against(folder, &report, (&files, &[page]))?)
}

fn print(
    out: &mut impl Write,
    experiment: &Experiment,
    verification: &Verification,
) -> io::Result<()> {
    writeln!(
        out,
        "{}: {} runs of engine {} against central differential privacy",
        experiment.config().name,
        verification.runs,
        experiment.config().engine.kind.name(),
    )?;
    if experiment.is_private() {
        writeln!(out, "{}", experiment.statement().sentence())?;
    }
    let heading = ["", "check", "what", "statistic", "p-value", "threshold"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for check in &verification.checks {
        rows.push(vec![
            colour::verdict(check.passed),
            check.kind.to_owned(),
            check.name.clone(),
            table::number(check.statistic),
            table::optional(check.p_value),
            table::number(check.threshold),
        ]);
    }
    table::write(out, &rows)?;
    for skipped in &verification.skipped {
        writeln!(out, "  SKIP  {skipped}")?;
    }
    writeln!(out, "{}", colour::verdict(verification.passed()))
}
