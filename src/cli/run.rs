//! `undertone run`: runs one experiment, writes its files and prints the tables.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::arguments::RunArguments;
use super::live::Showing;
use super::progress::Progress;
use super::{Verdict, table};
use crate::campaign::auto::Auto;
use crate::engine::Communication;
use crate::report;
use crate::run::completion::CompletionSummary;
use crate::run::convergence_bounds::ConvergenceBounds;
use crate::run::faults::{FaultsError, FaultsSummary};
use crate::run::metrics::Utility;
use crate::run::recommendation::RecommendationSummary;
use crate::run::summary::Summary;
use crate::run::variance::{VariancePart, VarianceSummary};
use crate::run::{ComparedRun, Report, RunError, output, run};
use crate::writing::bytes;

pub(crate) fn execute(arguments: &RunArguments) -> Result<Verdict> {
    if let Some(study) = arguments.experiment.study()? {
        ensure!(
            arguments.shard.is_none(),
            "--shard is for sweeps, and {} is a study",
            arguments.experiment.sim.display()
        );
        ensure!(
            !arguments.pareto,
            "--pareto is for sweeps, and {} is a study",
            arguments.experiment.sim.display()
        );
        Showing::refuse(arguments, "a study")?;
        return super::study::execute(arguments, &study);
    }
    let config = arguments.experiment.config()?;
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
    ensure!(
        arguments.shard.is_none(),
        "--shard is for sweeps, and {} is one run",
        arguments.experiment.sim.display()
    );
    ensure!(
        !arguments.pareto,
        "--pareto is for sweeps, and {} is one run",
        arguments.experiment.sim.display()
    );
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
                eprintln!("error: {none}");
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
        if let Some(chosen) = &chosen {
            super::auto::print(&mut out, chosen)?;
        }
        print(&mut out, &results)?;
        writeln!(out, "results: {}", directory.display())?;
        writeln!(out, "report: {}", written.display())?;
    }
    super::warn(&results.summary.warnings);
    showing.done(&results.summary);
    showing.stay();
    Ok(Verdict::Success)
}

fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let summary = &report.summary;
    print_setting(out, summary)?;
    match &summary.completion {
        Some(completion) => print_completion(out, completion)?,
        None => print_utility(out, summary)?,
    }
    if let Some(recommendation) = &summary.recommendation {
        print_recommendation(out, summary, recommendation)?;
    }
    if let Some(reason) = summary.recommendation_reason {
        writeln!(out, "\n  (no recommendations measured: {reason})")?;
    }
    if summary.privacy.epsilon.is_some() {
        writeln!(
            out,
            "  counts of interactions and all errors are measured on the raw data: no epsilon covers them"
        )?;
    }
    writeln!(out)?;
    super::privacy::print(out, &summary.privacy)?;
    if let Some(faults) = &summary.faults {
        writeln!(out)?;
        super::faults::print(out, faults)?;
    }
    let communication = &summary.communication;
    writeln!(out, "\nsent: {}", sent(communication))?;
    if communication.lost > 0 {
        writeln!(out, "lost: {} messages", communication.lost)?;
    }
    // Engines with one copy of the basis have nobody to disagree.
    if summary.consensus.guaranteed > 0.0 || summary.consensus.max_disagreement > 0.0 {
        // What averaging guarantees it does of inputs as they were published, not of what heirs brought in.
        let faulty = summary.faults.as_ref();
        let known = if communication.lost > 0 || faulty.is_some_and(FaultsSummary::is_faulty) {
            "planned"
        } else if summary.topology.certified {
            "guaranteed"
        } else {
            "expected"
        };
        writeln!(
            out,
            "peers disagree by at most {} of the sum ({known}: {})",
            table::number(summary.consensus.max_disagreement),
            table::number(summary.consensus.guaranteed),
        )?;
    } else if report.has_peers() {
        writeln!(out, "all peers hold the same sum, to the last bit")?;
    }
    if let Some(rounding) = summary.consensus.rounding {
        write!(
            out,
            "rounding to f32 moves a sum by at most {} of it",
            table::number(rounding)
        )?;
        match summary.consensus.rounding_relative_to_noise {
            Some(part) => writeln!(out, ", {} of its noise", table::number(part))?,
            None => writeln!(out)?,
        }
    }
    if let Some(approximation) = summary.consensus.approximation {
        writeln!(
            out,
            "drawn for probe peers; that everybody contributes at the first peer's X moves estimates by at most {} of the sum",
            table::number(approximation),
        )?;
    }
    let total: f64 = summary.timing.seconds.values().sum();
    let memory = summary
        .timing
        .peak_memory_bytes
        .map_or_else(|| "unknown".to_owned(), bytes);
    writeln!(out, "took {total:.2} s, peak memory {memory}")
}

