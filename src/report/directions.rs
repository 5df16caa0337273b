//! The directions that a run found: the items that weigh most in each, or its image.

use super::direction_image::image;
use super::markup::Markup;
use super::page::Page;
use crate::config::DataFormat;
use crate::run::Report;
use crate::run::directions::{Direction, are_eigenvectors, of_basis, titles_are_in};
use crate::run::signal::standing_out;
use crate::scenario::Experiment;

/// Directions that are shown.
const MOST: usize = 8;
/// Items of each.
const HEAVIEST: usize = 8;

/// Adds the directions of the run's basis, where it has one.
pub(super) fn section(page: &mut Page, experiment: &Experiment, report: &Report) {
    let basis = report.outcome.basis();
    let names = &report.items.names;
    if basis.columns() == 0 || names.len() != basis.rows() {
        return;
    }
    page.section("Directions");
    let completion = report.summary.completion.as_ref();
    let is_silent = completion.is_some_and(|completion| !completion.signal);
    let standing = match is_silent {
        true => Some(0),
        false => standing_out(experiment, &report.outcome),
    };
    if standing == Some(0) {
        page.paragraph(
            "No direction stands out of the noise: what weighs most in the columns of basis.npy is chance, so it is not shown. Raise \
             privacy.epsilon, or have more users.",
        );
        return;
    }
    let config = experiment.config();
    let of_eigenvectors = are_eigenvectors(config);
    let all = basis.columns();
    let known = match (of_eigenvectors, standing) {
        (true, Some(standing)) => standing.min(all),
        _ => all,
    };
    let shown = known.min(MOST);
    let what = match config.data.format() {
        DataFormat::Ratings(_) => "items",
        DataFormat::Graph => "vertices",
        DataFormat::Matrix(_) | DataFormat::Generated => "variables",
    };
    page.paragraph(&lead((shown, all), config.data.image().copied(), what));
    if let Some(standing) = standing {
        page.paragraph(&match of_eigenvectors {
            _ if standing >= all => "All of them stand out of the noise.".to_owned(),
            true => format!(
                "{} of {all} columns do not stand out of the noise and are left out.",
                all - standing
            ),
            false => format!(
                "Of the {all} directions they span, {standing} stand out of the noise; every column may hold some of it."
            ),
        });
    }
    if !of_eigenvectors {
        page.paragraph(
            "This method ends with a basis of the space that it found, and its columns approach single eigenvectors only with many iterations.",
        );
    }
    let directions = of_basis(basis, names, experiment.titles(), HEAVIEST);
    let cards: Vec<Markup> = directions
        .iter()
        .take(shown)
        .map(|direction| {
            let column = direction.direction - 1;
            let weights = (0..basis.rows()).map(|row| basis.row(row)[column]);
            match config.data.image().copied() {
                Some([_, columns]) => picture(direction, &weights.collect::<Vec<_>>(), columns),
                None => list(direction),
            }
        })
        .collect();
    page.cards(&cards);
    if config.data.format().ratings().is_some() && experiment.titles().is_empty() {
        page.paragraph(&format!(
            "Items are shown by their ids. Their titles: {}.",
            titles_are_in(config)
        ));
    }
    if report.summary.privacy.epsilon.is_some() {
        page.paragraph(
            "All of this is computed from what was released and from public names: post-processing, covered by the run's ε.",
        );
    }
}

fn lead((shown, all): (usize, usize), image: Option<[usize; 2]>, what: &str) -> String {
    let which = match shown == all {
        true => format!("all {all} columns"),
        false => format!("the first {shown} of {all} columns"),
    };
    let sign = "The sign of a whole column has no meaning; that of one entry against another has.";
    match image {
        Some([rows, columns]) => format!(
            "This shows {which} of basis.npy as images of {rows} × {columns}: orange above 0, blue below, the stronger the larger. {sign}"
        ),
        None => format!(
            "This shows the {HEAVIEST} {what} that weigh most in {which} of basis.npy. {sign}"
        ),
    }
}

fn card(direction: &Direction, inside: impl FnOnce(&mut Markup)) -> Markup {
    let mut outer = Markup::new();
    outer.element("div", &[], |card| {
        card.leaf("h3", &[], &heading(direction));
        inside(card);
    });
    outer
}

fn heading(direction: &Direction) -> String {
    format!("Direction {}", direction.direction)
}

fn picture(direction: &Direction, weights: &[f64], columns: usize) -> Markup {
    card(direction, |card| {
        card.piece(&image(&heading(direction), weights, columns));
    })
}

fn list(direction: &Direction) -> Markup {
    card(direction, |card| {
        card.element("ol", &[], |list| {
            for item in &direction.heaviest {
                list.element("li", &[], |line| {
                    let class = match item.weight < 0.0 {
                        true => "weight below",
                        false => "weight above",
                    };
                    let weight = format!("{:+.3}", item.weight).replace('-', "−");
                    line.leaf("span", &[("class", class)], &weight);
                    line.leaf("span", &[], item.name());
                });
            }
        });
    })
}
