//! `undertone privacy`.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::arguments::{ExperimentArguments, PrivacyArguments, PrivacyCommand, ReportArguments};
use super::{Verdict, table};
use crate::experiment::receipt::Receipt;
use crate::experiment::summary::PrivacySummary;
use crate::topology::TopologySummary;

#[derive(Serialize)]
struct Document {
    topology: TopologySummary,
    #[serde(skip_serializing_if = "Option::is_none")]
    noise_topology: Option<TopologySummary>,
    privacy: PrivacySummary,
}

pub(crate) fn execute(arguments: &PrivacyArguments) -> Result<Verdict> {
    match (&arguments.command, &arguments.experiment) {
        (Some(PrivacyCommand::Check { receipt, report }), _) => check(receipt, *report),
        (None, Some(experiment)) => plan(experiment, arguments.report),
        (None, None) => {
            bail!("name an experiment file, for example sims/quickstart.toml, or `check RECEIPT`")
        }
    }
}

/// Recomputes a receipt.
fn check(path: &Path, report: ReportArguments) -> Result<Verdict> {
    let findings = Receipt::read(path)?
        .check()
        .with_context(|| format!("{} does not hold", path.display()))?;
    let holds = findings.iter().all(|finding| finding.agrees);
    let mut out = io::stdout().lock();
    if report.json {
        serde_json::to_writer_pretty(&mut out, &findings).context("cannot print the findings")?;
        writeln!(out)?;
    } else if !report.quiet {
        let heading = ["", "what", "stated", "computed"];
        let mut rows = vec![heading.map(str::to_owned).to_vec()];
        for finding in &findings {
            rows.push(vec![
                if finding.agrees { "PASS" } else { "FAIL" }.to_owned(),
                finding.what.clone(),
                table::number(finding.stated),
                table::number(finding.computed),
            ]);
        }
        table::write(&mut out, &rows)?;
        writeln!(out, "{}", if holds { "PASS" } else { "FAIL" })?;
    }
    Ok(if holds {
        Verdict::Success
    } else {
        Verdict::CheckFailed
    })
}

fn plan(arguments: &ExperimentArguments, report: ReportArguments) -> Result<Verdict> {
    let experiment = arguments.load()?;
    let document = Document {
        topology: experiment.topology.summary(),
        noise_topology: experiment
            .has_noise_topology()
            .then(|| experiment.noise_topology.summary()),
        privacy: experiment.privacy_summary(),
    };
    let mut out = io::stdout().lock();
    if report.json {
        serde_json::to_writer_pretty(&mut out, &document).context("cannot print the document")?;
        writeln!(out)?;
    } else if !report.quiet {
        print(&mut out, &document.privacy)?;
        writeln!(out, "\nsigmas per unit sensitivity")?;
        print_graph(&mut out, "messages on", &document.topology)?;
        let noise = document.noise_topology.unwrap_or(document.topology);
        print_graph(&mut out, "noise shared on", &noise)?;
    }
    super::warn(&experiment.warnings);
    Ok(Verdict::Success)
}

fn print_graph(out: &mut impl Write, what: &str, topology: &TopologySummary) -> io::Result<()> {
    writeln!(
        out,
        "{what} {} peers, {} edges, degrees {} to {}, algebraic connectivity {}",
        topology.nodes,
        topology.edges,
        topology.min_degree,
        topology.max_degree,
        table::number(topology.algebraic_connectivity),
    )
}

/// The guarantee as text: σ's, then one row per view.
pub(crate) fn print(out: &mut impl Write, privacy: &PrivacySummary) -> io::Result<()> {
    let (Some(epsilon), Some(z)) = (privacy.epsilon, privacy.noise_multiplier) else {
        return writeln!(out, "privacy: NONE (noise.scheme = \"none\")");
    };
    writeln!(
        out,
        "privacy: epsilon = {}, delta = {}, {} adjacency, {} sensitivity, {} calibration (z = {})",
        table::number(epsilon),
        table::number(privacy.delta),
        name(&privacy.adjacency),
        name(&privacy.sensitivity),
        name(&privacy.calibration),
        table::number(z),
    )?;
    let heading = [
        "iteration",
        "sensitivity",
        "sigma central",
        "sigma own",
        "sigma pairwise",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for noise in &privacy.iterations {
        rows.push(vec![
            noise.iteration.to_string(),
            table::number(noise.sensitivity),
            table::number(noise.sigma_central),
            table::number(noise.sigma_independent),
            table::number(noise.sigma_pairwise),
        ]);
    }
    table::write(out, &rows)?;
    let heading = [
        "seen by",
        "colluders",
        "mu",
        "epsilon",
        "gap to central",
        "certificate",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for view in &privacy.views {
        rows.push(vec![
            view.view.clone(),
            view.colluders.to_string(),
            table::number(view.mu),
            table::number(view.epsilon),
            format!("{:.4}", view.gap_to_central),
            name(&view.certificate),
        ]);
    }
    writeln!(out)?;
    table::write(out, &rows)
}

/// The name a value has in experiment files and JSON.
pub(crate) fn name(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        Ok(other) => other.to_string(),
        Err(_) => "?".to_owned(),
    }
}
