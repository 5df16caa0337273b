//! The page of a single run.

use super::axis::{Axis, Spacing};
use super::figure::{Figure, FigureError};
use super::network::{self, Network};
use super::page::Page;
use super::series::{Mark, Point, Series};
use super::table::{Cell, PageTable};
use super::{choice, convergence, directions, guarantee, lost_peers, number};
use crate::assess::peer_costs;
use crate::campaign::auto::Chosen;
use crate::config::resolved;
use crate::privacy::{Certificate, View};
use crate::run::Report;
use crate::run::completion::CompletionSummary;
use crate::run::faults::FaultsSummary;
use crate::run::summary::Summary;
use crate::scenario::Experiment;
use crate::writing;
use crate::writing::Column;

/// Peers up to which the exact loss of each is computed for the picture; milliseconds.
const MOST_ACCOUNTED: usize = 1000;

/// The page of `report`, what [`run`](crate::run::run) made of `experiment`.
///
/// The same run gives the same page but for the line of its duration.
///
/// # Errors
/// [`FigureError`] if a figure cannot be drawn.
///
/// # Cost
/// Tenths of a second: the layout of the graph, and the exact loss of every peer up to a thousand peers.
pub fn run_page(experiment: &Experiment, report: &Report) -> Result<String, FigureError> {
    page_of(experiment, report, None)
}

/// The page of `report`, what [`Chosen::run`] made of this choice: that of a run, with what the pilot released, what was chosen by it and what both cost.
///
/// # Errors
/// As [`run_page`].
pub fn chosen_page(chosen: &Chosen, report: &Report) -> Result<String, FigureError> {
    page_of(&chosen.experiment, report, Some(chosen))
}

fn page_of(
    experiment: &Experiment,
    report: &Report,
    chosen: Option<&Chosen>,
) -> Result<String, FigureError> {
    let summary = &report.summary;
    let mut page = Page::new(&summary.name, &lead(summary));
    let config = experiment.config();
    page.guarantee(&guarantee::words(&summary.privacy, &experiment.statement()));
    page.warnings(&summary.warnings);
    if summary.privacy.epsilon.is_some() {
        page.paragraph(
            "Not for publication: counts of interactions, errors, recommendations and the agreement between peers on this page are \
             computed from the raw data, and the seed gives the noise away. No ε covers them. What may be published is \
             receipt.json, basis.npy and trace/.",
        );
    }
    match &summary.completion {
        Some(completion) => page.table(&predictions(completion)),
        None => page.table(&utility(summary)),
    }
    if let Some(text) = convergence::missed(summary) {
        page.paragraph(&text);
    }
    for (missing, reason) in [
        ("exact reference", &summary.utility.reason),
        (
            "reference without privacy",
            &summary.utility.reason_non_private,
        ),
        ("central baseline", &summary.utility.reason_central),
    ] {
        if let Some(reason) = reason {
            page.paragraph(&format!("There is no {missing}: {reason}"));
        }
    }

    directions::section(&mut page, experiment, report);

    page.section("Convergence and agreement");
    let values = losses(experiment);
    let noise_graph = experiment.noise_topology().graph();
    let value_name = "ε [nats]";
    let of_noise = Network {
        id: "noise-graph",
        what: "noise graph",
        graph: noise_graph,
        values: &values,
        value_name,
    };
    let communication = Network {
        id: "graph",
        what: "communication graph",
        graph: experiment.topology().graph(),
        values: &[],
        value_name,
    };
    let networks = if experiment.has_noise_topology() {
        vec![communication, of_noise]
    } else {
        vec![Network {
            values: &values,
            ..communication
        }]
    };
    let mut figures = convergence::figures(report);
    figures.extend(consensus(report));
    page.figures(&figures, &networks)?;
    if convergence::of_iterations(report).len() == 1 {
        page.paragraph("The run has one iteration. Its errors are in the table above.");
    }
    page.paragraph(&agreement(experiment, report));

    page.section("Privacy");
    if summary.privacy.epsilon.is_some() {
        page.table(&views(&summary.privacy.views));
        page.table(&noise(summary));
        if !values.is_empty() {
            page.paragraph(
                "In the picture of the graph ε is exact, for each peer, against an outside observer of all messages.",
            );
        }
    } else {
        page.paragraph("This run adds no noise.");
    }

    if let Some(chosen) = chosen {
        choice::section(&mut page, chosen);
    }

    if let Some(faulty) = &report.faults {
        page.section("Lost peers");
        page.figures(lost_peers::figure(faulty).as_slice(), &[])?;
        for table in lost_peers::tables(&faulty.summary) {
            page.table(&table);
        }
    }

    page.section("Communication");
    page.table(&communication_table(summary));

    page.section("What ran");
    page.table(&setting(summary));
    page.configuration(&resolved(config));
    page.timing(&timing(summary));
    Ok(page.html())
}

