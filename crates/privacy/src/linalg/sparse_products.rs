//! Products of sparse rows with dense blocks: RX, RᵀP and Rᵀ(RX), threads sharing the work.

use std::ops::Range;

use rayon::prelude::*;

use super::{AtLine, Block, SparseRows, sparse_dense};

/// Rows that one thread projects at a time, if there are more.
const ROWS_PER_TASK: usize = 1024;

/// Entries looked at, about, to balance threads.
const SAMPLED_ENTRIES: usize = 1 << 18;

impl SparseRows {
    /// The projections r·X of every row r: a `len() × p` row-major array.
    ///
    /// `x` is the row-major n × p block as a flat slice. The sum over a row's entries runs in ascending
    /// column order.
    ///
    /// # Panics
    /// If `x.len()` is not n · p.
    #[must_use]
    pub fn project(&self, x: &[f64], p: usize) -> Vec<f64> {
        let mut projections = vec![0.0; self.len() * p];
        self.project_into(x, p, &mut projections);
        projections
    }

    /// As [`Self::project`], over whatever `out` held: for callers that project again and again.
    ///
    /// # Panics
    /// If `x.len()` is not n · p or `out.len()` not `len()` · p.
    pub fn project_into(&self, x: &[f64], p: usize, out: &mut [f64]) {
        assert_eq!(
            x.len(),
            self.dimension() * p,
            "a block of this matrix's dimension"
        );
        assert_eq!(out.len(), self.len() * p, "one output per row and column");
        if p == 0 {
            return;
        }
        if self.len() > ROWS_PER_TASK {
            let x = AtLine::copy_of(x);
            self.project_rows(0..self.len(), x.values(), p, out);
        } else {
            sparse_dense::project(self, 0..self.len(), x, p, out);
        }
    }

    /// Adds the coordinates `range` of the flattened n × p product RᵀP to `out`, where `projections`
    /// is P = RX from [`Self::project`].
    ///
    /// Each coordinate is summed over the rows in order, so any way of cutting the product into ranges
    /// gives the same bits.
    ///
    /// # Panics
    /// If `out.len() != range.len()`.
    pub fn add_back_projection(
        &self,
        projections: &[f64],
        p: usize,
        range: Range<usize>,
        out: &mut [f64],
    ) {
        assert_eq!(out.len(), range.len(), "one output per coordinate");
        if range.is_empty() {
            return;
        }
        let whole = range.start.div_ceil(p)..range.end / p;
        if whole.is_empty() {
            self.add_back_part(projections, p, range, out);
            return;
        }
        let (head, rest) = out.split_at_mut(whole.start * p - range.start);
        let (middle, tail) = rest.split_at_mut(whole.len() * p);
        self.add_back_part(projections, p, range.start..whole.start * p, head);
        sparse_dense::add_back(self, 0..self.len(), projections, p, whole.clone(), middle);
        self.add_back_part(projections, p, whole.end * p..range.end, tail);
    }

    /// As [`Self::add_back_projection`], for a range that need not begin or end with an item's row.
    fn add_back_part(&self, projections: &[f64], p: usize, range: Range<usize>, out: &mut [f64]) {
        if range.is_empty() {
            return;
        }
        let first_item = (range.start / p) as u32;
        for (i, projection) in projections.chunks_exact(p).enumerate() {
            let (columns, values) = self.row(i);
            let begin = columns.partition_point(|&c| c < first_item);
            for (&column, &value) in columns[begin..].iter().zip(&values[begin..]) {
                let base = column as usize * p;
                if base >= range.end {
                    break;
                }
                let low = range.start.max(base);
                let high = range.end.min(base + p);
                let target = &mut out[low - range.start..high - range.start];
                for (sum, entry) in target.iter_mut().zip(&projection[low - base..high - base]) {
                    *sum += value * entry;
                }
            }
        }
    }

    /// Ranges that cover all columns, at most `parts`, judged by the entries of a sample of the rows.
    fn column_ranges(&self, parts: usize) -> Vec<Range<usize>> {
        let sampled = (0..self.len()).step_by(1 + self.entries() / SAMPLED_ENTRIES);
        let mut counts = vec![0_usize; self.dimension()];
        for i in sampled {
            for &column in self.row(i).0 {
                counts[column as usize] += 1;
            }
        }
        let share = counts.iter().sum::<usize>() / parts.max(1) + 1;
        let (mut ranges, mut start, mut sum) = (Vec::new(), 0, 0);
        for (column, count) in counts.iter().enumerate() {
            sum += count;
            if sum >= share {
                ranges.push(start..column + 1);
                (start, sum) = (column + 1, 0);
            }
        }
        ranges.push(start..self.dimension());
        ranges
    }

    /// The product A X = Rᵀ(R X) without ever forming the n × n matrix A.
    ///
    /// # Cost
    /// O(entries · p) time; memory for 3 n p values and p for each of a batch of rows, 2,048 per thread, which are projected and
    /// added back together.
    ///
    /// # Panics
    /// If `x` does not have n rows.
    #[must_use]
    pub fn gram_product(&self, x: &Block) -> Block {
        let p = x.columns();
        assert_eq!(
            x.rows(),
            self.dimension(),
            "a block of this matrix's dimension"
        );
        if p == 0 || self.is_empty() {
            return Block::zeros(self.dimension(), p);
        }
        let shares = self.column_ranges(rayon::current_num_threads());
        let x = AtLine::copy_of(x.values());
        let mut sums = AtLine::zeros(self.dimension() * p);
        let batch = 2 * ROWS_PER_TASK * rayon::current_num_threads();
        let mut projections = AtLine::zeros(batch.min(self.len()) * p);
        for first in (0..self.len()).step_by(batch) {
            let rows = first..self.len().min(first + batch);
            let projections = &mut projections.values_mut()[..rows.len() * p];
            self.project_rows(rows.clone(), x.values(), p, projections);
            self.add_back_rows(rows, projections, p, &shares, sums.values_mut());
        }
        Block::from_values(self.dimension(), p, sums.values().to_vec())
    }

    /// Projects the rows `rows`, threads sharing them.
    fn project_rows(&self, rows: Range<usize>, x: &[f64], p: usize, out: &mut [f64]) {
        let first = rows.start;
        out.par_chunks_mut(ROWS_PER_TASK * p)
            .enumerate()
            .for_each(|(k, out)| {
                let first = first + k * ROWS_PER_TASK;
                sparse_dense::project(self, first..first + out.len() / p, x, p, out);
            });
    }

    /// Adds the rows `rows` of RᵀP to `out`, threads sharing the columns of R.
    fn add_back_rows(
        &self,
        rows: Range<usize>,
        projections: &[f64],
        p: usize,
        shares: &[Range<usize>],
        out: &mut [f64],
    ) {
        let mut parts = Vec::new();
        let mut rest = out;
        for items in shares {
            let (part, others) = rest.split_at_mut(items.len() * p);
            parts.push((items.clone(), part));
            rest = others;
        }
        parts.into_par_iter().for_each(|(items, part)| {
            sparse_dense::add_back(self, rows.clone(), projections, p, items, part);
        });
    }
}
