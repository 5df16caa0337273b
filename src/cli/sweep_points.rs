//! The points of a sweep's curves as rows for the terminal.

use super::sweep_labels::{places, x_name};
use super::table;
use crate::campaign::sweep::{Curve, CurvePoint, SweepResult};
use crate::config::SweepConfig;

/// One row for every point of the curves asked for, by x; a curve that is the same everywhere has one row.
pub(super) fn rows(result: &SweepResult, swept: &SweepConfig) -> Vec<Vec<String>> {
    let heading = [result.x.as_str(), "method", "mean", "99 % band", "n"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    let curves = result.asked();
    let (level, moving): (Vec<&Curve>, Vec<&Curve>) =
        curves.iter().partition(|curve| is_level(curve));
    for x in places(&moving) {
        for curve in &moving {
            let found = curve.points.iter().filter(|point| point.x == x);
            rows.extend(found.map(|point| row(x_name(swept, x), curve, point)));
        }
    }
    rows.extend(
        level
            .iter()
            .map(|curve| row("all".to_owned(), curve, &curve.points[0])),
    );
    rows
}

fn row(x: String, curve: &Curve, point: &CurvePoint) -> Vec<String> {
    let band = match point.runs {
        1 => "-".to_owned(),
        _ => format!(
            "{} to {}",
            table::number(point.low),
            table::number(point.high)
        ),
    };
    let mean = table::number(point.mean);
    vec![x, curve.method.clone(), mean, band, point.runs.to_string()]
}

/// Whether a curve has the same mean at several points.
fn is_level(curve: &Curve) -> bool {
    let mut pairs = curve.points.windows(2);
    curve.points.len() > 1 && pairs.all(|pair| pair[0].mean == pair[1].mean)
}