/// What predictions are off by, and what they are made of.
fn predictions(completion: &CompletionSummary) -> PageTable {
    let lines = completion.lines().into_iter();
    let rows = lines.map(|(name, error)| vec![Cell::text(name), Cell::optional(error)]);
    PageTable {
        caption: format!(
            "Predictions of {} ratings kept aside, made of {} directions{}{}; measured on the raw data, not private",
            number::grouped(completion.test_ratings as u64),
            completion.directions_kept,
            completion.stopped_at.map_or_else(String::new, |at| format!(
                " (stopped before iteration {at})"
            )),
            match completion.signal {
                true => "",
                false => ", without signal: all are the user's own mean",
            },
        ),
        columns: vec![
            Column::new("predicted with", ""),
            Column::new("root mean squared error", "units of ratings"),
        ],
        rows: rows.collect(),
    }
}

fn lead(summary: &Summary) -> String {
    let data = &summary.data;
    format!(
        "{} {} of rank {} on {} interactions of {} users with {} items, held by {} peers; engine {}.",
        summary.iterations,
        if summary.iterations == 1 {
            "iteration"
        } else {
            "iterations"
        },
        summary.rank,
        number::grouped(data.interactions_kept as u64),
        number::grouped(data.users as u64),
        number::grouped(data.items_kept as u64),
        number::grouped(summary.peers as u64),
        summary.engine,
    )
}

/// The exact ε of every peer of the noise graph against an outside observer; empty where that means nothing or takes
/// long.
fn losses(experiment: &Experiment) -> Vec<Option<f64>> {
    let graph = experiment.noise_topology().graph();
    if graph.nodes() > MOST_ACCOUNTED || !network::is_drawn(graph) {
        return Vec::new();
    }
    let costs = peer_costs(experiment, &[]).unwrap_or_default();
    // Against nobody every peer is honest, so that costs are in peer order.
    if costs.len() != graph.nodes() {
        return Vec::new();
    }
    costs.iter().map(|cost| Some(cost.epsilon)).collect()
}

fn utility(summary: &Summary) -> PageTable {
    let mut runs = vec![("this run".to_owned(), summary.utility.this_run())];
    if summary.privacy.epsilon.is_some() {
        let name = "central baseline".to_owned();
        runs.push((name, summary.utility.central));
    }
    if let Some(fault_free) = summary.utility.fault_free {
        runs.push(("without faults".to_owned(), fault_free));
    }
    let name = "without privacy".to_owned();
    runs.push((name, summary.utility.non_private));
    if let Some(compared) = &summary.utility.compared {
        let name = format!("{} under the same budget", compared.name());
        runs.push((name, compared.utility));
    }
    let rows = runs.into_iter().map(|(name, figures)| {
        vec![
            Cell::Text(name),
            Cell::optional(figures.relative_error),
            Cell::optional(figures.relative_error_non_private),
            Cell::optional(figures.subspace_error),
        ]
    });
    PageTable {
        caption: "Error after the last iteration".to_owned(),
        columns: vec![
            Column::new("run", ""),
            Column::new("relative error against exact", "ratio"),
            Column::new("relative error against the run without privacy", "ratio"),
            Column::new("subspace error", "sine"),
        ],
        rows: rows.collect(),
    }
}

/// Most iterations whose rounds are drawn one by one.
const MOST_CURVES: usize = 6;

