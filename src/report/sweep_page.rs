//! The page of a sweep: error against ε for every method.

use std::borrow::Cow;

use super::axis::Axis;
use super::figure::{Figure, FigureError, Guide};
use super::number;
use super::page::Page;
use super::series::Series;
use super::table::{Cell, PageTable};
use crate::campaign::sweep::Crossing;
use crate::writing::Column;

/// What a sweep found, as plain numbers and text.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepReport {
    /// The experiment's name.
    pub name: String,
    /// What was swept over what, in a sentence.
    pub lead: String,
    /// What all methods guarantee, in words.
    pub guarantee: String,
    /// Each method with its promise, a sentence.
    pub promises: Vec<(String, String)>,
    /// Things the reader should know.
    pub warnings: Vec<String>,
    /// The axis that was swept: ε.
    pub x: Axis,
    /// One figure per error measure, the one with the target first.
    pub panels: Vec<Panel>,
    /// The value of the first panel whose ε is asked for; `None` if none is.
    pub target: Option<f64>,
    /// Name of the method that ratios are against.
    pub baseline: String,
    /// Where each method reaches the target, in the order of the methods.
    pub crossings: Vec<MarkedCrossing>,
    /// Every method.
    pub methods: Vec<Method>,
    /// More figures, after the panels.
    pub figures: Vec<Figure>,
    /// Error against bytes, each figure with the table that explains its numbers; no section if there are none.
    pub frontiers: Vec<(Figure, PageTable)>,
    /// More tables, after the methods.
    pub tables: Vec<PageTable>,
    /// The experiment file.
    pub configuration: String,
    /// What differs from run to run.
    pub timing: String,
}

/// One error measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// Unique on the page; letters and dashes.
    pub id: Cow<'static, str>,
    /// What is measured: "relative error against the non-private run".
    pub y: Axis,
    /// One series per method, with bands.
    pub series: Vec<Series>,
    /// What the line and the band are: "mean of 10 runs, 99 % bootstrap band".
    pub description: String,
}

/// Where a method reaches the target.
#[derive(Clone, Debug, PartialEq)]
pub struct MarkedCrossing {
    /// The method, its x there, and what it pays.
    pub found: Crossing,
    /// Whether it is the baseline itself.
    pub is_baseline: bool,
}

/// One method.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// Keys it sets, with their values.
    pub settings: Vec<(String, String)>,
    /// Values of the swept axis.
    pub points: u64,
    /// Runs that are finished, over all points.
    pub runs: u64,
    /// Runs that are not.
    pub missing: u64,
}

/// The page of a sweep.
///
/// # Errors
/// [`FigureError`] if the plotting crate fails. Panels without a point that can be drawn say so on the page.
pub fn sweep_page(sweep: &SweepReport) -> Result<String, FigureError> {
    let mut page = Page::new(&sweep.name, &sweep.lead);
    page.guarantee(&sweep.guarantee);
    if !sweep.promises.is_empty() {
        page.table(&promises(&sweep.promises));
    }
    let mut warnings = sweep.warnings.clone();
    let missing: u64 = sweep.methods.iter().map(|method| method.missing).sum();
    if missing > 0 {
        warnings.push(format!(
            "{missing} runs are missing: the curves rest on those that are there"
        ));
    }
    page.warnings(&warnings);

    page.section(&format!("Error against {}", sweep.x.label));
    let panels = sweep.panels.iter().enumerate().map(|(position, panel)| {
        let target = sweep.target.filter(|_| position == 0);
        Figure {
            id: panel.id.clone(),
            title: match target {
                Some(target) => finding(sweep, panel, target),
                None => format!("{} by method", capitalised(&panel.y.label)),
            },
            description: panel.description.clone(),
            x: sweep.x.clone(),
            y: panel.y.clone(),
            series: panel.series.clone(),
            guides: target
                .map(|y| Guide {
                    y,
                    label: format!("target {}", number::short(y)),
                })
                .into_iter()
                .collect(),
            half: false,
        }
    });
    let mut figures: Vec<Figure> = panels.collect();
    figures.extend(sweep.figures.iter().cloned());
    page.figures(&figures, &[])?;

    if let Some(target) = sweep.target {
        page.section("What the target costs");
        page.table(&crossings(sweep, target));
    }
    if !sweep.frontiers.is_empty() {
        page.section("What a byte buys");
        for (figure, table) in &sweep.frontiers {
            page.figures(std::slice::from_ref(figure), &[])?;
            page.table(table);
        }
    }
    page.section("Methods");
    page.table(&settings(sweep));
    page.table(&counts(sweep));
    for table in &sweep.tables {
        page.table(table);
    }
    page.configuration(&sweep.configuration);
    page.timing(&sweep.timing);
    Ok(page.html())
}

