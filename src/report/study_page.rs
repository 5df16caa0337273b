//! The page of a study: its figures, tables and notes.

use super::axis::{Axis, Spacing};
use super::figure::{Figure, FigureError};
use super::page::Page;
use super::series::{Mark, Point, Series};
use super::table::{Cell, Column, Table};
use crate::campaign::study::{self, StudyResult};
use crate::writing::{self, Value};

/// The page of a study; `configuration` is the study file.
///
/// # Errors
/// [`FigureError`] if the plotting crate fails.
pub fn study_page(result: &StudyResult, configuration: &str) -> Result<String, FigureError> {
    let mut page = Page::new(&result.name, "A study: nothing here is one run.");
    let figures: Vec<Figure> = result.figures.iter().enumerate().map(figure).collect();
    if !figures.is_empty() {
        page.section("Figures");
        page.figures(&figures, &[])?;
    }
    page.section("Tables");
    for found in &result.tables {
        page.table(&Table::from(found));
    }
    for note in &result.notes {
        page.paragraph(&format!("Note: {note}"));
    }
    page.configuration(configuration);
    Ok(page.html())
}

/// The first series as measured, with markers; all others as lines.
fn figure((number, found): (usize, &study::Figure)) -> Figure {
    let series = found.series.iter().enumerate().map(|(i, series)| {
        let points = series.points.iter().map(|&(x, y)| Point::new(x, y));
        let mark = if i == 0 { Mark::Markers } else { Mark::Line };
        Series::new(&series.name, mark, points.collect())
    });
    Figure {
        id: format!("figure-{}", number + 1).into(),
        title: found.name.clone(),
        description: "Points are measured, lines predicted.".to_owned(),
        x: Axis::new(&found.x, "count", Spacing::Linear),
        y: Axis::new(&found.y, "ratio", Spacing::Linear),
        series: series.collect(),
        guides: Vec::new(),
        half: false,
    }
}

impl From<&writing::Table> for Table {
    fn from(table: &writing::Table) -> Self {
        let column = |column: &writing::Column| {
            Column::new(&column.name, column.unit.as_deref().unwrap_or_default())
        };
        let cell = |value: &Value| match value {
            Value::Text(text) => Cell::text(text),
            Value::Number(number) => Cell::Number(*number),
            Value::Count(count) => Cell::Count(*count),
            Value::Missing => Cell::Missing,
        };
        let row = |row: &Vec<Value>| row.iter().map(cell).collect();
        Self {
            caption: table.name.clone(),
            columns: table.columns.iter().map(column).collect(),
            rows: table.rows.iter().map(row).collect(),
        }
    }
}
