//! What one peer holds.

use crate::linalg::SparseRows;

/// One peer's private rows: what its contributions are computed from, and nothing else.
///
/// A row is a user's normalised interactions, a sample, or the edges of a vertex. In a stream every row has a public batch
/// number, given by its slot: removing a record leaves its slot empty and moves no other row to another batch.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalData {
    rows: SparseRows,
    /// The rows of each batch; empty where rows have none.
    batches: Vec<SparseRows>,
}

/// Batch numbers that do not fit the rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{numbers} batch numbers are given for {rows} rows: give every slot one, also those that are empty"
)]
pub struct BatchError {
    /// Numbers given.
    pub numbers: usize,
    /// Rows there are.
    pub rows: usize,
}

impl LocalData {
    /// Rows of which row i contributes to the releases of batch `numbers[i]` alone.
    ///
    /// # Errors
    /// An error unless there is one number per row.
    pub fn in_batches(rows: SparseRows, numbers: &[u32]) -> Result<Self, BatchError> {
        if numbers.len() != rows.len() {
            return Err(BatchError {
                numbers: numbers.len(),
                rows: rows.len(),
            });
        }
        let count = numbers.iter().max().map_or(0, |&most| most as usize + 1);
        let mut batches = vec![SparseRows::new(rows.dimension()); count.min(1 << 20)];
        for (row, &number) in numbers.iter().enumerate() {
            let Some(batch) = batches.get_mut(number as usize) else {
                return Err(BatchError {
                    numbers: number as usize,
                    rows: rows.len(),
                });
            };
            batch.append_row(&rows, row);
        }
        Ok(Self { rows, batches })
    }

    /// Rows that were divided into batches before.
    pub(crate) fn of_parts(rows: SparseRows, batches: Vec<SparseRows>) -> Self {
        Self { rows, batches }
    }

    /// All rows.
    #[must_use]
    pub fn rows(&self) -> &SparseRows {
        &self.rows
    }

    /// Whether rows have batch numbers.
    #[must_use]
    pub fn is_stream(&self) -> bool {
        !self.batches.is_empty()
    }

    /// The rows of each batch; empty where rows have none.
    #[must_use]
    pub fn batches(&self) -> &[SparseRows] {
        &self.batches
    }

    /// The rows that contribute to a release of this batch; all where there is none. `None` for a batch without rows.
    #[must_use]
    pub fn contributing(&self, batch: Option<u32>) -> Option<&SparseRows> {
        match batch {
            None => Some(&self.rows),
            Some(number) => self.batches.get(number as usize),
        }
    }
}

impl From<SparseRows> for LocalData {
    fn from(rows: SparseRows) -> Self {
        Self {
            rows,
            batches: Vec::new(),
        }
    }
}
