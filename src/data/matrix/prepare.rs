//! What public constants make of the numbers of a file, one number after the other.

use crate::data::error::DataError;
use crate::data::matrix_problem::PreparationError;
use crate::linalg::SparseRows;

/// The public ranges that numbers are clipped to and mapped from.
///
/// A number x of a column with range [a, b] becomes a number of the range [c, d], the same for all columns:
/// x ↦ c + (d − c)·min(max((x − a)/(b − a), 0), 1). Without ranges numbers stay as they are.
///
/// # Neighbours
/// Each number is mapped by constants that no data had a part in: rows that are equal stay equal, and a row that is
/// not there stays away. So data that differ in one row still do, or have become equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Preparation {
    /// None, one for all columns, or one each.
    ranges: Vec<(f64, f64)>,
    /// [c, d].
    scale: (f64, f64),
    /// What no row of the file is longer than.
    row_limit: Option<f64>,
}

impl Default for Preparation {
    fn default() -> Self {
        Self {
            ranges: Vec::new(),
            scale: (0.0, 1.0),
            row_limit: None,
        }
    }
}

impl Preparation {
    /// For so many columns: no range, one for all, or one for each, all mapped to `scale`. Rows that are longer than `row_limit`
    /// as they stand in the file break the file's promise and are refused; without a limit there is no promise.
    ///
    /// # Errors
    /// [`PreparationError`] for ranges of another number, ends that are not finite or not in order, and a limit that is not
    /// finite and above 0.
    pub fn new(
        ranges: Vec<(f64, f64)>,
        scale: (f64, f64),
        row_limit: Option<f64>,
        columns: usize,
    ) -> Result<Self, PreparationError> {
        if ranges.len() > 1 && ranges.len() != columns {
            let found = ranges.len();
            return Err(PreparationError::Ranges { found, columns });
        }
        let wrong = |&(low, high): &(f64, f64)| {
            !(low.is_finite() && high.is_finite() && low < high && (high - low).is_finite())
        };
        if let Some(at) = ranges.iter().position(wrong) {
            let (low, high) = ranges[at];
            let column = at + 1;
            return Err(PreparationError::Range { column, low, high });
        }
        if wrong(&scale) {
            return Err(PreparationError::Scale {
                low: scale.0,
                high: scale.1,
            });
        }
        match row_limit {
            Some(found) if !(found.is_finite() && found > 0.0) => Err(PreparationError::Length {
                key: "row_limit",
                found,
            }),
            row_limit => Ok(Self {
                ranges,
                scale,
                row_limit,
            }),
        }
    }

    /// What becomes of `x` in this column, from 0.
    #[must_use]
    pub fn value(&self, column: usize, x: f64) -> f64 {
        let range = match self.ranges.as_slice() {
            [] => return x,
            [all] => all,
            each => &each[column],
        };
        let (low, high) = *range;
        let part = ((x - low) / (high - low)).clamp(0.0, 1.0);
        self.scale.0 + (self.scale.1 - self.scale.0) * part
    }

    /// Whether every number is at least 0 and at most 1 afterwards, whatever it was.
    #[must_use]
    pub fn is_unit_box(&self) -> bool {
        !self.ranges.is_empty() && self.scale == (0.0, 1.0)
    }

    /// The rows with every number mapped.
    ///
    /// # Errors
    /// [`DataError::LongRow`] for a row beyond the limit.
    pub fn rows(&self, rows: &SparseRows) -> Result<SparseRows, DataError> {
        let mut out = SparseRows::new(rows.dimension());
        for i in 0..rows.len() {
            let (columns, values) = rows.row(i);
            if let Some(limit) = self.row_limit {
                let length = values.iter().fold(0.0_f64, |norm, x| libm::hypot(norm, *x));
                if length > limit * (1.0 + 1e-12) {
                    return Err(DataError::LongRow { row: i + 1, limit });
                }
            }
            let mapped = columns.iter().zip(values);
            let mapped = mapped.map(|(&column, &x)| (column, self.value(column as usize, x)));
            out.push_row(mapped)
                .expect("finite numbers stay finite in a range, and columns stay");
        }
        Ok(out)
    }
}

/// The rows with one public number per column taken from each; a row without entries stays without.
///
/// # Panics
/// If there is not one number per column.
#[must_use]
pub(crate) fn centred(rows: &SparseRows, means: &[f64]) -> SparseRows {
    assert_eq!(rows.dimension(), means.len(), "one mean per column");
    let mut out = SparseRows::new(rows.dimension());
    let mut row = vec![0.0; means.len()];
    for i in 0..rows.len() {
        let (columns, values) = rows.row(i);
        if columns.is_empty() {
            out.push_row([]).expect("an empty row is a row");
            continue;
        }
        for (x, mean) in row.iter_mut().zip(means) {
            *x = -mean;
        }
        for (&column, value) in columns.iter().zip(values) {
            row[column as usize] += value;
        }
        // Differences of numbers near the largest float are as large as floats get.
        let finite = row.iter().map(|x| x.clamp(-f64::MAX, f64::MAX));
        out.push_row((0..).zip(finite))
            .expect("finite numbers in ascending columns");
    }
    out
}
