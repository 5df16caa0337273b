//! `undertone verify`: runs the statistical tests and prints PASS or FAIL for each.

use std::io::{self, Write};

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::arguments::VerifyArguments;
use super::progress::Progress;
use super::{Verdict, table};
use crate::assess::repeated;
use crate::assess::verification::{Check, Verification, VerifyOptions, verify, verify_pair};
use crate::campaign::auto::Auto;
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
    let (experiment, pilot) = match Auto::is_meant(&config) {
        true => {
            if arguments.results.is_some() {
                bail!(
                    "--results goes with a file that names its algorithm: of a file with algorithm.kind = \"auto\" give the config.toml that its run wrote"
                );
            }
            let chosen = super::auto::choose(&arguments.experiment, config, &progress)?;
            (chosen.experiment, chosen.pilot)
        }
        false => (arguments.experiment.load()?, None),
    };
    progress.message("verifying");
    let mut table = match &pilot {
        Some(pilot) => verify_pair(&pilot.experiment, &experiment, options, &mut progress)?,
        None => verify(&experiment, options, &mut progress)?,
    };
    let folder = arguments.results.as_deref();
    if folder.is_some() || experiment.config().faults.is_some() {
        progress.message("running again");
        table.checks.extend(repeated(&experiment, folder)?);
    }
    progress.finish();
    let passed = table.passed();
    let mut out = io::stdout().lock();
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
        writeln!(out, "{}", experiment.promise().sentence())?;
    }
    let heading = ["", "check", "what", "statistic", "p-value", "threshold"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for check in &verification.checks {
        rows.push(vec![
            if check.passed { "PASS" } else { "FAIL" }.to_owned(),
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
    writeln!(
        out,
        "{}",
        if verification.passed() {
            "PASS"
        } else {
            "FAIL"
        }
    )
}
