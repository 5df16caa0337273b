//! `undertone node simulate`: one experiment on several hosts.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::arguments::SimulateArguments;
use crate::campaign::auto::Auto;
use crate::cli::Verdict;
use crate::cli::progress::Progress;
use crate::config::read_config;
use crate::node::simulation::{Hosts, follow, lead};
use crate::node::{HostError, SwarmOptions};
use crate::report;
use crate::run::{RunError, output, run_by};
use crate::scenario::Experiment;
use crate::vocabulary::Named;

/// What nobody may overlook.
const MODE: &str = "simulation: not private, whoever has the seed has the noise";

pub(super) fn execute(options: &SimulateArguments) -> Result<Verdict> {
    eprintln!("{MODE}");
    let mut set = options.set.clone();
    set.push("engine.kind=swarm".to_owned());
    let unusable = || format!("{} cannot be used", options.sim.display());
    let hosts = Hosts::read(&options.hosts)
        .with_context(|| format!("{} cannot be used", options.hosts.display()))?;
    let config = read_config(&options.sim, &set)?;
    if config.sweep.is_some() || Auto::is_meant(&config) {
        bail!(
            "{}: several hosts run one experiment, and this file means several: run it with `undertone run`, and simulate the config.toml of one",
            options.sim.display()
        );
    }
    let experiment = Experiment::load(&options.sim, &set).with_context(unusable)?;
    let session = experiment.session(&experiment.root_seed());
    hosts
        .check(session.peers(), options.host)
        .with_context(|| format!("{} cannot be used", options.hosts.display()))?;
    let swarm = SwarmOptions {
        stall_timeout: Duration::from_secs(options.stall),
        ..SwarmOptions::default()
    };
    let mut progress = Progress::new("running", false);
    let mut notice = |notice| eprintln!("{notice}");
    let named = |error: HostError| RunError::Swarm(Named::new(error, session.graph().names()));
    if options.host > 0 {
        let followed = follow(
            &session,
            &hosts,
            options.host,
            &swarm,
            &mut notice,
            &mut progress,
        );
        progress.finish();
        followed.map_err(named)?;
        eprintln!("done: host {} has the results", hosts.all()[0].name);
        return Ok(Verdict::Success);
    }
    let own = options.out.clone();
    let directory = own.unwrap_or_else(|| PathBuf::from("out").join(&experiment.config().name));
    output::create(&directory)?;
    let results = run_by(&experiment, &mut progress, |session, observer| {
        let led = lead(session, &hosts, &swarm, &mut notice, observer);
        led.map(Into::into).map_err(named)
    })?;
    progress.finish();
    output::write(&directory, &experiment.portable_config(), &results, false)?;
    let names = hosts.all().iter().map(|host| host.name.as_str());
    output::write_simulation(&directory, MODE, names)?;
    let page = report::run_page(&experiment, &results).context("cannot draw the report")?;
    let written = report::write(&directory, &page)?;
    let mut out = io::stdout().lock();
    let summary = &results.summary;
    writeln!(
        out,
        "{}: {} peers on {} hosts, {} messages, {} bytes",
        summary.name,
        session.peers(),
        hosts.all().len(),
        results.outcome.communication.messages,
        results.outcome.communication.bytes_total,
    )?;
    writeln!(out, "{MODE}")?;
    writeln!(out, "results: {}", directory.display())?;
    writeln!(out, "report: {}", written.display())?;
    crate::cli::warn(&results.summary.warnings);
    Ok(Verdict::Success)
}
