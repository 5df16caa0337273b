//! `undertone audit`: runs the attacks and prints what they found.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use super::arguments::{AuditArguments, names};
use super::progress::Progress;
use super::{Verdict, colour, table};
use crate::assess::audit::{Audit, AuditOptions, audit};
use crate::campaign::auto::Auto;
use crate::scenario::Experiment;
use crate::vocabulary::{printed, printed_list};

/// What `--json` prints of a run that was chosen after a pilot.
#[derive(Serialize)]
struct Both<'a> {
    pilot: &'a Audit,
    run: &'a Audit,
}

pub(crate) fn execute(arguments: &AuditArguments) -> Result<Verdict> {
    let mut progress = Progress::new("reading", arguments.report.quiet);
    let config = arguments.experiment.config()?;
    let (experiment, pilot) = match Auto::is_meant(&config) {
        true => {
            let chosen = super::auto::choose(&arguments.experiment, config, &progress)?;
            (chosen.experiment, chosen.pilot)
        }
        false => (arguments.experiment.load()?, None),
    };
    progress.message("auditing");
    let options = AuditOptions {
        trials: arguments.trials,
        significance: arguments.significance,
        coalition: names(&arguments.coalition)?,
        victim: arguments.victim.clone(),
    };
    let mut played = |experiment: &Experiment| {
        audit(experiment, &options, &mut progress)
            .with_context(|| format!("{} cannot be audited", arguments.experiment.sim.display()))
    };
    let before = pilot.map(|pilot| played(&pilot.experiment)).transpose()?;
    let own = played(&experiment)?;
    progress.finish();
    let name = &experiment.config().name;
    let mut out = colour::stdout();
    if arguments.report.json {
        match &before {
            Some(pilot) => serde_json::to_writer_pretty(&mut out, &Both { pilot, run: &own }),
            None => serde_json::to_writer_pretty(&mut out, &own),
        }
        .context("cannot print the audit")?;
        writeln!(out)?;
    } else if !arguments.report.quiet {
        if let Some(before) = &before {
            print(&mut out, &format!("{name}, its pilot"), before)?;
            writeln!(out)?;
        }
        print(&mut out, name, &own)?;
    }
    super::warn(experiment.warnings());
    Ok(if own.passed && before.is_none_or(|before| before.passed) {
        Verdict::Success
    } else {
        Verdict::CheckFailed
    })
}

fn print(out: &mut impl Write, name: &str, audit: &Audit) -> io::Result<()> {
    let coalition = match audit.coalition.len() {
        0 => "an outside observer".to_owned(),
        count => format!(
            "a coalition of {count} ({})",
            printed_list(&audit.coalition)
        ),
    };
    writeln!(
        out,
        "{name}: {} runs in each of two worlds that differ in one {} of peer {}, seen by {coalition}",
        audit.trials,
        super::privacy::name(&audit.adjacency),
        printed(&audit.victim),
    )?;
    writeln!(
        out,
        "canary: {} items or {}, at {:.1} % of the sensitivity in iteration 1\n",
        audit.canary.without,
        audit.canary.with,
        100.0 * audit.canary.tightness,
    )?;
    let row = |what: &str, mu: f64, epsilon: Option<f64>| {
        vec![what.to_owned(), table::number(mu), table::optional(epsilon)]
    };
    table::write(
        out,
        &[
            ["", "mu", "epsilon"].map(str::to_owned).to_vec(),
            row(
                "certified, at most",
                audit.certified_mu,
                Some(audit.certified_epsilon),
            ),
            row("this pair of worlds", audit.pair_mu, None),
            row(
                "attacked, at least",
                audit.empirical_mu,
                Some(audit.empirical_epsilon),
            ),
        ],
    )?;
    writeln!(
        out,
        "\nbest attacker: {}; the lower bound is wrong with probability at most {}",
        super::privacy::name(&audit.attacker),
        audit.significance,
    )?;
    match audit.promised_epsilon {
        Some(promise) => writeln!(
            out,
            "promised against coalitions of this size: epsilon = {}",
            table::number(promise)
        )?,
        None => writeln!(
            out,
            "beyond the coalition the experiment promises to withstand"
        )?,
    }
    let reached = 100.0 * audit.empirical_mu / audit.certified_mu;
    let why = match (audit.passed, audit.empirical_mu < 0.5 * audit.pair_mu) {
        (false, _) => ": more leaks than is certified or promised",
        (true, false) => "",
        (true, true) => ", but the attack had little power: use more --trials, or fewer iterations",
    };
    let verdict = colour::verdict(audit.passed);
    writeln!(
        out,
        "{verdict}{why} ({reached:.0} % of the certified mu reached)"
    )
}
