//! The upper triangle of a symmetric matrix as one vector.

use std::ops::Range;

use nalgebra::DMatrix;

use super::{Block, SparseRows, leading_eigenvectors};

/// A symmetric n × n matrix as its upper triangle, diagonal included, row after row.
///
/// Coordinate of entry (i, j), i ≤ j: i·n − i(i−1)/2 + (j − i). An entry off the diagonal stands for both
/// (i, j) and (j, i).
#[derive(Clone, Copy, Debug)]
pub struct PackedTriangle<'a> {
    dimension: usize,
    values: &'a [f64],
}

impl<'a> PackedTriangle<'a> {
    /// Number of coordinates n(n+1)/2; `usize::MAX` where it does not fit.
    #[must_use]
    pub fn coordinates(dimension: usize) -> usize {
        let doubled = dimension.checked_mul(dimension.saturating_add(1));
        doubled.map_or(usize::MAX, |doubled| doubled / 2)
    }

    /// The matrix with these packed values.
    ///
    /// # Panics
    /// If there are not n(n+1)/2 of them: shapes come from validated plans.
    #[must_use]
    pub fn new(dimension: usize, values: &'a [f64]) -> Self {
        assert_eq!(
            values.len(),
            Self::coordinates(dimension),
            "one value per entry of the triangle"
        );
        Self { dimension, values }
    }

    /// The coordinate of the diagonal entry of row `i` (of the end, for i = n).
    pub fn row_start(dimension: usize, i: usize) -> usize {
        i * dimension - i * i.saturating_sub(1) / 2
    }

    /// The eigenvectors with the `rank` algebraically largest eigenvalues, n × rank.
    #[must_use]
    pub fn leading_eigenvectors(&self, rank: usize) -> Block {
        // Any scale gives the same vectors; this one keeps products of huge entries finite.
        let scale = self.max_entry();
        let scale = if scale > 0.0 { scale.recip() } else { 1.0 };
        leading_eigenvectors(self.dimension, rank, |x| self.times(&(x * scale)))
    }

    /// The product with a column-major n × k matrix.
    ///
    /// # Cost
    /// O(n² k) time; every entry of the triangle is read once per column.
    ///
    /// # Panics
    /// If `x` does not have n rows.
    #[must_use]
    pub fn times(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let n = self.dimension;
        assert_eq!(x.nrows(), n, "inner dimensions agree");
        let mut product = DMatrix::zeros(n, x.ncols());
        for (input, mut output) in x.column_iter().zip(product.column_iter_mut()) {
            let (input, output) = (input.as_slice(), output.as_mut_slice());
            let mut rest = self.values;
            for i in 0..n {
                let (row, after) = rest.split_at(n - i);
                rest = after;
                let own = input[i];
                let mut sum = row[0] * own;
                let right = row[1..].iter().zip(&input[i + 1..]);
                for ((entry, value), out) in right.zip(&mut output[i + 1..]) {
                    sum += entry * value;
                    *out += entry * own;
                }
                output[i] += sum;
            }
        }
        product
    }

    /// The largest absolute entry.
    #[must_use]
    pub fn max_entry(&self) -> f64 {
        self.values.iter().fold(0.0, |m, v| m.max(v.abs()))
    }

    /// ‖A‖_*: the sum of the absolute eigenvalues; infinite where an entry is not finite.
    ///
    /// # Cost
    /// O(n³).
    #[doc(hidden)]
    #[must_use]
    pub fn nuclear_norm(&self) -> f64 {
        if self.values.iter().any(|x| !x.is_finite()) {
            return f64::INFINITY;
        }
        let scale = self.max_entry();
        if scale == 0.0 {
            return 0.0;
        }
        let matrix = self.to_block().to_matrix() / scale;
        let values = matrix.symmetric_eigenvalues();
        scale * values.iter().map(|x| x.abs()).sum::<f64>()
    }

    /// The whole matrix as a block, both triangles equal.
    #[must_use]
    pub fn to_block(&self) -> Block {
        let n = self.dimension;
        let mut block = Block::zeros(n, n);
        let mut rest = self.values.iter();
        for i in 0..n {
            for (j, &value) in (i..n).zip(&mut rest) {
                block.values_mut()[i * n + j] = value;
                block.values_mut()[j * n + i] = value;
            }
        }
        block
    }
}

