//! Draws the graph with peers coloured by a value, or for large graphs a histogram of degrees.

use std::collections::BTreeMap;

use super::axis::{Axis, Spacing};
use super::figure::{Figure, FigureError};
use super::layout::{self, Place};
use super::markup::Markup;
use super::number;
use super::series::{Mark, Point, Series};
use crate::topology::Graph;

/// Most nodes that are drawn.
pub(super) const MOST_NODES: usize = 2000;
/// Most edges that are drawn.
pub(crate) const MOST_EDGES: usize = 12_000;
/// Most nodes whose names are written beside them.
const MOST_NAMES: usize = 24;
/// Colours in the style sheet: `--step-0` and so on.
const STEPS: usize = 5;

/// Values that differ by less than this factor are one class: the eye should not find differences that mean nothing.
const ALIKE: f64 = 1.01;

const SIZE: f64 = 510.0;
const HEIGHT: f64 = 430.0;

/// A graph to be drawn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Network<'a> {
    /// Unique on its page.
    pub id: &'static str,
    /// What it is: "communication graph".
    pub what: &'a str,
    /// The graph.
    pub graph: &'a Graph,
    /// A value per peer, such as its ε; `None` for peers without one. Degrees are used if this is empty.
    pub values: &'a [Option<f64>],
    /// What the values are, with their unit: "ε in nats".
    pub value_name: &'a str,
}

/// Whether a graph is small enough to be drawn node by node.
#[must_use]
pub(crate) fn is_drawn(graph: &Graph) -> bool {
    graph.nodes() <= MOST_NODES && graph.edges() <= MOST_EDGES
}

/// Peers with about the same value.
#[derive(Clone, Debug, PartialEq)]
struct Class {
    label: String,
    peers: usize,
}

