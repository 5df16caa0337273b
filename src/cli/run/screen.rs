//! The first screen of a run: what ran, one table of methods, privacy in one line, and where the report is.

use std::io;
use std::path::Path;

use super::privacy_line::privacy_line;
use crate::cli::table;
use crate::config::TopologySource;
use crate::engine::Communication;
use crate::run::measure::Method;
use crate::run::summary::Summary;
use crate::run::{Draws, DrawsSummary, Measure};
use crate::scenario::Experiment;
use crate::writing::bytes;

/// Most lines of the screen.
const MOST: usize = 12;

/// Most digits after the point.
const DIGITS: usize = 6;

/// The lines of the screen, at most [`MOST`].
pub(super) fn lines(
    experiment: &Experiment,
    summary: &Summary,
    report: &Path,
) -> io::Result<Vec<String>> {
    let with_pilot = summary.pilot.is_some();
    let privacy = privacy_line(&summary.privacy, &experiment.statement(), with_pilot);
    let mut comparison = methods(experiment, summary)?;
    comparison.extend(notes(experiment, summary));
    let blocks = [
        vec![setting(experiment, summary)],
        comparison,
        vec![privacy, format!("report: {}", report.display())],
    ];
    let spaced = blocks.join(&String::new());
    Ok(match spaced.len() <= MOST {
        true => spaced,
        false => blocks.concat(),
    })
}

/// A number of things.
fn count(number: usize, singular: &str, plural: &str) -> String {
    match number {
        1 => format!("1 {singular}"),
        _ => format!("{number} {plural}"),
    }
}

/// The data and the network.
fn setting(experiment: &Experiment, summary: &Summary) -> String {
    let data = &summary.data;
    let what = match data.is_matrix() {
        true => format!(
            "{} of {}",
            count(data.users, "row", "rows"),
            count(data.items, "number", "numbers")
        ),
        false => format!(
            "{}, {}, {}",
            count(data.users, "user", "users"),
            count(data.items_kept, "item", "items"),
            count(data.interactions_kept, "interaction", "interactions")
        ),
    };
    let peers = count(summary.peers, "peer", "peers");
    let edges = count(summary.topology.edges, "edge", "edges");
    let network = match (&experiment.config().topology, is_central(summary)) {
        (_, true) => format!("one curator for {peers}"),
        (TopologySource::Generator(generator), _) => {
            format!("{peers}, {} graph, {edges}", generator.name())
        }
        _ => format!("{peers}, {edges}"),
    };
    format!("{}: {what}; {network}", summary.name)
}

/// Whether the run is what others are compared with: a curator's.
fn is_central(summary: &Summary) -> bool {
    summary.engine == "central"
}

/// One line of the table.
struct Line<'a> {
    name: String,
    value: Option<f64>,
    draws: Option<&'a Draws>,
    sent: Option<&'a Communication>,
}

/// The table of methods.
fn methods(experiment: &Experiment, summary: &Summary) -> io::Result<Vec<String>> {
    let measure = Measure::of(summary);
    let lines = compared(summary, measure);
    let digits = digits(&lines);
    let with_bytes = lines.iter().any(|line| line.sent.is_some());
    let mut heading = vec!["method".to_owned()];
    heading.extend(measure.map(|measure| name(measure, experiment)));
    if with_bytes {
        heading.extend(["bytes per peer", "busiest peer"].map(str::to_owned));
    }
    let spread = widest(&lines, digits);
    let row = |line: &Line<'_>| {
        let mut row = vec![line.name.clone()];
        if measure.is_some() {
            row.push(cell(line, digits, spread));
        }
        if with_bytes {
            let sent = |pick: fn(&Communication) -> u64| {
                line.sent
                    .map_or_else(|| "-".to_owned(), |sent| bytes(pick(sent)))
            };
            row.push(sent(|sent| sent.bytes_mean_peer.round() as u64));
            row.push(sent(|sent| sent.bytes_max_peer));
        }
        row
    };
    let mut rows = vec![heading];
    rows.extend(lines.iter().map(row));
    let mut out = Vec::new();
    table::write(&mut out, &rows)?;
    let text = String::from_utf8_lossy(&out);
    Ok(text.lines().map(str::to_owned).collect())
}

