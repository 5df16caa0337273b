//! Tables of results: named columns with units, rows of values, as CSV and as cells for a terminal.

use serde::Serialize;

use super::csv::csv;

/// A table of results.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Table {
    /// What it is called; its file is `NAME.csv`.
    pub name: String,
    /// What the columns hold.
    pub columns: Vec<Column>,
    /// One value per column in every row.
    pub rows: Vec<Vec<Value>>,
}

/// One column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Column {
    /// Its name: letters, digits and underscores.
    pub name: String,
    /// What numbers are counted in; none for pure numbers and text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
}

/// One cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// Words.
    Text(String),
    /// A measurement.
    Number(f64),
    /// A count.
    Count(u64),
    /// Nothing is known, or nothing applies.
    Missing,
}

impl Column {
    /// A column; `unit` is empty for pure numbers and text.
    #[must_use]
    pub fn new(name: &str, unit: &str) -> Self {
        Self {
            name: name.to_owned(),
            unit: (!unit.is_empty()).then(|| unit.to_owned()),
        }
    }
}

impl Table {
    /// A table without rows; columns are (name, unit), the unit empty where there is none.
    #[must_use]
    pub fn new(name: &str, columns: &[(&str, &str)]) -> Self {
        let columns = columns.iter().map(|&(name, unit)| Column::new(name, unit));
        Self {
            name: name.to_owned(),
            columns: columns.collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it does not have a value per column.
    pub fn push(&mut self, row: Vec<Value>) {
        assert_eq!(
            row.len(),
            self.columns.len(),
            "{} has that many columns",
            self.name
        );
        self.rows.push(row);
    }

    /// The values of one column, in row order; `None` if there is no such column.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Vec<&Value>> {
        let at = self.columns.iter().position(|column| column.name == name)?;
        Some(self.rows.iter().map(|row| &row[at]).collect())
    }

    /// The table as CSV (RFC 4180, lines end with \n): a line of column names, then one line per row. Numbers
    /// are written so that reading them gives the same bits, missing values are empty.
    #[must_use]
    pub fn to_csv(&self) -> Vec<u8> {
        let names = self.columns.iter().map(|column| column.name.clone());
        let rows = self.rows.iter().map(|row| {
            let fields = row.iter().map(|value| match value {
                Value::Text(text) => text.clone(),
                Value::Number(number) => format!("{number:e}"),
                Value::Count(count) => count.to_string(),
                Value::Missing => String::new(),
            });
            fields.collect::<Vec<_>>()
        });
        csv(std::iter::once(names.collect()).chain(rows))
    }

    /// The table as text cells, the heading first: units follow names in brackets, missing values are dashes.
    #[must_use]
    pub fn cells(&self, number: impl Fn(f64) -> String) -> Vec<Vec<String>> {
        let heading = self.columns.iter().map(|column| match &column.unit {
            Some(unit) => format!("{} [{unit}]", column.name),
            None => column.name.clone(),
        });
        let mut cells = vec![heading.collect::<Vec<_>>()];
        for row in &self.rows {
            let line = row.iter().map(|value| match value {
                Value::Text(text) => text.clone(),
                Value::Number(value) => number(*value),
                Value::Count(count) => count.to_string(),
                Value::Missing => "-".to_owned(),
            });
            cells.push(line.collect());
        }
        cells
    }
}

impl Value {
    /// The number or count as a number.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Count(count) => Some(*count as f64),
            Self::Text(_) | Self::Missing => None,
        }
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl From<Option<f64>> for Value {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Missing, Self::Number)
    }
}

impl From<usize> for Value {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Self {
        Self::Count(u64::from(count))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let mut table = Table::new(
            "t",
            &[("what", ""), ("size", "bytes"), ("share", ""), ("n", "")],
        );
        table.push(vec![
            "a, \"b\"".into(),
            1e-300.into(),
            (0.1 + 0.2).into(),
            7_u64.into(),
        ]);
        table.push(vec![
            "c".into(),
            Value::Missing,
            None.into(),
            0_usize.into(),
        ]);
        table
    }

    #[test]
    fn csv_quotes_words_and_keeps_every_bit() {
        let csv = table().to_csv();
        let mut reader = ::csv::Reader::from_reader(&csv[..]);
        assert_eq!(
            reader.headers().expect("a heading"),
            vec!["what", "size", "share", "n"]
        );
        let records: Vec<_> = reader.records().map(|r| r.expect("a row")).collect();
        assert_eq!(&records[0][0], "a, \"b\"");
        assert_eq!(records[0][1].parse(), Ok(1e-300));
        assert_eq!(records[0][2].parse(), Ok(0.1 + 0.2));
        assert_eq!(records[1], vec!["c", "", "", "0"]);
    }

    #[test]
    fn cells_have_units_and_dashes() {
        let cells = table().cells(|number| format!("{number:.1}"));
        assert_eq!(cells[0], ["what", "size [bytes]", "share", "n"]);
        assert_eq!(cells[2], ["c", "-", "-", "0"]);
    }

    #[test]
    #[should_panic(expected = "that many columns")]
    fn rows_of_another_width_are_mistakes() {
        table().push(vec!["short".into()]);
    }
}
