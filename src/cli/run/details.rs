//! The details that `run --verbose` prints below the first screen.

use std::io::{self, Write};

use crate::cli::table;
use crate::engine::Communication;
use crate::run::completion::CompletionSummary;
use crate::run::convergence_bounds::ConvergenceBounds;
use crate::run::faults::FaultsSummary;
use crate::run::recommendation::RecommendationSummary;
use crate::run::summary::Summary;
use crate::run::variance::{VariancePart, VarianceSummary};
use crate::run::{ComparedRun, Draws, DrawsSummary, Report};
use crate::writing::bytes;

pub(super) fn print(out: &mut impl Write, report: &Report) -> io::Result<()> {
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
    if let Some(draws) = &summary.utility.draws {
        print_draws(out, draws)?;
    }
    if summary.privacy.epsilon.is_some() {
        writeln!(
            out,
            "  counts of interactions and all errors are measured on the raw data: no epsilon covers them"
        )?;
    }
    writeln!(out)?;
    crate::cli::privacy::print(out, &summary.privacy)?;
    if let Some(faults) = &summary.faults {
        writeln!(out)?;
        crate::cli::faults::print(out, faults)?;
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
    let ours = utility.this_run();
    let mut runs = vec![("this run", &ours), ("central baseline", &utility.central)];
    if let Some(fault_free) = &utility.fault_free {
        runs.push(("without faults", fault_free));
    }
    runs.push(("without privacy", &utility.non_private));
    if summary.privacy.epsilon.is_none() {
        // Without noise the central baseline is the run without privacy.
        runs.remove(1);
    }
    let heading = [
        "",
        "relative error",
        "against without privacy",
        "subspace error",
    ];
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
            "  errors are against the matrix of degree floor {floor}, on which \"without privacy\" ran"
        )?;
    }
    for (missing, reason) in [
        ("exact reference", &utility.reason),
        ("reference without privacy", &utility.reason_non_private),
        ("central baseline", &utility.reason_central),
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

/// Mean and standard deviation over draws of the noise, or why there are none.
fn print_draws(out: &mut impl Write, draws: &DrawsSummary) -> io::Result<()> {
    let of = crate::cli::privacy::name(&draws.of);
    writeln!(out, "\n{of} over draws of the noise")?;
    let heading = ["", "draws", "mean", "standard deviation", "reason"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let compared = draws.compared.as_ref();
    let all = [
        ("this run", Some(&draws.this_run)),
        ("central baseline", Some(&draws.central)),
        ("in comparison", compared),
    ];
    for (name, draws) in all {
        let Some(Draws {
            count,
            mean,
            standard_deviation,
            reason,
        }) = draws
        else {
            continue;
        };
        rows.push(vec![
            name.to_owned(),
            count.to_string(),
            table::optional(*mean),
            table::optional(*standard_deviation),
            reason.clone().unwrap_or_default(),
        ]);
    }
    table::write(out, &rows)
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
        "central baseline",
        "without privacy",
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
            "  in comparison {name}, {iterations} iterations, under the same budget: relative error {}, sent {}",
            table::optional(compared.utility.relative_error),
            sent(communication),
        ),
        (None, reason) => writeln!(
            out,
            "  (no comparison with {name}: {})",
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
        ("central baseline", found.central),
        ("without privacy", found.non_private),
        ("exact eigenvectors", found.exact),
        ("most popular items", Some(found.popularity)),
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