/// What was sent, in words.
fn sent(communication: &Communication) -> String {
    format!(
        "{} in {} messages: {} per peer, at most {} by one",
        bytes(communication.bytes_total),
        communication.messages,
        bytes(communication.bytes_mean_peer.round() as u64),
        bytes(communication.bytes_max_peer),
    )
}

/// What was read of ratings and what the filters dropped.
fn print_filters(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let data = &summary.data;
    writeln!(
        out,
        "{}: {} users, {} of {} items, {} of {} interactions kept",
        summary.name,
        data.users,
        data.items_kept,
        data.items,
        data.interactions_kept,
        data.interactions,
    )?;
    if let Some(layout) = &data.layout {
        writeln!(out, "read as {layout}")?;
    }
    writeln!(
        out,
        "dropped: {} ratings at or below the threshold, {} interactions by the item list, {} by the degree cap; \
         {} users without interactions stay as peers",
        data.ratings_below_threshold,
        data.interactions
            - data.interactions_held_out
            - data.interactions_kept
            - data.interactions_capped,
        data.interactions_capped,
        data.users_without_interactions,
    )
}

fn print_setting(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let data = &summary.data;
    if data.is_matrix() {
        writeln!(
            out,
            "{}: {} rows of {} numbers; {} slots are empty",
            summary.name, data.users, data.items, data.users_without_interactions,
        )?;
    } else {
        print_filters(out, summary)?;
    }
    if data.interactions_held_out > 0 {
        writeln!(
            out,
            "held out: {} interactions, which no peer has",
            data.interactions_held_out
        )?;
    }
    writeln!(
        out,
        "{} peers, {} edges, engine {}, {} over {}, rank {}, {} iterations of {} exchanges\n",
        summary.peers,
        summary.topology.edges,
        summary.engine,
        summary.algorithm,
        summary.averaging,
        summary.rank,
        summary.iterations,
        summary.communication.rounds.first().copied().unwrap_or(0),
    )
}

