//! What went wrong in a run, as a terminal shows it, and `undertone faults shrink`.

use std::collections::BTreeSet;
use std::io::{self, Write};

use anyhow::{Context, Result};

use super::arguments::{FaultsCommand, ShrinkArguments};
use super::progress::Progress;
use super::{Verdict, table};
use crate::config::faults_text;
use crate::run::faults::{DeviantsSummary, FaultsSummary, Kept, shrink};
use crate::vocabulary::printed_list;
use crate::writing::replace;

/// Most names of a list that are printed.
const SHOWN: usize = 8;

pub(crate) fn execute(command: &FaultsCommand) -> Result<Verdict> {
    match command {
        FaultsCommand::Shrink(arguments) => shrunk(arguments),
    }
}

fn shrunk(arguments: &ShrinkArguments) -> Result<Verdict> {
    let progress = Progress::new("shrinking", arguments.quiet);
    let config = arguments.experiment.config()?;
    let faults = arguments.faults.as_deref();
    let experiment = arguments.experiment.with_faults(config, faults)?;
    // A case of several words may be written with hyphens, as a command line has them.
    let case = arguments.keep.as_ref().map(|case| case.replace('-', " "));
    let kept = match &case {
        Some(case) => Kept::Case(case),
        None => Kept::NoResult,
    };
    let (least, runs) = shrink(&experiment, kept)
        .with_context(|| format!("{} cannot be shrunk", arguments.experiment.sim.display()))?;
    progress.finish();
    let text = faults_text(&least);
    match &arguments.out {
        Some(path) => {
            replace(path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
            let left = least.listed();
            println!(
                "after {runs} runs {left} faults are left: {}",
                path.display()
            );
        }
        None => write!(io::stdout().lock(), "{text}")?,
    }
    Ok(Verdict::Success)
}

/// The losses of a run and what they cost.
pub(super) fn print(out: &mut impl Write, faults: &FaultsSummary) -> io::Result<()> {
    let ends: Vec<String> = faults
        .ends
        .iter()
        .map(|(end, count)| format!("{count} {end}"))
        .collect();
    writeln!(
        out,
        "lost peers: up to {} tolerated; {}; {} of {} retries spent; {:.1} ms of virtual time",
        faults.tolerate,
        ends.join(", "),
        faults.retries_spent,
        faults.retries,
        faults.milliseconds,
    )?;
    if let Some(deviants) = &faults.deviants {
        print_deviants(out, deviants)?;
    }
    if !faults.is_faulty() {
        return writeln!(out, "nothing went wrong");
    }
    if !faults.releases.is_empty() {
        let heading = [
            "release",
            "attempts",
            "in the sum",
            "lost, and in it",
            "missing",
            "noise",
        ];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for release in &faults.releases {
            rows.push(vec![
                release.release.to_string(),
                release.attempts.to_string(),
                release.participants.to_string(),
                shown(&release.inherited),
                shown(&release.missing),
                format!("x {:.4}", release.noise),
            ]);
        }
        table::write(out, &rows)?;
    }
    if let Some(epsilon) = &faults.epsilon {
        writeln!(
            out,
            "  epsilon: {} promised, {} planned for what happened, {} realised ({}; a diagnostic: nothing is promised of it)",
            table::number(epsilon.promised),
            table::number(epsilon.planned),
            table::number(epsilon.realised),
            if epsilon.is_exact { "exact" } else { "at most" },
        )?;
    }
    let fired = &faults.fired;
    let counts = [
        ("crashes", fired.crashes),
        ("restarts", fired.restarts),
        ("torn records", fired.torn_records),
        ("disk failures", fired.disk_failures),
        ("links given up", fired.cuts),
        ("frames lost and sent again", fired.frames_lost),
        ("frames held up", fired.frames_held_up),
    ];
    writeln!(out, "  went wrong: {}", counted(counts))?;
    writeln!(out, "  cases: {}", counted(fired.cases.all()))
}

/// Who deviated, in a run of its own, and who was named for it.
fn print_deviants(out: &mut impl Write, told: &DeviantsSummary) -> io::Result<()> {
    let culprits: BTreeSet<&str> = told.named.iter().map(|one| one.peer.as_str()).collect();
    let culprits: Vec<String> = culprits.into_iter().map(str::to_owned).collect();
    writeln!(
        out,
        "deviants: {} in a run of their own, which put sums off by up to {} of their norm; named: {}; overlooked: {}; honest and named: {}",
        told.deviants.len(),
        table::number(told.spoiled),
        shown(&culprits),
        shown(&told.overlooked),
        shown(&told.wronged),
    )
}

/// What is not 0.
fn counted<const N: usize>(counts: [(&str, u64); N]) -> String {
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    match counts.is_empty() {
        true => "none".to_owned(),
        false => counts.join(", "),
    }
}

fn shown(names: &[String]) -> String {
    match names.len() {
        0 => "-".to_owned(),
        more if more > SHOWN => format!("{}, ...", printed_list(&names[..SHOWN])),
        _ => printed_list(names),
    }
}
