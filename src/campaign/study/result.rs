//! What a study found.

use serde::Serialize;

use crate::writing::Table;

/// What a study found.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct StudyResult {
    /// The study's name.
    pub name: String,
    /// Its tables.
    pub tables: Vec<Table>,
    /// What the reader of the tables should know.
    pub notes: Vec<String>,
    /// Its tables as curves, for a report to draw.
    pub figures: Vec<Figure>,
}

/// Curves over one axis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What it shows.
    pub name: String,
    /// What the horizontal axis is.
    pub x: String,
    /// What the vertical axis is.
    pub y: String,
    /// The curves.
    pub series: Vec<Series>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// What it is.
    pub name: String,
    /// (x, y), x ascending.
    pub points: Vec<(f64, f64)>,
}