/// A line for each method; one for all if they promise the same.
fn promises(found: &[(String, String)]) -> PageTable {
    let line = |method: &str, promise: &str| vec![Cell::text(method), Cell::text(promise)];
    let rows = match found {
        [(_, first), rest @ ..] if rest.iter().all(|(_, other)| other == first) => {
            vec![line("all", first)]
        }
        several => several
            .iter()
            .map(|(method, promise)| line(method, promise))
            .collect(),
    };
    PageTable {
        caption: "What each method promises".to_owned(),
        columns: vec![Column::new("method", ""), Column::new("promise", "")],
        rows,
    }
}

/// Which method needs least, beside the baseline.
fn finding(sweep: &SweepReport, panel: &Panel, target: f64) -> String {
    let what = capitalised(&panel.y.label);
    let target = number::short(target);
    let reached = |crossing: &MarkedCrossing| crossing.found.x.unwrap_or(f64::INFINITY);
    let least = sweep
        .crossings
        .iter()
        .filter(|crossing| crossing.found.x.is_some())
        .min_by(|a, b| reached(a).total_cmp(&reached(b)));
    let Some(least) = least else {
        return format!("{what}: no method reaches {target}");
    };
    let place = |crossing: &MarkedCrossing, equal: &str| {
        let sign = if crossing.found.at_most {
            "≤ "
        } else {
            equal
        };
        format!("{sign}{}", number::significant(reached(crossing), 2))
    };
    let (axis, method) = (&sweep.x.label, &least.found.method);
    let mut baselines = sweep
        .crossings
        .iter()
        .filter(|crossing| crossing.is_baseline);
    // With further swept keys there are several baselines, and the table says which belongs to whom.
    match (baselines.next(), baselines.next()) {
        (Some(own), None) if own.found.x.is_some() && !least.is_baseline => format!(
            "{what}: {method} reaches {target} at {axis} {}, {} (baseline) at {}",
            place(least, "= "),
            own.found.method,
            place(own, "")
        ),
        _ => format!(
            "{what}: {method} is the first to reach {target}, at {axis} {}",
            place(least, "= ")
        ),
    }
}

fn crossings(sweep: &SweepReport, target: f64) -> PageTable {
    let rows = sweep.crossings.iter().map(|crossing| {
        let mut name = crossing.found.method.clone();
        if crossing.is_baseline {
            name.push_str(" (baseline)");
        }
        let epsilon = match crossing.found.x {
            Some(epsilon) if crossing.found.at_most => {
                Cell::Text(format!("≤ {}", number::significant(epsilon, 3)))
            }
            epsilon => Cell::optional(epsilon),
        };
        vec![
            Cell::Text(name),
            epsilon,
            Cell::optional(crossing.found.ratio),
            Cell::optional(crossing.found.epsilon_spent),
            Cell::optional(crossing.found.ratio_spent),
        ]
    });
    let measure = sweep.panels.first().map_or("error", |panel| &panel.y.label);
    PageTable {
        caption: format!(
            "Where each method reaches {} ({measure})",
            number::short(target)
        ),
        columns: vec![
            Column::new("method", ""),
            Column::new(&sweep.x.label, &sweep.x.unit),
            Column::new("times less than the baseline", "ratio"),
            Column::new("epsilon spent there", "nats"),
            Column::new("times less spent than the baseline", "ratio"),
        ],
        rows: rows.collect(),
    }
}

fn settings(sweep: &SweepReport) -> PageTable {
    let rows = sweep.methods.iter().map(|method| {
        let set: Vec<String> = method
            .settings
            .iter()
            .map(|(key, value)| format!("{key} = {value}"))
            .collect();
        let set = if set.is_empty() {
            "as in the configuration".to_owned()
        } else {
            set.join(", ")
        };
        vec![Cell::text(&method.name), Cell::Text(set)]
    });
    PageTable {
        caption: "What each method sets".to_owned(),
        columns: vec![Column::new("method", ""), Column::new("settings", "")],
        rows: rows.collect(),
    }
}

fn counts(sweep: &SweepReport) -> PageTable {
    let rows = sweep.methods.iter().map(|method| {
        let [points, runs, missing] = [method.points, method.runs, method.missing].map(Cell::Count);
        vec![Cell::text(&method.name), points, runs, missing]
    });
    PageTable {
        caption: "How much was run".to_owned(),
        columns: vec![
            Column::new("method", ""),
            Column::new("points", "count"),
            Column::new("runs", "count"),
            Column::new("missing runs", "count"),
        ],
        rows: rows.collect(),
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}