fn consensus(report: &Report) -> Option<Figure> {
    let start = report.rounds.first()?.first()?;
    let iterations = report.rounds.len();
    // Evenly spread, the first and the last among them.
    let shown: Vec<usize> = match iterations {
        0..=MOST_CURVES => (0..iterations).collect(),
        _ => (0..MOST_CURVES)
            .map(|k| k * (iterations - 1) / (MOST_CURVES - 1))
            .collect(),
    };
    let mut series: Vec<Series> = shown
        .iter()
        .map(|&l| {
            let points = report.rounds[l].iter().enumerate();
            let points = points.map(|(round, spread)| Point::new(round as f64, *spread));
            let mark = match report.rounds[l].len() {
                0..=40 => Mark::LineAndMarkers,
                _ => Mark::Line,
            };
            Series::new(&format!("iteration {}", l + 1), mark, points.collect())
        })
        .collect();
    let largest = report.rounds.iter().filter_map(|spreads| spreads.first());
    let largest = largest.copied().fold(*start, f64::max);
    let guaranteed = report.contractions.iter().enumerate();
    let guaranteed = guaranteed.map(|(round, factor)| Point::new(round as f64, factor * largest));
    let known = if report.summary.topology.certified {
        "guaranteed"
    } else {
        "expected"
    };
    let guaranteed: Vec<Point> = guaranteed.collect();
    if !guaranteed.is_empty() {
        let name = format!("at most ({known})");
        series.push(Series::new(&name, Mark::Line, guaranteed).with_look(6));
    }
    let rounds = report.rounds.first()?.len().saturating_sub(1);
    let last = report.rounds.iter().filter_map(|spreads| spreads.last());
    let last = last.copied().fold(0.0, f64::max);
    Some(Figure {
        id: "consensus".into(),
        title: format!(
            "{rounds} averaging rounds bring the spread between peers from {} to {} of the sum",
            number::significant(largest, 2),
            number::significant(last, 2)
        ),
        description: "s·√(Σ‖xᵤ − x̄‖²)/‖Y‖: how far the peers' values are from their mean, relative to the noisy sum. \
                      Rounding keeps it above about 10⁻¹⁵ times the spread at the start."
            .to_owned(),
        x: Axis::new("averaging round", "number", Spacing::Whole),
        y: Axis::new("spread between peers", "ratio", Spacing::Log),
        series,
        guides: Vec::new(),
        half: true,
    })
}

fn agreement(experiment: &Experiment, report: &Report) -> String {
    let consensus = report.summary.consensus;
    if !report.has_peers() {
        return "There is one copy of the basis: nobody can disagree.".to_owned();
    }
    if (consensus.guaranteed, consensus.max_disagreement) == (0.0, 0.0) {
        return "All peers ended with the same sum, to the last bit.".to_owned();
    }
    let faults = report.summary.faults.as_ref();
    let known = if faults.is_some_and(FaultsSummary::is_faulty) {
        "planned"
    } else if report.summary.topology.certified {
        "guaranteed"
    } else {
        "expected"
    };
    let mut text = format!(
        "In the end no peer's sum was further from the exact one than {} of it ({known}: {}).",
        number::short(consensus.max_disagreement),
        number::short(consensus.guaranteed)
    );
    if report.rounds.is_empty() {
        text.push_str(match experiment.config().engine.kind.name() {
            "lockstep" => " This run is too large for its averaging rounds to be watched one by one.",
            _ => {
                " Only the engine lockstep tells how far the peers are apart after every averaging round; it gives the \
                 same bits for the same seed: run the experiment again with --engine lockstep."
            }
        });
    }
    text
}

fn views(views: &[View]) -> PageTable {
    let rows = views.iter().map(|view| {
        vec![
            Cell::text(&view.view),
            Cell::Number(view.epsilon),
            Cell::Number(view.mu),
            Cell::Number(view.gap_to_central),
            Cell::Number(view.gap_colluders),
            Cell::Number(view.gap_finite),
            Cell::Text(certificate(view.certificate)),
        ]
    });
    PageTable {
        caption: "Privacy loss by who looks, for the worst-placed honest peer over all iterations"
            .to_owned(),
        columns: vec![
            Column::new("seen by", ""),
            Column::new("ε", "nats"),
            Column::new("μ", "standard deviations"),
            Column::new("gap to central", "ratio"),
            Column::new("= by collusion", "ratio"),
            Column::new("× by finite noise", "ratio"),
            Column::new("how it is known", ""),
        ],
        rows: rows.collect(),
    }
}

/// The name a certificate has in files.
fn certificate(certificate: Certificate) -> String {
    match serde_json::to_value(certificate) {
        Ok(serde_json::Value::String(name)) => name,
        _ => format!("{certificate:?}"),
    }
}

fn noise(summary: &Summary) -> PageTable {
    let rows = summary.privacy.iterations.iter().map(|noise| {
        vec![
            Cell::Count(u64::from(noise.iteration)),
            Cell::Number(noise.sensitivity),
            Cell::Number(noise.sigma_central),
            Cell::Number(noise.sigma_own),
            Cell::Number(noise.sigma_pairwise),
        ]
    });
    PageTable {
        caption: "Sensitivity and standard deviations of the noise, as drawn".to_owned(),
        columns: vec![
            Column::new("iteration", ""),
            Column::new("sensitivity Δ", "Frobenius norm"),
            Column::new("σ of a trusted curator", "per entry"),
            Column::new("σ of a peer's own noise", "per entry"),
            Column::new("σ of a pairwise term", "per entry"),
        ],
        rows: rows.collect(),
    }
}