impl SparseRows {
    /// Adds the coordinates `range` of the packed triangle of A = RᵀR to `out`.
    ///
    /// Each coordinate is summed over the rows in order, so any way of cutting the triangle into ranges gives
    /// the same bits. Nothing of the size of A is built.
    ///
    /// # Cost
    /// O(rows · log d) plus the number of products r_i·r_j inside the range.
    ///
    /// # Panics
    /// If `out.len() != range.len()`.
    pub fn add_gram_triangle(&self, range: Range<usize>, out: &mut [f64]) {
        assert_eq!(out.len(), range.len(), "one output per coordinate");
        let n = self.dimension();
        let start_of = |i: usize| PackedTriangle::row_start(n, i);
        for u in 0..self.len() {
            let (columns, values) = self.row(u);
            // Columns without a gap, as in a dense row: what one entry is multiplied with lies side by side.
            let gapless = columns
                .first()
                .zip(columns.last())
                .is_some_and(|(first, last)| (last - first) as usize + 1 == columns.len());
            let first = columns.partition_point(|&c| start_of(c as usize + 1) <= range.start);
            for a in first..columns.len() {
                let i = columns[a] as usize;
                // Coordinate of (i, j) is base + j; base itself may lie before the triangle only for i = 0.
                let base = start_of(i) - i;
                if start_of(i) >= range.end {
                    break;
                }
                let skipped = columns[a..].partition_point(|&c| base + (c as usize) < range.start);
                let begin = a + skipped;
                if gapless && begin < columns.len() {
                    let from = base + columns[begin] as usize;
                    let count = range.end.saturating_sub(from).min(columns.len() - begin);
                    let own = values[a];
                    let others = &values[begin..begin + count];
                    // Where nothing is left `from` may lie beyond the range.
                    let to = from.min(range.end) - range.start;
                    for (sum, other) in out[to..to + count].iter_mut().zip(others) {
                        *sum += own * other;
                    }
                    continue;
                }
                for b in begin..columns.len() {
                    let coordinate = base + columns[b] as usize;
                    if coordinate >= range.end {
                        break;
                    }
                    out[coordinate - range.start] += values[a] * values[b];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> SparseRows {
        let mut rows = SparseRows::new(9);
        for u in 0..7_u32 {
            let entries = (0..9).filter(|c| (u * 5 + c * c + u * c) % 3 == 0);
            rows.push_row(entries.map(|c| (c, 0.3 + f64::from(c + u))))
                .expect("ascending");
        }
        rows.push_row([]).expect("an empty row");
        rows
    }

    #[test]
    fn the_triangle_is_that_of_the_gram_matrix_and_multiplies_like_it() {
        let rows = rows();
        let n = rows.dimension();
        let mut packed = vec![0.0; PackedTriangle::coordinates(n)];
        rows.add_gram_triangle(0..packed.len(), &mut packed);
        let matrix = PackedTriangle::new(n, &packed);
        let identity = Block::from_matrix(&DMatrix::identity(n, n));
        let dense = rows.gram_product(&identity).to_matrix();
        assert!((matrix.to_block().to_matrix() - &dense).abs().max() < 1e-12 * dense.max());
        let x = DMatrix::from_fn(n, 3, |i, j| (i * 3 + j) as f64 - 7.5);
        assert!((matrix.times(&x) - &dense * &x).abs().max() < 1e-11 * dense.max());
        assert_eq!(matrix.max_entry(), dense.abs().max());
    }

    #[test]
    fn every_way_of_cutting_gives_the_same_bits() {
        let rows = rows();
        let all = PackedTriangle::coordinates(rows.dimension());
        let mut whole = vec![0.0; all];
        rows.add_gram_triangle(0..all, &mut whole);
        for width in [1, 2, 5, 7, 44, 45] {
            let mut cut = vec![0.0; all];
            for (k, out) in cut.chunks_mut(width).enumerate() {
                rows.add_gram_triangle(k * width..k * width + out.len(), out);
            }
            assert_eq!(cut, whole, "width {width}");
        }
    }

    /// Dense rows and rows without a gap go another way, to the bits of the plain loop.
    #[test]
    fn rows_without_a_gap_have_the_bits_of_the_plain_loop() {
        let mut rows = SparseRows::new(9);
        for (u, columns) in [(0, 0..9), (1, 3..7), (2, 8..9), (3, 0..9)] {
            let entries = columns.map(|c: u32| (c, f64::from(c * 7 + u).sin()));
            rows.push_row(entries).expect("ascending");
        }
        rows.push_row([(0, 0.3), (4, 0.7)]).expect("ascending");
        let all = PackedTriangle::coordinates(9);
        let mut expected = vec![0.0; all];
        for u in 0..rows.len() {
            let (columns, values) = rows.row(u);
            for (a, &i) in columns.iter().enumerate() {
                for (b, &j) in columns.iter().enumerate().skip(a) {
                    let at = PackedTriangle::row_start(9, i as usize) + (j - i) as usize;
                    expected[at] += values[a] * values[b];
                }
            }
        }
        for width in [1, 2, 5, 13, 44, 45] {
            let mut cut = vec![0.0; all];
            for (k, out) in cut.chunks_mut(width).enumerate() {
                rows.add_gram_triangle(k * width..k * width + out.len(), out);
            }
            assert_eq!(cut, expected, "width {width}");
        }
    }

    #[test]
    fn absurd_sizes_saturate() {
        assert_eq!(PackedTriangle::coordinates(100), 5050);
        assert_eq!(PackedTriangle::coordinates(usize::MAX), usize::MAX);
    }
}
