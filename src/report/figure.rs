//! Figures: series over two axes, as SVG that follows the page's colours.

use std::borrow::Cow;
use std::collections::BTreeMap;

use plotters::backend::SVGBackend;
use plotters::chart::ChartBuilder;
use plotters::element::{Circle, EmptyElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::IntoDrawingArea;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, RGBColor, ShapeStyle, TextStyle};

use super::axis::{Axis, Scale};
use super::ink::{self, Ink, Marker};
use super::labels;
use super::markup::{Markup, cleaned};
use super::series::{Mark, Point, Series};
use super::table::{Cell, PageTable};
use crate::writing::Column;

/// A horizontal line at a value worth knowing.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// Where on the y axis.
    pub y: f64,
    /// What stands beside it, in a few letters.
    pub label: String,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Unique on its page; letters and dashes.
    pub id: Cow<'static, str>,
    /// What it shows, neutrally.
    pub title: String,
    /// What a reader who does not see it should know, and how bands are to be read.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub series: Vec<Series>,
    /// Lines across.
    pub guides: Vec<Guide>,
    /// Whether it takes half of the page's width.
    pub half: bool,
}

/// A figure that could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// Nothing in it has a place on its axes.
    #[error("figure {id:?} has no point that its axes can show")]
    Empty {
        /// The figure.
        id: Cow<'static, str>,
    },
    /// The plotting crate refused.
    #[error("figure {id:?}: {reason}")]
    Drawing {
        /// The figure.
        id: Cow<'static, str>,
        /// What it said.
        reason: String,
    },
}

/// The plotting crate divides by this when it writes font sizes.
const FONT_FACTOR: f64 = 1.24;
/// Size of all text in a figure, in pixels.
pub(super) const TEXT_SIZE: f64 = 12.5;
const TEXT: RGBColor = Ink::Text.sentinel();
const BAND_OPACITY: f64 = 0.18;

impl Figure {
    /// Width and height in pixels.
    #[must_use]
    pub fn size(&self) -> (u32, u32) {
        if self.half { (510, 340) } else { (790, 470) }
    }

