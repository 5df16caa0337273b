//! The methods of a sweep that no other beats in both the measure and the bytes sent.

use std::io::{self, Write};

use super::sweep_labels::x_name;
use super::table;
use crate::campaign::sweep::{Frontier, SweepResult};
use crate::config::SweepConfig;
use crate::writing::bytes;

/// At every x the methods that no other beats in both the measure and bytes, cheapest first.
pub(super) fn print(
    out: &mut impl Write,
    result: &SweepResult,
    swept: &SweepConfig,
) -> io::Result<()> {
    if result.frontiers.is_empty() {
        return writeln!(out, "\n--pareto: all methods send the same number of bytes");
    }
    writeln!(
        out,
        "\nmethods that no other beats in both {} and bytes of {}:",
        result.measure(),
        result.bytes.sender()
    )?;
    let measure = format!("mean {}", result.measure());
    let heading = [
        result.x.as_str(),
        "method",
        "busiest peer",
        "mean peer",
        &measure,
    ];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    rows.extend(
        result
            .frontiers
            .iter()
            .flat_map(|found| best(result, swept, found)),
    );
    table::write(out, &rows)
}

fn best(result: &SweepResult, swept: &SweepConfig, frontier: &Frontier) -> Vec<Vec<String>> {
    let mut best: Vec<_> = frontier.points.iter().filter(|p| p.on_frontier).collect();
    best.sort_by(|a, b| a.bytes.total_cmp(&b.bytes));
    let rows = best.into_iter().map(|point| {
        vec![
            x_name(swept, frontier.x),
            point.method.clone(),
            bytes(point.bytes_max_peer.round() as u64),
            bytes(point.bytes_mean_peer.round() as u64),
            table::number(result.error.measure(point.error)),
        ]
    });
    rows.collect()
}