fn communication_table(summary: &Summary) -> PageTable {
    let cost = &summary.communication;
    let exchanges: u64 = cost.rounds.iter().map(|rounds| u64::from(*rounds)).sum();
    let count = |name: &str, count: u64| vec![Cell::text(name), Cell::Count(count), Cell::text("")];
    let size = |name: &str, bytes: u64| {
        vec![
            Cell::text(name),
            Cell::Count(bytes),
            Cell::Text(writing::bytes(bytes)),
        ]
    };
    let rounds = cost.rounds.first().copied().unwrap_or(0);
    let mean = |bytes: f64| bytes.round() as u64;
    let lost = (cost.lost > 0).then(|| count("messages lost", cost.lost));
    let mut rows = vec![
        count("exchanges in the first iteration", u64::from(rounds)),
        count("exchanges in all iterations", exchanges),
        count("messages of all peers", cost.messages),
        size("bytes sent by all peers", cost.bytes_total),
        size(
            "bytes sent by a peer on average",
            mean(cost.bytes_mean_peer),
        ),
        size("bytes sent by the busiest peer", cost.bytes_max_peer),
    ];
    rows.extend(lost);
    for (what, bytes) in [
        ("agreeing on public numbers", cost.phases.agreement),
        ("forming sums", cost.phases.sums),
        ("gathering own coordinates", cost.phases.coordinates),
    ] {
        if bytes.bytes_total > 0 {
            let of = |who: &str| format!("of these, {what}, {who}");
            rows.push(size(&of("a peer on average"), mean(bytes.bytes_mean_peer)));
            rows.push(size(&of("the busiest peer"), bytes.bytes_max_peer));
        }
    }
    if let Some(other) = &summary.utility.compared
        && let Some(sent) = &other.communication
    {
        let name = other.name();
        let of = |who: &str| format!("bytes sent by {who}, had it been {name}");
        rows.push(size(&of("all peers"), sent.bytes_total));
        rows.push(size(&of("the busiest peer"), sent.bytes_max_peer));
    }
    PageTable {
        caption: "Rounds, messages and bytes, frames and prefixes included".to_owned(),
        columns: vec![
            Column::new("what", ""),
            Column::new("amount", ""),
            Column::new("rounded", ""),
        ],
        rows,
    }
}

fn setting(summary: &Summary) -> PageTable {
    let data = &summary.data;
    let text = |name: &str, value: String| vec![Cell::text(name), Cell::Text(value)];
    let count = |value: u64| number::grouped(value);
    let rows = vec![
        text("experiment", summary.name.clone()),
        text("seed", summary.seed.to_string()),
        text("engine", summary.engine.to_owned()),
        text("configuration hash (BLAKE3)", summary.config_hash.clone()),
        text("ratings read", count(data.ratings)),
        text(
            "of these at or below the threshold",
            count(data.ratings_below_threshold),
        ),
        text(
            "interactions kept",
            format!(
                "{} of {}",
                count(data.interactions_kept as u64),
                count(data.interactions as u64)
            ),
        ),
        text(
            "items kept",
            format!(
                "{} of {}",
                count(data.items_kept as u64),
                count(data.items as u64)
            ),
        ),
        text(
            "users without interactions, who stay as peers",
            count(data.users_without_interactions as u64),
        ),
        text(
            "algebraic connectivity of the graph, λ₂(L)",
            format!(
                "{}{}",
                summary.topology.algebraic_connectivity_is.words(),
                number::short(summary.topology.algebraic_connectivity)
            ),
        ),
        text(
            "second eigenvalue of the mixing weights, λ₂(W)",
            number::short(summary.topology.mixing_second_eigenvalue),
        ),
    ];
    PageTable {
        caption: "The run".to_owned(),
        columns: vec![Column::new("what", ""), Column::new("value", "")],
        rows,
    }
}

fn timing(summary: &Summary) -> String {
    let timing = &summary.timing;
    let total: f64 = timing.seconds.values().sum();
    let parts: Vec<String> = timing
        .seconds
        .iter()
        .map(|(part, seconds)| format!("{part} {} s", number::significant(*seconds, 3)))
        .collect();
    let memory = timing.peak_memory_bytes.map_or_else(String::new, |bytes| {
        format!("; peak memory {}", writing::bytes(bytes))
    });
    format!(
        "{} s in all ({}){memory}.",
        number::significant(total, 3),
        parts.join(", ")
    )
}