fn print_utility(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let utility = &summary.utility;
    let ours = Utility {
        subspace_error: utility.subspace_error,
        relative_error: utility.relative_error,
        relative_error_non_private: utility.relative_error_non_private,
        captured_variance: utility.captured_variance,
        explained_ratio: utility.explained_ratio,
    };
    let mut runs = vec![("this run", &ours), ("trusted curator", &utility.central)];
    if let Some(fault_free) = &utility.fault_free {
        runs.push(("nothing goes wrong", fault_free));
    }
    runs.push(("no privacy", &utility.non_private));
    if summary.privacy.epsilon.is_none() {
        // Without noise the curator's run is the one without privacy.
        runs.remove(1);
    }
    let heading = ["", "relative error", "vs no privacy", "subspace error"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (name, figures) in runs {
        rows.push(vec![
            name.to_owned(),
            table::optional(figures.relative_error),
            table::optional(figures.relative_error_non_private),
            table::optional(figures.subspace_error),
        ]);
    }
    table::write(out, &rows)?;
    if let Some(variance) = &utility.variance {
        print_variance(out, variance)?;
    }
    if utility.reference_floor != summary.data.degree_floor {
        let floor = utility.reference_floor;
        writeln!(
            out,
            "  errors are against the matrix of degree floor {floor}, on which \"no privacy\" ran"
        )?;
    }
    for (missing, reason) in [
        ("exact reference", &utility.reason),
        ("reference without privacy", &utility.reason_non_private),
        ("trusted curator", &utility.reason_central),
    ] {
        if let Some(reason) = reason {
            writeln!(out, "  (no {missing}: {reason})")?;
        }
    }
    if let Some(compared) = &utility.compared {
        print_compared(out, compared)?;
    }
    print_bounds(out, &utility.bounds)
}

/// How much variance the first k columns capture.
fn print_variance(out: &mut impl Write, variance: &VarianceSummary) -> io::Result<()> {
    writeln!(
        out,
        "\nvariance captured by the first k components (measured on the raw data: not private)"
    )?;
    let heading = [
        "k",
        "this run",
        "trusted curator",
        "no privacy",
        "explained ratio",
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let of = |parts: Option<&Vec<VariancePart>>, k: usize| {
        let part = parts.and_then(|parts| parts.get(k));
        table::optional(part.map(|part| part.captured))
    };
    for (k, part) in variance.this_run.iter().enumerate() {
        rows.push(vec![
            part.components.to_string(),
            table::optional(Some(part.captured)),
            of(variance.central.as_ref(), k),
            of(variance.non_private.as_ref(), k),
            table::optional(Some(part.explained)),
        ]);
    }
    table::write(out, &rows)
}

/// How well ratings that no peer holds are predicted.
fn print_completion(out: &mut impl Write, completion: &CompletionSummary) -> io::Result<()> {
    writeln!(
        out,
        "root mean squared error on {} ratings kept aside (measured on the raw data: not private)",
        completion.test_ratings
    )?;
    let rows: Vec<Vec<String>> = completion
        .lines()
        .into_iter()
        .map(|(name, error)| vec![name.to_owned(), table::optional(error)])
        .collect();
    table::write(out, &rows)?;
    let stopped = completion.stopped_at.map_or_else(String::new, |at| {
        format!("; it stopped before iteration {at}")
    });
    let kept = completion.directions_kept;
    writeln!(out, "  predictions are made of {kept} directions{stopped}")?;
    match completion.signal {
        true => Ok(()),
        false => writeln!(
            out,
            "  no signal: nothing released is above its noise, and every prediction is the user's own mean; raise privacy.epsilon, or take \
             fewer items or more users"
        ),
    }
}

/// The method that the run is compared with, in one line.
fn print_compared(out: &mut impl Write, compared: &ComparedRun) -> io::Result<()> {
    let (name, iterations) = (compared.name(), compared.iterations);
    match (&compared.communication, &compared.reason) {
        (Some(communication), _) => writeln!(
            out,
            "  beside it {name}, {iterations} iterations, under the same budget: relative error {}, sent {}",
            table::optional(compared.utility.relative_error),
            sent(communication),
        ),
        (None, reason) => writeln!(
            out,
            "  (no {name} beside it: {})",
            reason.as_deref().unwrap_or("it did not run"),
        ),
    }
}

/// P1's bounds in one line; nothing where none applies.
fn print_bounds(out: &mut impl Write, bounds: &ConvergenceBounds) -> io::Result<()> {
    if bounds.runtime_dependent.is_none() {
        return Ok(());
    }
    writeln!(
        out,
        "  subspace error of the first {}: {}; convergence bounds with constants 1: {} (P1 Thm 3.3), {} (Thm 4.1), \
         {} from this run's noise; above 1 they say nothing",
        bounds.k,
        table::optional(bounds.subspace_error_k),
        table::optional(bounds.runtime_dependent),
        table::optional(bounds.runtime_independent),
        table::optional(bounds.own_noise),
    )
}

fn print_recommendation(
    out: &mut impl Write,
    summary: &Summary,
    found: &RecommendationSummary,
) -> io::Result<()> {
    let top = found.this_run.top;
    writeln!(out)?;
    let mut runs = vec![
        ("this run", Some(found.this_run.quality)),
        ("trusted curator", found.central),
        ("no privacy", found.non_private),
        ("exact eigenvectors", found.exact),
        ("most popular", Some(found.popularity)),
    ];
    if summary.privacy.epsilon.is_none() {
        runs.remove(1);
    }
    let heading = [
        String::new(),
        format!("recall@{top}"),
        format!("ndcg@{top}"),
    ];
    let mut rows = vec![heading.to_vec()];
    for (name, quality) in runs {
        rows.push(vec![
            name.to_owned(),
            table::optional(quality.map(|q| q.recall)),
            table::optional(quality.map(|q| q.ndcg)),
        ]);
    }
    table::write(out, &rows)?;
    let held_out = &found.held_out;
    writeln!(
        out,
        "  {} users with {} held-out interactions, {} of them with items no peer has",
        found.this_run.users_evaluated, held_out.test_interactions, held_out.with_unknown_items,
    )?;
    if held_out.unknown_users > 0 {
        writeln!(
            out,
            "  left out: {} users of the test file whom the data does not know",
            held_out.unknown_users
        )?;
    }
    match &found.warning {
        Some(warning) => writeln!(out, "  {warning}"),
        None => Ok(()),
    }
}
