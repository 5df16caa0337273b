//! `undertone run` of a file with a `[study]` table: computes its tables and writes them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::arguments::RunArguments;
use super::progress::Progress;
use super::{Verdict, colour, table};
use crate::campaign::study::StudyResult;
use crate::config::StudyConfig;
use crate::report;
use crate::run::output;

/// Does the study, writes its tables and prints them.
pub(super) fn execute(arguments: &RunArguments, study: &StudyConfig) -> Result<Verdict> {
    let quiet = arguments.report.quiet;
    let sim = &arguments.experiment.sim;
    let base = sim.parent().unwrap_or(Path::new("."));
    let directory = arguments
        .out
        .clone()
        .unwrap_or_else(|| PathBuf::from("out").join(&study.name));
    let unusable = || format!("{} cannot be used", sim.display());
    study.check().with_context(unusable)?;
    output::create(&directory)?;
    let mut progress = Progress::new("computing", quiet);
    let result = study.run(base, &mut progress).with_context(unusable)?;
    progress.finish();
    study.write(&directory, base, &result)?;
    let page = report::study_page(&result, &study.resolved())?;
    let page = report::write(&directory, &page)?;
    let mut out = colour::stdout();
    if arguments.report.json {
        serde_json::to_writer_pretty(&mut out, &result).context("cannot print the result")?;
        writeln!(out)?;
    } else if !quiet {
        print(&mut out, &result, arguments.detail.verbose)?;
        writeln!(out, "results: {}", directory.display())?;
        writeln!(out, "report: {}", page.display())?;
    }
    Ok(Verdict::Success)
}

/// Prints all tables, a line for every row, and with `verbose` what the columns mean.
fn print(out: &mut impl Write, result: &StudyResult, verbose: bool) -> io::Result<()> {
    for found in &result.tables {
        writeln!(out, "{}:", found.name)?;
        table::write(out, &found.cells(table::number))?;
    }
    match result.notes.as_slice() {
        [] => Ok(()),
        notes if verbose => notes
            .iter()
            .try_for_each(|note| writeln!(out, "note: {note}")),
        notes => writeln!(out, "{} notes on the columns: --verbose", notes.len()),
    }
}
