//! Sparse rows: one peer's private data, or everybody's in a simulation's reference computations.

use std::fmt;

/// Compressed sparse rows of an s × n matrix R whose Gram matrix A = RᵀR is what everybody wants.
///
/// Column indices ascend strictly within a row and all values are finite. `Debug` prints the shape only.
#[derive(Clone, PartialEq)]
pub struct SparseRows {
    dimension: usize,
    offsets: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// A row that cannot be part of [`SparseRows`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum SparseError {
    /// A column index at or beyond the dimension.
    #[error("column {column} is outside the {dimension} columns of the matrix")]
    ColumnOutOfRange {
        /// The offending index.
        column: u32,
        /// Number of columns.
        dimension: usize,
    },
    /// Indices that do not ascend strictly.
    #[error("columns of a row must ascend without repetition, found {next} after {previous}")]
    NotAscending {
        /// The index before.
        previous: u32,
        /// The index that should have been larger.
        next: u32,
    },
    /// A NaN or an infinite value.
    #[error("column {column} holds a value that is not finite")]
    NotFinite {
        /// The column of the value.
        column: u32,
    },
}

impl SparseRows {
    /// No rows yet, of `dimension` columns.
    #[must_use]
    pub fn new(dimension: usize) -> Self {
        Self {
            dimension,
            offsets: vec![0],
            columns: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Rows that hold every column, one after the other in `values`.
    ///
    /// # Errors
    /// [`SparseError::NotFinite`] for a value that is none.
    ///
    /// # Panics
    /// If the values do not fill whole rows of at least one column.
    pub fn dense(dimension: usize, values: Vec<f64>) -> Result<Self, SparseError> {
        assert!(
            dimension > 0 && values.len().is_multiple_of(dimension),
            "whole rows"
        );
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            let column = (at % dimension) as u32;
            return Err(SparseError::NotFinite { column });
        }
        let row: Vec<u32> = (0..dimension as u32).collect();
        let rows = values.len() / dimension;
        let mut columns = Vec::with_capacity(values.len());
        (0..rows).for_each(|_| columns.extend_from_slice(&row));
        Ok(Self {
            dimension,
            offsets: (0..=rows).map(|i| i * dimension).collect(),
            columns,
            values,
        })
    }

    /// Appends a row given as (column, value) pairs; an empty row is allowed and contributes nothing.
    ///
    /// # Errors
    /// [`SparseError`] if a column is out of range or not ascending, or a value is not finite; the
    /// matrix is then unchanged.
    pub fn push_row(
        &mut self,
        entries: impl IntoIterator<Item = (u32, f64)>,
    ) -> Result<(), SparseError> {
        let start = self.columns.len();
        let mut outcome = Ok(());
        for (column, value) in entries {
            outcome = self.check_entry(start, column, value);
            if outcome.is_err() {
                break;
            }
            self.columns.push(column);
            self.values.push(value);
        }
        if outcome.is_ok() {
            self.offsets.push(self.columns.len());
        } else {
            self.columns.truncate(start);
            self.values.truncate(start);
        }
        outcome
    }

    fn check_entry(&self, start: usize, column: u32, value: f64) -> Result<(), SparseError> {
        if column as usize >= self.dimension {
            return Err(SparseError::ColumnOutOfRange {
                column,
                dimension: self.dimension,
            });
        }
        if let Some(&previous) = self.columns[start..].last()
            && previous >= column
        {
            return Err(SparseError::NotAscending {
                previous,
                next: column,
            });
        }
        if value.is_finite() {
            Ok(())
        } else {
            Err(SparseError::NotFinite { column })
        }
    }

    /// Number of columns, n.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Row `i` as (columns, values).
    #[must_use]
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[i]..self.offsets[i + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Rows with entries at the same places and these numbers there, one row after the other.
    ///
    /// # Panics
    /// If there is not one finite number per entry.
    #[must_use]
    pub fn with_values(&self, values: &[f64]) -> Self {
        assert_eq!(values.len(), self.entries(), "one number per entry");
        assert!(values.iter().all(|x| x.is_finite()), "finite numbers");
        Self {
            dimension: self.dimension,
            offsets: self.offsets.clone(),
            columns: self.columns.clone(),
            values: values.to_vec(),
        }
    }

    /// These rows followed by those of `other`.
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn append(&mut self, other: &Self) {
        assert_eq!(self.dimension, other.dimension, "matrices of equal width");
        let shift = self.columns.len();
        self.offsets
            .extend(other.offsets[1..].iter().map(|o| o + shift));
        self.columns.extend_from_slice(&other.columns);
        self.values.extend_from_slice(&other.values);
    }

    /// These rows followed by row `i` of `other`.
    ///
    /// # Panics
    /// If the dimensions differ, or `other` has no row `i`.
    pub fn append_row(&mut self, other: &Self, i: usize) {
        assert_eq!(self.dimension, other.dimension, "matrices of equal width");
        let (columns, values) = other.row(i);
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
        self.offsets.push(self.columns.len());
    }

    /// Row `i` alone, as a matrix of one row.
    ///
    /// # Panics
    /// If there is no row `i`.
    #[must_use]
    pub fn single(&self, i: usize) -> Self {
        let mut one = Self::new(self.dimension);
        one.append_row(self, i);
        one
    }
}

impl fmt::Debug for SparseRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "SparseRows({} x {}, {} entries)",
            self.len(),
            self.dimension,
            self.entries()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::super::Block;
    use super::*;

    fn example() -> SparseRows {
        let mut rows = SparseRows::new(4);
        rows.push_row([(0, 0.5), (3, -1.0)]).expect("valid");
        rows.push_row([]).expect("empty rows are rows");
        rows.push_row([(1, 2.0), (2, 0.25), (3, 1.5)])
            .expect("valid");
        rows
    }

    #[test]
    fn the_product_equals_the_dense_one() {
        let rows = example();
        let mut dense = nalgebra::DMatrix::<f64>::zeros(3, 4);
        for i in 0..3 {
            let (columns, values) = rows.row(i);
            for (c, v) in columns.iter().zip(values) {
                dense[(i, *c as usize)] = *v;
            }
        }
        let x = Block::from_values(4, 2, vec![1.0, 2.0, 3.0, -4.0, 5.0, 6.0, 7.0, 8.5]);
        let expected = dense.transpose() * &dense * x.to_matrix();
        assert!((rows.gram_product(&x).to_matrix() - expected).abs().max() < 1e-14);
    }

    #[test]
    fn no_rows_and_no_columns_give_nothing() {
        let product = SparseRows::new(4).gram_product(&Block::zeros(4, 2));
        assert_eq!(product, Block::zeros(4, 2));
        let product = example().gram_product(&Block::zeros(4, 0));
        assert_eq!(product, Block::zeros(4, 0));
    }

    #[test]
    fn any_cut_into_ranges_gives_the_same_bits() {
        let rows = example();
        let x: Vec<f64> = (0..12).map(|i| f64::from(i).sin()).collect();
        let projections = rows.project(&x, 3);
        let mut whole = vec![0.0; 12];
        rows.add_back_projection(&projections, 3, 0..12, &mut whole);
        for width in 1..12 {
            let mut cut = vec![0.0; 12];
            for (k, part) in cut.chunks_mut(width).enumerate() {
                rows.add_back_projection(&projections, 3, k * width..k * width + part.len(), part);
            }
            assert_eq!(whole, cut);
        }
    }

    #[test]
    fn every_number_of_columns_and_threads_gives_the_bits_of_the_plain_loop() {
        let mut rows = SparseRows::new(60);
        // More than a batch of three threads.
        for i in 0..7000_u32 {
            let items = (0..60).filter(|c| (i * 7 + c * 13 + i * c) % 11 == 0);
            rows.push_row(items.map(|c| (c, f64::from(i * 60 + c).sin())))
                .expect("ascending");
        }
        for p in [1, 3, 4, 8, 13, 32, 47, 64, 71] {
            let x: Vec<f64> = (0..60 * p).map(|i| (i as f64).cos()).collect();
            let mut projections = vec![0.0; rows.len() * p];
            let mut product = vec![0.0; 60 * p];
            for i in 0..rows.len() {
                let (columns, values) = rows.row(i);
                let entries = || columns.iter().map(|&c| c as usize).zip(values);
                for j in 0..p {
                    let sum = &mut projections[i * p + j];
                    entries().for_each(|(c, v)| *sum += v * x[c * p + j]);
                    let sum = *sum;
                    entries().for_each(|(c, v)| product[c * p + j] += v * sum);
                }
            }
            assert_eq!(rows.project(&x, p), projections, "{p} columns");
            let mut out = vec![f64::NAN; projections.len()];
            rows.project_into(&x, p, &mut out);
            assert_eq!(out, projections, "{p} columns, over something else");
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
                let block = Block::from_values(60, p, x.clone());
                let found = pool.expect("threads").install(|| rows.gram_product(&block));
                assert_eq!(found.values(), product, "{p} columns");
            }
        }
    }