    /// The picture alone, without title and legend.
    ///
    /// # Errors
    /// [`FigureError`] if no point has a place on the axes, or the plotting crate fails.
    pub fn svg(&self) -> Result<Markup, FigureError> {
        let (x, y) = self.scales()?;
        let mut drawn = String::new();
        self.draw(&mut drawn, &x, &y)
            .map_err(|error| FigureError::Drawing {
                id: self.id.clone(),
                reason: error.to_string(),
            })?;
        // The opening tag is the plotting crate's; ours has no fixed size and says what the picture shows.
        let body = drawn.split_once('>').map_or("", |(_, rest)| rest);
        let body = body.trim_end().strip_suffix("</svg>").unwrap_or(body);
        let body = Markup::trusted(ink::themed(body));
        let (width, height) = self.size();
        let mut svg = Markup::new();
        let (title_id, text_id) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("viewBox", &*format!("0 0 {width} {height}")),
            ("class", "plot"),
            ("role", "img"),
            ("aria-labelledby", &*format!("{title_id} {text_id}")),
        ];
        svg.element("svg", &attributes, |svg| {
            svg.leaf("title", &[("id", &title_id)], &self.title);
            svg.leaf("desc", &[("id", &text_id)], &self.description);
            svg.piece(&body);
        });
        Ok(svg)
    }

    /// Number of points that the axes cannot show.
    #[must_use]
    pub fn hidden(&self) -> usize {
        self.scales().map_or(0, |(x, y)| {
            let points = self.series.iter().flat_map(|series| &series.points);
            points
                .filter(|point| !x.shows(point.x) || !y.shows(point.y))
                .count()
        })
    }

    /// The figure with title, legend and its numbers in a table.
    ///
    /// # Errors
    /// As [`Self::svg`].
    pub fn markup(&self) -> Result<Markup, FigureError> {
        let svg = self.svg()?;
        let mut figure = Markup::new();
        let class = if self.half { "half" } else { "full" };
        figure.element("figure", &[("id", &*self.id), ("class", class)], |figure| {
            figure.leaf("figcaption", &[], &self.title);
            figure.element("div", &[("class", "drawing")], |drawing| {
                drawing.element("div", &[("class", "pane")], |pane| pane.piece(&svg));
                drawing.piece(&self.legend());
            });
            figure.element("p", &[("class", "note")], |note| {
                note.text(&self.description);
                let hidden = self.hidden();
                if hidden > 0 {
                    note.text(&format!(
                        " {hidden} points are not finite, or not positive on a logarithmic axis, and are not drawn."
                    ));
                }
            });
            if let Some(table) = self.numbers() {
                figure.element("details", &[], |details| {
                    details.leaf("summary", &[], "The numbers of this figure");
                    details.piece(&table.markup());
                });
            }
        });
        Ok(figure)
    }

    fn scales(&self) -> Result<(Scale, Scale), FigureError> {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bars = self.series.iter().any(|series| series.mark == Mark::Bars);
        let x_values = points().flat_map(|point| match bars {
            true => [point.x - 0.5, point.x + 0.5],
            false => [point.x, point.x],
        });
        let x = Scale::fit(self.x.spacing, x_values);
        let guides = self.guides.iter().map(|guide| guide.y);
        // A band that reaches down to nothing must not push everything else to the top of a logarithmic axis.
        let least = points()
            .map(|point| point.y)
            .filter(|y| *y > 0.0)
            .fold(f64::INFINITY, f64::min);
        let ends = points().flat_map(|point| {
            let (low, high) = point.band.unwrap_or((point.y, point.y));
            let low = if low > 0.0 {
                low.max(least / 3.0)
            } else {
                point.y
            };
            [point.y, low, high]
        });
        let y = Scale::fit(self.y.spacing, ends.chain(guides));
        let any = points().any(|point| x.shows(point.x) && y.shows(point.y));
        match any {
            true => Ok((x, y)),
            false => Err(FigureError::Empty {
                id: self.id.clone(),
            }),
        }
    }

    fn draw(
        &self,
        drawn: &mut String,
        x: &Scale,
        y: &Scale,
    ) -> Result<(), Box<dyn std::error::Error>> {
        let root = SVGBackend::with_string(drawn, self.size()).into_drawing_area();
        let right = if self.guides.is_empty() { 18 } else { 84 };
        let longest = y.ticks().iter().map(|t| y.label(*t).chars().count());
        let widest = longest.max().unwrap_or(0) as u32;
        let mut chart = ChartBuilder::on(&root)
            .margin_top(10)
            .margin_right(right)
            .margin_left(4)
            .margin_bottom(2)
            .x_label_area_size(46)
            .y_label_area_size(38 + 7 * widest.max(2))
            .build_cartesian_2d(x.clone(), y.clone())?;
        let ink = |ink: Ink| ink.sentinel();
        let font = || ("sans-serif", TEXT_SIZE * FONT_FACTOR).into_font();
        let text = || TextStyle::from(font()).color(&TEXT);
        chart
            .configure_mesh()
            .axis_style(ink(Ink::Axis))
            .bold_line_style(ink(Ink::Grid))
            .light_line_style(ink(Ink::Faint))
            .label_style(text())
            .axis_desc_style(text())
            .x_desc(cleaned(&self.x.caption()))
            .y_desc(cleaned(&self.y.caption()))
            .draw()?;
        for (position, series) in self.series.iter().enumerate() {
            let style = ink(Ink::Series(series.style(position)));
            let bands = runs(&series.points, x, |point| {
                point
                    .band
                    .is_some_and(|(low, high)| low <= high && !high.is_nan())
            });
            for run in bands {
                let edge = |side: fn((f64, f64)) -> f64| {
                    let ends = run.iter().filter_map(move |point| {
                        let end = point.band.map(side)?;
                        Some((point.x, y.clamp(end)))
                    });
                    ends.collect::<Vec<_>>()
                };
                let mut outline = edge(|band| band.0);
                outline.extend(edge(|band| band.1).into_iter().rev());
                let band = Polygon::new(outline, style.mix(BAND_OPACITY).filled());
                chart.draw_series([band])?;
            }
        }
        let (left, end) = (x.clamp(f64::NEG_INFINITY), x.clamp(f64::INFINITY));
        for guide in self.guides.iter().filter(|guide| y.shows(guide.y)) {
            let line = [(left, guide.y), (end, guide.y)];
            chart.draw_series([PathElement::new(line.to_vec(), ink(Ink::Guide))])?;
            let anchored = text().pos(Pos::new(HPos::Left, VPos::Center));
            let (column, row) = chart.plotting_area().map_coordinate(&(end, guide.y));
            root.draw(&Text::new(
                cleaned(&guide.label),
                (column + 6, row),
                anchored,
            ))?;
        }
        for (position, series) in self.series.iter().enumerate() {
            let style = series.style(position);
            let colour = ink(Ink::Series(style));
            let shown = |point: &Point| y.shows(point.y);
            if series.mark == Mark::Bars {
                let visible = series.points.iter().filter(|p| x.shows(p.x) && shown(p));
                let bars = visible.map(|p| {
                    let corners = [(p.x - 0.4, y.clamp(0.0)), (p.x + 0.4, p.y)];
                    Rectangle::new(corners, colour.filled())
                });
                chart.draw_series(bars)?;
            }
            if series.has_line() {
                for run in runs(&series.points, x, shown) {
                    let path: Vec<(f64, f64)> = run.iter().map(|p| (p.x, p.y)).collect();
                    let stroke = ShapeStyle::from(&colour).stroke_width(2);
                    chart.draw_series([PathElement::new(path, stroke)])?;
                }
            }
            if series.has_markers() {
                let Marker(corners) = style.marker();
                let visible = series.points.iter().filter(|p| x.shows(p.x) && shown(p));
                if corners.is_empty() {
                    let discs =
                        visible.map(|p| Circle::new((p.x, p.y), ink::DISC, colour.filled()));
                    chart.draw_series(discs)?;
                } else {
                    chart.draw_series(visible.map(|p| {
                        EmptyElement::at((p.x, p.y)) + Polygon::new(corners, colour.filled())
                    }))?;
                }
            }
        }
        let place = |point: &Point| {
            let shown = x.shows(point.x) && y.shows(point.y);
            shown.then(|| chart.plotting_area().map_coordinate(&(point.x, point.y)))
        };
        for (text_of, (column, row)) in labels::placed(&self.series, place) {
            let anchored = text().pos(Pos::new(HPos::Center, VPos::Center));
            root.draw(&Text::new(cleaned(text_of), (column, row), anchored))?;
        }
        root.present()?;
        Ok(())
    }

    fn legend(&self) -> Markup {
        let mut legend = Markup::new();
        if self.series.len() < 2 && !self.series.iter().any(Series::has_band) {
            return legend;
        }
        legend.element("ul", &[("class", "legend")], |list| {
            for (position, series) in self.series.iter().enumerate() {
                list.element("li", &[], |item| {
                    let style = series.style(position);
                    let marker = series.has_markers() || series.mark == Mark::Bars;
                    item.piece(&ink::swatch(style, series.has_line(), marker));
                    item.leaf("bdi", &[], &series.name);
                });
            }
        });
        legend
    }

    /// All numbers, one row per x and a column per series; `None` if that is more than anybody reads.
    fn numbers(&self) -> Option<PageTable> {
        let mut rows: BTreeMap<u64, Vec<Cell>> = BTreeMap::new();
        for (column, series) in self.series.iter().enumerate() {
            for point in series.points.iter().filter(|point| point.x.is_finite()) {
                let row = rows.entry(ordered(point.x)).or_insert_with(|| {
                    let mut row = vec![Cell::Number(point.x)];
                    row.resize(self.series.len() + 1, Cell::Missing);
                    row
                });
                // Two points of one series at one place: a table of this shape cannot hold them.
                if row[column + 1] != Cell::Missing {
                    return None;
                }
                row[column + 1] = match point.band {
                    Some((low, high)) => Cell::Range(point.y, low, high),
                    None => Cell::Number(point.y),
                };
            }
        }
        if rows.len() * self.series.len() > 1200 {
            return None;
        }
        let mut columns = vec![Column::new(&self.x.label, &self.x.unit)];
        columns.extend(
            self.series
                .iter()
                .map(|s| Column::new(&s.name, &self.y.unit)),
        );
        Some(PageTable {
            caption: self.y.caption(),
            columns,
            rows: rows.into_values().collect(),
        })
    }
}

/// The points that no other point beats in both coordinates (smaller is better), by growing x: the frontier of a
/// trade-off such as error against ε. Points that are not finite are left out.
#[must_use]
pub(super) fn frontier(points: &[Point]) -> Vec<Point> {
    let mut sorted: Vec<Point> = points
        .iter()
        .copied()
        .filter(|point| point.x.is_finite() && point.y.is_finite())
        .collect();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut best = f64::INFINITY;
    sorted.retain(|point| {
        let better = point.y < best;
        best = best.min(point.y);
        better
    });
    sorted
}

/// A number whose order is that of the finite float.
fn ordered(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// Stretches of neighbouring points that have a place on the x axis and satisfy a condition.
fn runs<'a>(points: &'a [Point], x: &Scale, holds: impl Fn(&Point) -> bool) -> Vec<&'a [Point]> {
    points
        .split(|point| !(x.shows(point.x) && holds(point)))
        .filter(|run| !run.is_empty())
        .collect()
}