impl Network<'_> {
    /// The figure: the graph, or its degrees.
    ///
    /// # Errors
    /// [`FigureError`] if the histogram cannot be drawn.
    pub(super) fn markup(&self) -> Result<Markup, FigureError> {
        if !is_drawn(self.graph) {
            return self.histogram().markup();
        }
        let by_degree = self.values.len() != self.graph.nodes();
        let values: Vec<Option<f64>> = match by_degree {
            true => (0..self.graph.nodes())
                .map(|u| Some(self.graph.degree(u) as f64))
                .collect(),
            false => self.values.to_vec(),
        };
        let name = if by_degree {
            "degree [neighbours]"
        } else {
            self.value_name
        };
        let (classes, class_of) = classify(&values);
        let svg = self.svg(&classes, &class_of, &values, name);
        let mut figure = Markup::new();
        figure.element("figure", &[("id", self.id), ("class", "half")], |figure| {
            figure.leaf("figcaption", &[], &self.title());
            figure.element("div", &[("class", "drawing")], |drawing| {
                // Without names there is nothing to read in it.
                let class = if self.graph.nodes() <= MOST_NAMES { "pane" } else { "whole" };
                drawing.element("div", &[("class", class)], |pane| pane.piece(&svg));
                drawing.element("ul", &[("class", "legend")], |list| {
                    for (step, class) in classes.iter().enumerate() {
                        list.element("li", &[], |item| {
                            item.piece(&swatch(colour(step, classes.len()), radius(step, 6.0)));
                            let count = number::grouped(class.peers as u64);
                            let noun = if class.peers == 1 { "peer" } else { "peers" };
                            item.text(&format!("{name} {}: {count} {noun}", class.label));
                        });
                    }
                });
            });
            figure.leaf(
                "p",
                &[("class", "note")],
                "Darker and larger is more (lighter and larger on a dark page). Where a peer stands has no meaning \
                 beyond who its neighbours are.",
            );
        });
        Ok(figure)
    }

    fn title(&self) -> String {
        let (least, most) = (self.graph.min_degree(), self.graph.max_degree());
        let degrees = if least == most {
            format!("each with {least} neighbours")
        } else {
            format!("with {least} to {most} neighbours")
        };
        format!(
            "The {}: {} peers, {degrees}, {} edges",
            self.what,
            number::grouped(self.graph.nodes() as u64),
            number::grouped(self.graph.edges() as u64)
        )
    }

    fn svg(
        &self,
        classes: &[Class],
        class_of: &[Option<usize>],
        values: &[Option<f64>],
        name: &str,
    ) -> Markup {
        let places: Vec<Place> = layout::places(self.graph)
            .into_iter()
            .map(on_page)
            .collect();
        let nodes = self.graph.nodes();
        let size = match nodes {
            0..=60 => 7.0,
            61..=200 => 5.0,
            201..=700 => 3.2,
            _ => 2.2,
        };
        let width = match self.graph.edges() {
            0..=300 => "1.2",
            301..=1500 => "0.6",
            _ => "0.3",
        };
        let mut path = String::new();
        for (u, v) in self.graph.edge_list() {
            let (a, b) = (places[u as usize], places[v as usize]);
            path.push_str(&format!("M{:.1} {:.1}L{:.1} {:.1}", a.0, a.1, b.0, b.1));
        }
        let (title_id, text_id) = (format!("{}-title", self.id), format!("{}-text", self.id));
        let mut svg = Markup::new();
        let attributes = [
            ("xmlns", "http://www.w3.org/2000/svg"),
            ("viewBox", &*format!("0 0 {SIZE} {HEIGHT}")),
            ("class", "plot"),
            ("role", "img"),
            ("aria-labelledby", &*format!("{title_id} {text_id}")),
        ];
        svg.element("svg", &attributes, |svg| {
            svg.leaf("title", &[("id", &title_id)], &self.title());
            let counts: Vec<String> = classes
                .iter()
                .map(|class| format!("{name} {}: {} peers", class.label, class.peers))
                .collect();
            svg.leaf("desc", &[("id", &text_id)], &counts.join("; "));
            let edges = [("class", "edges"), ("stroke-width", width), ("d", &*path)];
            svg.empty("path", &edges);
            // Large ones last, so that they are not hidden.
            for step in 0..=classes.len() {
                let of_step = step.checked_sub(1);
                for u in (0..nodes).filter(|u| class_of[*u] == of_step) {
                    let radius = of_step.map_or(0.7 * size, |step| radius(step, size));
                    let fill = of_step.map_or("none", |step| colour(step, classes.len()));
                    let attributes = [
                        ("class", "node"),
                        ("cx", &*format!("{:.1}", places[u].0)),
                        ("cy", &*format!("{:.1}", places[u].1)),
                        ("r", &*format!("{radius:.1}")),
                        ("fill", fill),
                    ];
                    svg.line();
                    svg.element("circle", &attributes, |node| {
                        let value = values[u].map_or("unknown".to_owned(), number::short);
                        let degree = self.graph.degree(u);
                        let shown = self.graph.printed(u);
                        let text = format!("{shown}: {degree} neighbours, {name} {value}");
                        node.leaf("title", &[], &text);
                    });
                }
            }
            if nodes <= MOST_NAMES {
                self.names(svg, &places, size);
            }
        });
        svg
    }

    /// Names beside their nodes, on the side away from the middle.
    fn names(&self, svg: &mut Markup, places: &[Place], size: f64) {
        for (u, (x, y)) in places.iter().enumerate() {
            let right = *x >= 0.5 * SIZE;
            let offset = if right { size + 5.0 } else { -size - 5.0 };
            let attributes = [
                ("class", "name"),
                ("x", &*format!("{:.1}", x + offset)),
                ("y", &*format!("{:.1}", y + 4.0)),
                ("text-anchor", if right { "start" } else { "end" }),
            ];
            svg.leaf("text", &attributes, &shortened(&self.graph.printed(u)));
        }
    }

    fn histogram(&self) -> Figure {
        let degrees = (0..self.graph.nodes()).map(|u| self.graph.degree(u));
        let (least, most) = (self.graph.min_degree(), self.graph.max_degree());
        let width = (most - least) / 60 + 1;
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for degree in degrees {
            *counts.entry((degree - least) / width).or_default() += 1;
        }
        let bars = counts.iter().map(|(bin, count)| {
            let middle = (least + bin * width) as f64 + 0.5 * (width - 1) as f64;
            Point::new(middle, *count as f64)
        });
        let grouped = match width {
            1 => String::new(),
            _ => format!(" Each bar counts {width} degrees."),
        };
        Figure {
            id: self.id.into(),
            title: self.title(),
            description: format!(
                "How many peers have how many neighbours. Graphs of more than {MOST_NODES} peers or {MOST_EDGES} edges are \
                 not drawn.{grouped}"
            ),
            x: Axis::new("degree", "neighbours", Spacing::Whole),
            y: Axis::new("peers", "count", Spacing::Linear),
            series: vec![Series::new("peers", Mark::Bars, bars.collect())],
            guides: Vec::new(),
            half: true,
        }
    }
}