    #[test]
    fn dense_rows_are_those_that_hold_every_column() {
        let values = vec![1.0, 0.0, -2.0, 3.0];
        let mut expected = SparseRows::new(2);
        for row in values.chunks_exact(2) {
            expected
                .push_row((0..).zip(row.iter().copied()))
                .expect("valid");
        }
        assert_eq!(SparseRows::dense(2, values), Ok(expected));
        let broken = SparseRows::dense(2, vec![0.0, 1.0, 2.0, f64::NAN]);
        assert_eq!(broken, Err(SparseError::NotFinite { column: 1 }));
        assert_eq!(SparseRows::dense(3, Vec::new()), Ok(SparseRows::new(3)));
    }

    #[test]
    fn rows_that_are_appended_one_by_one_are_those_of_the_other_matrix() {
        let all = example();
        let mut again = SparseRows::new(all.dimension());
        for i in 0..all.len() {
            assert_eq!(all.single(i).row(0), all.row(i));
            again.append_row(&all, i);
        }
        assert_eq!(again, all);
    }

    #[test]
    fn other_values_stand_at_the_same_entries() {
        let rows = example();
        let doubled: Vec<f64> = (0..rows.len())
            .flat_map(|i| rows.row(i).1.to_vec())
            .collect();
        let doubled: Vec<f64> = doubled.iter().map(|value| 2.0 * value).collect();
        let other = rows.with_values(&doubled);
        for i in 0..rows.len() {
            let (columns, values) = rows.row(i);
            let twice: Vec<f64> = values.iter().map(|value| 2.0 * value).collect();
            assert_eq!(other.row(i), (columns, &twice[..]));
        }
    }

    #[test]
    fn bad_rows_are_refused_and_leave_no_trace() {
        let mut rows = example();
        let before = rows.clone();
        assert!(matches!(
            rows.push_row([(0, 1.0), (4, 1.0)]),
            Err(SparseError::ColumnOutOfRange { .. })
        ));
        assert!(matches!(
            rows.push_row([(2, 1.0), (2, 1.0)]),
            Err(SparseError::NotAscending { .. })
        ));
        assert!(matches!(
            rows.push_row([(2, f64::NAN)]),
            Err(SparseError::NotFinite { column: 2 })
        ));
        assert_eq!(rows, before);
    }
}
