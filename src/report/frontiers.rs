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
    let at = |bytes: f64, error: f64| Point::new(bytes / 1e6, error);
    let mut series: Vec<Series> = algorithms
        .iter()
        .enumerate()
        .map(|(look, algorithm)| {
            let own = found.points.iter().zip(1..);
            let own = own.filter(|(point, _)| point.algorithm == *algorithm);
            let (points, labels) = own
                .map(|(point, number)| (at(point.bytes, point.error), number.to_string()))
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
    series.push(
        Series::new("Pareto frontier", Mark::Line, frontier(&all)).with_look(algorithms.len()),
    );
    let y = match result.error {
        SweptError::NonPrivate | SweptError::Exact => {
            format!("relative error against {}", result.error.reference())
        }
        SweptError::Variance => format!("part lost of {}", result.error.reference()),
        SweptError::Rmse => format!("root mean squared error on {}", result.error.reference()),
        SweptError::Recall => format!("1 - {}", result.at_top("Recall")),
        SweptError::Ndcg => format!("1 - {}", result.at_top("NDCG")),
    };
    let best = |point: &&crate::campaign::sweep::FrontierPoint| point.on_frontier;
    let on = found.points.iter().filter(best).count();
    let figure = Figure {
        id: format!("frontier-{number}").into(),
        title: format!(
            "At {place}, {on} of {} methods are beaten by none in both error and bytes",
            found.points.len()
        ),
        description: "Means over runs. The numbers are those of the table below.".to_owned(),
        x: Axis::new(
            &format!("bytes sent by {}", result.bytes.sender()),
            "MB",
            Spacing::Log,
        ),
        y: Axis::new(&y, "ratio", Spacing::Log),
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
            Cell::Number(point.error),
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
            Column::new(&y, "ratio"),
            Column::new("on the frontier", ""),
        ],
        rows: found.points.iter().zip(1..).map(row).collect(),
    };
    (figure, table)
}
