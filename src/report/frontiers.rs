//! Figures of error against bytes per peer, one per ε.

use super::axis::{Axis, Spacing};
use super::figure::{Figure, frontier};
use super::number;
use super::series::{Mark, Point, Series};
use super::table::{Cell, PageTable};
use crate::campaign::sweep::{Frontier, SweepResult};
use crate::config::SweptError;
use crate::writing::Column;

/// Figures of one sweep at most.
const MOST: usize = 4;

/// A figure and the table behind it for at most [`MOST`] values of the swept key, evenly chosen, first and last among
/// them.
pub(super) fn drawn(result: &SweepResult) -> Vec<(Figure, PageTable)> {
    let all = &result.frontiers;
    let count = all.len().min(MOST);
    let last = all.len().saturating_sub(1);
    let chosen = (0..count).map(|i| &all[i * last / (count - 1).max(1)]);
    chosen
        .enumerate()
        .map(|(number, frontier)| one(result, frontier, number))
        .collect()
}

fn one(result: &SweepResult, found: &Frontier, number: usize) -> (Figure, PageTable) {
    let axis = match result.x.as_str() {
        "privacy.epsilon" => "ε",
        key => key,
    };
    let place = format!("{axis} = {}", number::short(found.x));
    let mut algorithms: Vec<&str> = Vec::new();
    for point in &found.points {
        if !algorithms.contains(&point.algorithm) {
            algorithms.push(point.algorithm);
        }
    }
    let shown = |point: Point| Point::new(point.x, result.error.measure(point.y));
    let at = |bytes: f64, error: f64| Point::new(bytes / 1e6, error);
    let mut series: Vec<Series> = algorithms
        .iter()
        .enumerate()
        .map(|(look, algorithm)| {
            let own = found.points.iter().zip(1..);
            let own = own.filter(|(point, _)| point.algorithm == *algorithm);
            let (points, labels) = own
                .map(|(point, number)| (shown(at(point.bytes, point.error)), number.to_string()))
                .unzip();
            Series::new(algorithm, Mark::Markers, points)
                .with_look(look)
                .with_labels(labels)
        })
        .collect();
    let all: Vec<Point> = found
        .points
        .iter()
        .map(|point| at(point.bytes, point.error))
        .collect();
    let best = frontier(&all).into_iter().map(shown).collect();
    series.push(Series::new("Pareto frontier", Mark::Line, best).with_look(algorithms.len()));
    let measure = result.measure();
    let unit = match result.error {
        SweptError::Rmse => "units of ratings",
        _ => "ratio",
    };
    let spacing = match result.error.is_share() {
        true => Spacing::Fitting,
        false => Spacing::Log,
    };
    let best = |point: &&crate::campaign::sweep::FrontierPoint| point.on_frontier;
    let on = found.points.iter().filter(best).count();
    let figure = Figure {
        id: format!("frontier-{number}").into(),
        title: format!(
            "At {place}, no other method beats {on} of {} in both {measure} and bytes",
            found.points.len()
        ),
        description: "Means over runs. The numbers are those of the table below.".to_owned(),
        x: Axis::new(
            &format!("bytes sent by {}", result.bytes.sender()),
            "MB",
            Spacing::Log,
        ),
        y: Axis::new(&measure, unit, spacing),
        series,
        guides: Vec::new(),
        half: false,
    };
    let row = |(point, number): (&crate::campaign::sweep::FrontierPoint, u64)| {
        vec![
            Cell::Count(number),
            Cell::text(&point.method),
            Cell::text(point.algorithm),
            Cell::Number(point.bytes_max_peer / 1e6),
            Cell::Number(point.bytes_mean_peer / 1e6),
            Cell::Number(result.error.measure(point.error)),
            Cell::text(if point.on_frontier { "yes" } else { "no" }),
        ]
    };
    let table = PageTable {
        caption: format!("All methods at {place}"),
        columns: vec![
            Column::new("number", ""),
            Column::new("method", ""),
            Column::new("algorithm", ""),
            Column::new("bytes sent by the busiest peer", "MB"),
            Column::new("bytes sent by a peer on average", "MB"),
            Column::new(&measure, unit),
            Column::new("on the frontier", ""),
        ],
        rows: found.points.iter().zip(1..).map(row).collect(),
    };
    (figure, table)
}
