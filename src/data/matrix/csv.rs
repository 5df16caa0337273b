//! Comma-separated numbers, one row per line.
//!
//! ```text
//! file = [ header ] row { row }
//! row  = number { "," number }      all rows of as many fields; blanks around numbers are dropped
//!      | "" { "," "" }              an empty slot: as many fields, all of them empty
//! ```
//!
//! Blank lines are skipped. There are no comments, and quotes in the header only.

use std::collections::BTreeSet;
use std::io::Read;

use ::csv::StringRecord;

use super::MatrixOptions;
use crate::data::error::{DataError, Problem};
use crate::data::formats::fields::{number, split_commas};
use crate::data::ratings::Loaded;
use crate::data::source::{Limits, Lines};
use crate::linalg::SparseRows;

/// What is known after the first row.
struct Table {
    /// Fields of every line.
    width: usize,
    /// The fields that stay.
    kept: Vec<usize>,
    rows: SparseRows,
    /// Fields of the line under way.
    fields: Vec<Option<f64>>,
}

impl Table {
    fn new(width: usize, options: &MatrixOptions, limits: &Limits) -> Result<Self, Problem> {
        if width > limits.items {
            return Err(Problem::TooMany {
                what: "columns",
                limit: limits.items as u64,
            });
        }
        let kept = options.kept(width)?;
        Ok(Self {
            width,
            rows: SparseRows::new(kept.len()),
            kept,
            fields: Vec::new(),
        })
    }

    fn take(&mut self, text: &str, limits: &Limits) -> Result<(), Problem> {
        let found = width_of(text);
        if found != self.width {
            return Err(Problem::ColumnCount {
                found,
                expected: self.width,
            });
        }
        for (what, held, limit) in [
            ("rows", self.rows.len(), limits.users),
            (
                "numbers",
                self.rows.entries() + self.kept.len() - 1,
                limits.ratings,
            ),
        ] {
            if held >= limit {
                let limit = limit as u64;
                return Err(Problem::TooMany { what, limit });
            }
        }
        if self.width == 1
            && let Some(separator) = other_separator(text)
        {
            return Err(Problem::OtherSeparator { separator });
        }
        self.fields.clear();
        for (column, field) in (1..).zip(text.split(',')) {
            let value = match field.trim().is_empty() {
                true => None,
                false => Some(
                    number(field, "the number").map_err(|problem| Problem::Cell {
                        column,
                        problem: Box::new(problem),
                    })?,
                ),
            };
            self.fields.push(value);
        }
        let filled = self.fields.iter().filter(|field| field.is_some()).count();
        if filled > 0
            && let Some(empty) = self.fields.iter().position(Option::is_none)
        {
            return Err(Problem::EmptyCell { column: empty + 1 });
        }
        let entries = (0..).zip(&self.kept);
        let entries = entries.filter_map(|(to, &from)| Some((to, self.fields[from]?)));
        self.rows
            .push_row(entries)
            .expect("finite numbers in ascending columns");
        Ok(())
    }
}

/// What separates the numbers of a line without commas, if something else does.
fn other_separator(text: &str) -> Option<&'static str> {
    let signs = [('\t', "tabs"), (';', "semicolons"), (' ', "blanks")];
    let separates = |sign: char| {
        let fields = || {
            text.split(sign)
                .map(str::trim)
                .filter(|field| !field.is_empty())
        };
        fields().nth(1).is_some() && fields().all(|field| number(field, "").is_ok())
    };
    signs
        .into_iter()
        .find(|(sign, _)| separates(*sign))
        .map(|(_, name)| name)
}

fn width_of(text: &str) -> usize {
    text.bytes().filter(|&byte| byte == b',').count() + 1
}

/// Reads the file; see [`super::read_matrix`].
pub(super) fn read(
    reader: impl Read,
    source_name: &str,
    options: &MatrixOptions,
    limits: Limits,
) -> Result<Loaded, DataError> {
    let mut lines = Lines::open(reader, source_name, limits)?;
    let mut header: Option<Vec<String>> = None;
    let mut header_line = 1;
    let mut table: Option<Table> = None;
    while lines.advance()? {
        let text = lines.text()?;
        if text.trim().is_empty() {
            continue;
        }
        if options.header && header.is_none() {
            header = Some(names(text).map_err(|problem| lines.error(problem))?);
            header_line = lines.number();
            continue;
        }
        let held = match table.take() {
            Some(table) => Ok(table),
            None => Table::new(width_of(text), options, &limits),
        };
        let taken = held.and_then(|mut held| {
            held.take(text, &limits)?;
            Ok(held)
        });
        table = Some(taken.map_err(|problem| lines.error(problem))?);
    }
    let Some(Table {
        width, kept, rows, ..
    }) = table
    else {
        return Err(DataError::Empty {
            file: lines.file().to_owned(),
            lines: lines.number(),
            format: "matrix-csv",
        });
    };
    let header = header.unwrap_or_default();
    // Numbers of rows, taken for measurements, would be the first principal direction.
    let unnamed = |at: &&usize| header.len() == width && header[**at].is_empty();
    if let Some(at) = kept.iter().find(unnamed) {
        let number = at + 1;
        return Err(lines.error_on(header_line, Problem::UnnamedNumbers { number }));
    }
    let columns = named(&header, width, &kept, limits.name_bytes);
    Ok(Loaded::of_rows(rows, columns, lines.number()))
}

/// The fields of a header.
fn names(text: &str) -> Result<Vec<String>, Problem> {
    let mut record = StringRecord::new();
    split_commas(text, &mut record)?;
    Ok(record.iter().map(str::to_owned).collect())
}

/// Names of the columns that stay: those of the header, if it names all columns differently, or their numbers from 1.
fn named(header: &[String], width: usize, kept: &[usize], longest: usize) -> Vec<String> {
    let distinct: BTreeSet<&String> = header.iter().collect();
    let valid = header
        .iter()
        .all(|name| !name.is_empty() && name.len() <= longest);
    let names = valid && header.len() == width && distinct.len() == width;
    kept.iter()
        .map(|&at| match names {
            true => header[at].clone(),
            false => (at + 1).to_string(),
        })
        .collect()
}
