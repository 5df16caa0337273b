//! What a figure is drawn from: points, and how they are marked.

use super::ink::Style;

/// One point of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Place on the x axis.
    pub x: f64,
    /// Place on the y axis.
    pub y: f64,
    /// Lower and upper end of the band around y.
    pub band: Option<(f64, f64)>,
}

impl Point {
    /// A point without a band.
    #[must_use]
    pub fn new(x: f64, y: f64) -> Self {
        Self { x, y, band: None }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A line through markers.
    LineAndMarkers,
    /// A line, such as a prediction.
    Line,
    /// Markers, such as measurements.
    Markers,
    /// A bar from 0 to y, one unit of x wide.
    Bars,
}

/// Named points.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// What the legend says; any text.
    pub name: String,
    /// The points, in the order in which a line joins them.
    pub points: Vec<Point>,
    /// How they are drawn.
    pub mark: Mark,
    /// Number of the look; the position among the figure's series if `None`. Two series of one number share their
    /// colour: measurements and what was predicted for them.
    pub look: Option<usize>,
    /// What stands beside each point, in a few letters; nothing where the list ends.
    pub labels: Vec<String>,
}

impl Series {
    /// A series with the look of its position.
    #[must_use]
    pub fn new(name: &str, mark: Mark, points: Vec<Point>) -> Self {
        Self {
            name: name.to_owned(),
            points,
            mark,
            look: None,
            labels: Vec::new(),
        }
    }

    /// The same with something beside each point.
    #[must_use]
    pub fn with_labels(self, labels: Vec<String>) -> Self {
        Self { labels, ..self }
    }

    /// The same with another look.
    #[must_use]
    pub fn with_look(self, look: usize) -> Self {
        Self {
            look: Some(look),
            ..self
        }
    }

    pub(super) fn style(&self, position: usize) -> Style {
        Style::of(self.look.unwrap_or(position))
    }

    pub(super) fn has_line(&self) -> bool {
        matches!(self.mark, Mark::LineAndMarkers | Mark::Line)
    }

    pub(super) fn has_markers(&self) -> bool {
        matches!(self.mark, Mark::LineAndMarkers | Mark::Markers)
    }

    pub(super) fn has_band(&self) -> bool {
        self.points.iter().any(|point| point.band.is_some())
    }
}