/// The methods of the table, in its order.
fn compared(summary: &Summary, measure: Option<Measure>) -> Vec<Line<'_>> {
    let value = |method| measure?.value(method, summary);
    let draws = summary.utility.draws.as_ref();
    let something = |sent: &&Communication| sent.bytes_total > 0;
    let sent = Some(&summary.communication).filter(something);
    let reference = |name: &str, method| Line {
        name: name.to_owned(),
        value: value(method),
        draws: None,
        sent: None,
    };
    let central = draws.map(|draws| &draws.central);
    let mut lines = vec![Line {
        name: match is_central(summary) && summary.privacy.epsilon.is_some() {
            true => "this run, a central baseline".to_owned(),
            false => "this run".to_owned(),
        },
        draws: draws.map(|draws| &draws.this_run),
        sent,
        ..reference("", Method::ThisRun)
    }];
    if summary.utility.fault_free.is_some() {
        lines.push(reference("without faults", Method::WithoutFaults));
    }
    // Without noise it is the run without privacy, and of a curator's run the run itself.
    if summary.privacy.epsilon.is_some() && !is_central(summary) {
        lines.push(Line {
            draws: central,
            ..reference("central baseline", Method::Central)
        });
    }
    if let Some(compared) = &summary.utility.compared {
        lines.push(Line {
            draws: draws.and_then(|draws| draws.compared.as_ref()),
            sent: compared.communication.as_ref().filter(something),
            ..reference(&compared.name(), Method::Compared)
        });
    }
    lines.push(reference("without privacy", Method::WithoutPrivacy));
    lines.extend(match measure {
        Some(Measure::Recall) => Some(reference("most popular items", Method::MostPopular)),
        Some(Measure::Rmse) => {
            let means = "means of users and items";
            Some(reference(means, Method::UserAndItemMeans))
        }
        _ => None,
    });
    lines
}

/// The heading of a measure.
fn name(measure: Measure, experiment: &Experiment) -> String {
    match measure {
        Measure::RelativeError | Measure::RelativeErrorNonPrivate => "relative error".to_owned(),
        Measure::CapturedVariance => "captured variance".to_owned(),
        Measure::Rmse => "RMSE".to_owned(),
        Measure::Recall => format!("recall@{}", experiment.config().evaluation.top),
    }
}

fn deviation(line: &Line<'_>) -> Option<f64> {
    line.draws?.standard_deviation
}

