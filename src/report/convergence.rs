//! How the error falls from iteration to iteration, and what a subspace error near 1 means.

use super::axis::{Axis, Spacing};
use super::figure::Figure;
use super::number;
use super::series::{Mark, Point, Series};
use crate::run::Report;
use crate::run::metrics::{Utility, missed_angle};
use crate::run::summary::Summary;

/// A sentence for a basis that misses a leading direction; nothing where none is missed.
pub(super) fn missed(summary: &Summary) -> Option<String> {
    let error = summary.utility.subspace_error?;
    let angle = missed_angle(error)?;
    let space = match summary.rank {
        1 => "does not find the leading direction: the angle to it is".to_owned(),
        rank => format!(
            "does not find at least one of the {rank} leading directions: the largest angle to their space is"
        ),
    };
    Some(format!(
        "A subspace error of {} says that this run {space} {angle:.0}°, where 0° is exact and 90° the worst there is.",
        number::significant(error, 3)
    ))
}

/// Errors after each iteration that has a basis: the release of a mean, or of counts, has none.
pub(super) fn of_iterations(report: &Report) -> Vec<Utility> {
    let all = report.rows.iter().map(|row| row.utility);
    all.filter(|utility| *utility != Utility::default())
        .collect()
}

/// Errors after each iteration; nothing for a run of one iteration, whose errors are in the table of the page.
pub(super) fn figures(report: &Report) -> Vec<Figure> {
    let ours = of_iterations(report);
    if ours.len() < 2 {
        return Vec::new();
    }
    let figure = |id, what: &str, unit: &str, text: &str, pick: fn(&Utility) -> Option<f64>| {
        let series = |name: &str, look, figures: &[Utility]| {
            let points = figures.iter().enumerate().filter_map(|(l, figures)| {
                let error = pick(figures)?;
                Some(Point::new((l + 1) as f64, error))
            });
            Series::new(name, Mark::LineAndMarkers, points.collect()).with_look(look)
        };
        let mut all = vec![series("this run", 0, &ours)];
        if report.summary.privacy.epsilon.is_some() {
            all.push(series("central baseline", 1, &report.central));
        }
        all.push(series("without privacy", 2, &report.non_private));
        all.retain(|series| !series.points.is_empty());
        let ends: Vec<String> = all
            .iter()
            .filter_map(|series| {
                let last = series.points.last()?;
                Some(format!(
                    "{} ({})",
                    number::significant(last.y, 3),
                    series.name
                ))
            })
            .collect();
        let title = format!("{what} after the last iteration: {}", ends.join(", "));
        (!all.is_empty()).then(|| Figure {
            id,
            title,
            description: text.to_owned(),
            x: Axis::new("iteration", "number", Spacing::Whole),
            y: Axis::new(&what.to_lowercase(), unit, Spacing::Fitting),
            series: all,
            guides: Vec::new(),
            half: true,
        })
    };
    let relative = figure(
        "relative-error".into(),
        "Relative error",
        "ratio",
        "‖R̃ − R‖/‖R‖ (Frobenius) of the low-pass filtered ratings, against the exact eigenvectors. All runs start from \
         the same block.",
        |figures| figures.relative_error,
    );
    let subspace = figure(
        "subspace-error".into(),
        "Subspace error",
        "sine",
        "‖(I − XXᵀ)U‖₂: the sine of the largest angle between the basis and the exact eigenvectors.",
        |figures| figures.subspace_error,
    );
    [relative, subspace].into_iter().flatten().collect()
}
