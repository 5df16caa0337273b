//! Matrices of numbers: files of dense rows, public constants that prepare them, and generated ones.
//!
//! A row is a record, and rows are dealt to peers as users are. What is read is kept as it stands in the file; every step
//! between it and the peers ([`Preparation`]) looks at one number or one row and at public constants only, so that data which
//! differ in one row still do afterwards.
//!
//! A row whose fields are all empty is a slot that nobody fills: it holds no entries and contributes nothing to anything. A
//! row of zeros is a record like any other.

mod csv;
#[cfg(test)]
mod fuzz;
mod generated;
mod npy;
mod prepare;
#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) use generated::Generated;
pub(crate) use prepare::{Preparation, centred};

use super::Interactions;
use super::error::DataError;
use super::matrix_problem::ColumnProblem;
use super::ratings::{Loaded, ReadCounts};
use super::source::Limits;
use crate::linalg::SparseRows;

/// The layout of a file of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatrixFormat {
    /// One row per line, numbers between commas, all lines of as many fields.
    MatrixCsv,
    /// A NumPy array of two dimensions: format 1.0, 2.0 or 3.0, `<f8` or `<f4`, in C or Fortran order.
    Npy,
}

impl MatrixFormat {
    /// Every format.
    #[must_use]
    pub fn all() -> &'static [Self] {
        &[Self::MatrixCsv, Self::Npy]
    }

    /// The name in an experiment file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::MatrixCsv => "matrix-csv",
            Self::Npy => "npy",
        }
    }
}

impl fmt::Display for MatrixFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A column of a file, such as one that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The last one, often a label.
    Last,
    /// The one of this number, from 1.
    Number(u32),
}

impl Serialize for Column {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Last => serializer.serialize_str("last"),
            Self::Number(number) => serializer.serialize_u32(*number),
        }
    }
}

impl<'de> Deserialize<'de> for Column {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl serde::de::Visitor<'_> for Visitor {
            type Value = Column;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("\"last\" or the number of a column, from 1")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Column, E> {
                match text {
                    "last" => Ok(Column::Last),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }

            fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Column, E> {
                let unexpected = serde::de::Unexpected::Signed(number);
                match u32::try_from(number) {
                    Ok(number) if number > 0 => Ok(Column::Number(number)),
                    _ => Err(E::invalid_value(unexpected, &self)),
                }
            }

            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Column, E> {
                self.visit_i64(i64::try_from(number).unwrap_or(-1))
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// How a file of numbers is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MatrixOptions {
    /// Whether the first line is a header. It names the columns if it has as many fields, no two the same.
    pub header: bool,
    /// Columns that are left out.
    pub drop: Vec<Column>,
}

impl MatrixOptions {
    /// The columns of `width` that stay, ascending, from 0.
    fn kept(&self, width: usize) -> Result<Vec<usize>, ColumnProblem> {
        let mut stays = vec![true; width];
        for column in &self.drop {
            let number = match column {
                Column::Last => width,
                Column::Number(number) => *number as usize,
            };
            match number.checked_sub(1).and_then(|at| stays.get_mut(at)) {
                Some(stays) => *stays = false,
                None => {
                    return Err(ColumnProblem::Unknown {
                        found: number,
                        columns: width,
                    });
                }
            }
        }
        let kept: Vec<usize> = (0..width).filter(|&at| stays[at]).collect();
        if kept.is_empty() {
            return Err(ColumnProblem::NoneLeft { columns: width });
        }
        Ok(kept)
    }
}

/// Reads a file of numbers, plain or gzipped, under the default [`Limits`]; see [`read_matrix`].
///
/// # Errors
/// [`DataError::Open`] if the file cannot be opened, and everything [`read_matrix`] refuses.
pub fn load_matrix(
    path: &Path,
    format: MatrixFormat,
    options: &MatrixOptions,
) -> Result<Loaded, DataError> {
    let (file, name) = super::opened(path)?;
    read_matrix(file, &name, format, options, Limits::default())
}

/// Reads the rows of a file of numbers, plain or gzipped, told apart by the first bytes.
///
/// Rows are named by their number, from 1, columns by the header or by their number in the file. The result has the numbers in
/// [`Loaded::values`] and interactions without any entry, which name rows and columns.
///
/// # Errors
/// [`DataError::Line`] at the first line that is not one of the matrix, [`DataError::Array`] at the first byte that makes the
/// file no array, with nothing held but what was read until then: no number that a file states about itself decides how
/// much memory is taken.
pub fn read_matrix(
    reader: impl Read,
    source_name: &str,
    format: MatrixFormat,
    options: &MatrixOptions,
    limits: Limits,
) -> Result<Loaded, DataError> {
    match format {
        MatrixFormat::MatrixCsv => csv::read(reader, source_name, options, limits),
        MatrixFormat::Npy => npy::read(reader, source_name, options, limits),
    }
}

impl Loaded {
    /// The names of the columns that are left without these; no row is looked at.
    ///
    /// # Errors
    /// [`ColumnProblem`] for a column that is not there, and if none is left.
    pub fn columns_without(&self, drop: &[Column]) -> Result<Vec<String>, ColumnProblem> {
        let options = MatrixOptions {
            header: false,
            drop: drop.to_vec(),
        };
        let kept = options.kept(self.interactions.items())?;
        let names = kept.iter();
        let names = names.map(|&at| self.interactions.item_name(at).to_owned());
        Ok(names.collect())
    }

    /// Rows of numbers without these columns.
    ///
    /// # Errors
    /// [`ColumnProblem`] for a column that is not there, and if none is left.
    pub fn without_columns(&self, drop: &[Column]) -> Result<Self, ColumnProblem> {
        let (Some(values), false) = (&self.values, drop.is_empty()) else {
            return Ok(self.clone());
        };
        let options = MatrixOptions {
            header: false,
            drop: drop.to_vec(),
        };
        let kept = options.kept(values.dimension())?;
        let mut place = vec![None; values.dimension()];
        for (to, &from) in (0..).zip(&kept) {
            place[from] = Some(to);
        }
        let mut rows = SparseRows::new(kept.len());
        for (columns, numbers) in (0..values.len()).map(|row| values.row(row)) {
            let entries = columns.iter().zip(numbers);
            let entries = entries.filter_map(|(&column, &x)| Some((place[column as usize]?, x)));
            rows.push_row(entries)
                .expect("a part of a valid row, in its order");
        }
        let names = self.columns_without(drop)?;
        Ok(Self::of_rows(rows, names, self.counts.lines))
    }

    /// Rows of numbers with names for the columns, as read from `lines` lines.
    pub(super) fn of_rows(values: SparseRows, columns: Vec<String>, lines: u64) -> Self {
        let rows = (1..=values.len()).map(|row| row.to_string()).collect();
        Self {
            interactions: Interactions::from_parts(
                vec![0; values.len() + 1],
                Vec::new(),
                rows,
                columns,
            ),
            counts: ReadCounts {
                lines,
                ratings: values.entries() as u64,
                ..ReadCounts::default()
            },
            values: Some(values),
            layout: None,
            peers: None,
        }
    }
}