/// Digits after the point: three, or as many as show every standard deviation.
fn digits(lines: &[Line<'_>]) -> usize {
    let deviations = lines.iter().filter_map(deviation);
    let places = deviations.filter(|one| *one > 0.0).map(|one| -one.log10());
    let needed = places.fold(0.0, f64::max).ceil();
    (needed as usize).clamp(3, DIGITS)
}

fn spread(line: &Line<'_>, digits: usize) -> String {
    deviation(line).map_or_else(String::new, |one| format!(" ± {one:.digits$}"))
}

/// The width of the widest standard deviation.
fn widest(lines: &[Line<'_>], digits: usize) -> usize {
    let widths = lines
        .iter()
        .map(|line| spread(line, digits).chars().count());
    widths.max().unwrap_or(0)
}

/// The figure and its standard deviation, so padded that the points of a column stand below each other.
fn cell(line: &Line<'_>, digits: usize, width: usize) -> String {
    let spread = spread(line, digits);
    match line.value {
        Some(value) => format!("{value:.digits$}{spread:<width$}"),
        None => format!("-{:width$}", ""),
    }
}

/// Notes on the figures, one a line.
fn notes(experiment: &Experiment, summary: &Summary) -> Vec<String> {
    let measure = Measure::of(summary);
    let mut notes = Vec::new();
    let mut figures = Vec::new();
    match (measure, &summary.utility.draws) {
        (None, _) => notes.push("  there is no reference for an error: see the report".to_owned()),
        (Some(_), Some(draws)) => figures.extend(of_draws(draws)),
        (Some(_), None) => {}
    }
    if measure == Some(Measure::RelativeErrorNonPrivate) {
        figures.push("errors are relative to the result without privacy".to_owned());
    }
    if summary.privacy.epsilon.is_some() && measure.is_some() {
        figures.push("measured on the raw data, not private".to_owned());
    }
    if !figures.is_empty() {
        notes.push(format!("  {}", figures.join("; ")));
    }
    notes.extend(signal(summary));
    notes.extend(faults(experiment, summary));
    notes.extend(chosen(summary));
    notes
}

/// Explains ±, or why it is missing.
fn of_draws(draws: &DrawsSummary) -> Vec<String> {
    let all = [
        Some(&draws.this_run),
        Some(&draws.central),
        draws.compared.as_ref(),
    ];
    let counts = all.iter().flatten().map(|draws| draws.count);
    let (most, least) = (
        counts.clone().max(),
        counts.filter(|count| *count > 0).min(),
    );
    let (Some(most), Some(least)) = (most, least) else {
        let reason = draws.this_run.reason.as_deref().unwrap_or("no draws");
        return vec![format!("no ±, as {reason}")];
    };
    let counts = match most == least {
        true => most.to_string(),
        false => format!("{least} to {most}"),
    };
    let mut found = vec![format!(
        "± standard deviation over {counts} draws of the noise"
    )];
    if let Some(reason) = &draws.this_run.reason {
        found.push(format!("none for this run, as {reason}"));
    }
    found
}

/// A note where nothing stands out of the noise, or the run ended early.
fn signal(summary: &Summary) -> Option<String> {
    let completion = summary.completion.as_ref();
    let silent = completion.is_some_and(|completion| !completion.signal);
    let stopped = summary.aborted_at.and_then(|at| at.0);
    let stopped = completion.map_or(stopped, |completion| completion.stopped_at);
    match (silent, stopped) {
        (true, _) => {
            Some("  no signal above the noise: every prediction is the user's mean".to_owned())
        }
        (false, Some(at)) => Some(format!("  stopped before iteration {at}")),
        (false, None) => None,
    }
}

/// A note on peers and messages that were lost.
fn faults(experiment: &Experiment, summary: &Summary) -> Option<String> {
    let mut parts = Vec::new();
    if let Some(faults) = &summary.faults {
        let ends = faults.ends.iter();
        parts.extend(ends.map(|(end, count)| format!("{count} {end}")));
        if faults.retries_spent > 0 {
            let retries = faults.retries_spent as usize;
            parts.push(count(retries, "retry", "retries"));
        }
        if let Some(deviants) = &faults.deviants {
            parts.push(format!(
                "{} of which {} were named",
                count(deviants.deviants.len(), "deviant", "deviants"),
                deviants.deviants.len() - deviants.overlooked.len(),
            ));
        }
    }
    if summary.communication.lost > 0 {
        let lost = usize::try_from(summary.communication.lost).unwrap_or(usize::MAX);
        parts.push(format!("{} lost", count(lost, "message", "messages")));
    }
    let peers = experiment.topology().graph().nodes();
    (!parts.is_empty()).then(|| {
        format!(
            "  of {}: {}",
            count(peers, "peer", "peers"),
            parts.join(", ")
        )
    })
}

/// The algorithm that was chosen, where the file left the choice open.
fn chosen(summary: &Summary) -> Option<String> {
    let choice = summary.choice.as_ref()?;
    let by = match summary.pilot {
        Some(_) => "by a pilot",
        None => "without a pilot",
    };
    Some(format!("  chosen {by}: {}", choice.chosen))
}