/// Room on the left and right for names.
fn on_page((x, y): Place) -> Place {
    let inner = HEIGHT - 40.0;
    (
        0.5 * SIZE + (x - 0.5) * inner,
        0.5 * HEIGHT + (y - 0.5) * inner,
    )
}

fn shortened(name: &str) -> String {
    const MOST: usize = 14;
    if name.chars().count() <= MOST {
        return name.to_owned();
    }
    name.chars().take(MOST - 1).chain(['…']).collect()
}

fn radius(step: usize, size: f64) -> f64 {
    size * (0.75 + 0.15 * step as f64)
}

/// The colours of fewer classes are spread over the whole range.
fn colour(step: usize, classes: usize) -> &'static str {
    const COLOURS: [&str; STEPS] = [
        "var(--step-0)",
        "var(--step-1)",
        "var(--step-2)",
        "var(--step-3)",
        "var(--step-4)",
    ];
    match classes {
        0 | 1 => COLOURS[2],
        _ => COLOURS[(step * (STEPS - 1) / (classes - 1)).min(STEPS - 1)],
    }
}

fn swatch(fill: &str, radius: f64) -> Markup {
    let mut picture = Markup::new();
    let attributes = [
        ("class", "swatch"),
        ("width", "24"),
        ("height", "20"),
        ("viewBox", "0 0 24 20"),
        ("aria-hidden", "true"),
    ];
    picture.element("svg", &attributes, |svg| {
        let radius = format!("{radius:.1}");
        let place = [
            ("class", "node"),
            ("cx", "12"),
            ("cy", "10"),
            ("r", &radius),
            ("fill", fill),
        ];
        svg.empty("circle", &place);
    });
    picture
}

/// At most [`STEPS`] classes in ascending order, and the class of every value. Values that print alike are one class.
fn classify(values: &[Option<f64>]) -> (Vec<Class>, Vec<Option<usize>>) {
    let known = || values.iter().copied().flatten().filter(|v| v.is_finite());
    let mut distinct: Vec<String> = Vec::new();
    let mut sorted: Vec<f64> = known().collect();
    sorted.sort_by(f64::total_cmp);
    for value in &sorted {
        let shown = number::short(*value);
        if distinct.last() != Some(&shown) {
            distinct.push(shown);
        }
    }
    let (low, high) = match (sorted.first(), sorted.last()) {
        (Some(low), Some(high)) => (*low, *high),
        _ => return (Vec::new(), vec![None; values.len()]),
    };
    let raw = |value: f64| -> usize {
        if low > 0.0 && high < ALIKE * low {
            return 0;
        }
        if distinct.len() <= STEPS {
            let shown = number::short(value);
            distinct.iter().position(|d| *d == shown).unwrap_or(0)
        } else {
            let share = (value - low) / (high - low);
            ((share * STEPS as f64) as usize).min(STEPS - 1)
        }
    };
    let raw_of = |value: Option<f64>| value.filter(|v| v.is_finite()).map(raw);
    let mut ends: BTreeMap<usize, (f64, f64, usize)> = BTreeMap::new();
    for value in known() {
        let entry = ends.entry(raw(value)).or_insert((value, value, 0));
        *entry = (entry.0.min(value), entry.1.max(value), entry.2 + 1);
    }
    let numbers: Vec<usize> = ends.keys().copied().collect();
    let classes = ends.values().map(|(low, high, peers)| {
        let (low, high) = (number::short(*low), number::short(*high));
        let label = if low == high {
            low
        } else {
            format!("{low} to {high}")
        };
        Class {
            label,
            peers: *peers,
        }
    });
    let class_of = values
        .iter()
        .map(|value| raw_of(*value).and_then(|r| numbers.binary_search(&r).ok()));
    (classes.collect(), class_of.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_peer_is_in_one_class_and_infinite_losses_in_none() {
        let values: Vec<Option<f64>> = (0..100)
            .map(|u| Some(f64::from(u)))
            .chain([None, Some(f64::INFINITY)])
            .collect();
        let (classes, class_of) = classify(&values);
        assert_eq!(classes.iter().map(|c| c.peers).sum::<usize>(), 100);
        assert_eq!(classes.len(), STEPS);
        assert_eq!((class_of[0], class_of[99]), (Some(0), Some(4)));
        assert_eq!(class_of[100..], [None, None]);
        let (classes, _) = classify(&[Some(2.0), Some(2.0 + 1e-12)]);
        assert_eq!((classes.len(), classes[0].label.as_str()), (1, "2"));
        assert_eq!(classify(&[None]).0, []);
    }
}
