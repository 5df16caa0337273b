//! The product of two dense matrices, with the same bits on every machine.

use nalgebra::{DMatrix, Dyn, Matrix, RawStorage, RawStorageMut};
use pulp::NullaryFnOnce;

/// Rows of the result that are computed together; a power of two, so that they fill registers.
const ROWS: usize = 64;

/// Columns of the left factor that are copied at a time: what lies in the nearest cache.
const DEPTH: usize = 48;

/// So many rows of one column. Rows beyond an edge hold anything and are dropped.
type Column = [f64; ROWS];

/// A·B.
///
/// # Panics
/// If A has not as many columns as B has rows.
pub fn product<A, B>(a: &Matrix<f64, Dyn, Dyn, A>, b: &Matrix<f64, Dyn, Dyn, B>) -> DMatrix<f64>
where
    A: RawStorage<f64, Dyn, Dyn>,
    B: RawStorage<f64, Dyn, Dyn>,
{
    let mut c = DMatrix::zeros(a.nrows(), b.ncols());
    add_product(&mut c, 1.0, a, b);
    c
}

/// C ← C + f·A·B.
///
/// Every entry is (…((c + (f·a₀)·b₀) + (f·a₁)·b₁) + …), each operation rounded by itself: what a loop over the inner index gives. Wider
/// registers, where the processor has them, hold more entries of C at a time, and change no order. nalgebra's own product hands
/// matrices of more than five rows and columns to a library that chooses another order, with or without fused operations, by the
/// processor.
///
/// # Panics
/// If the shapes do not fit.
///
/// # Cost
/// One multiplication and one addition per entry of C and inner index; copies of B, of 64 rows of C and of 24 KiB
/// of A.
pub fn add_product<A, B, C>(
    c: &mut Matrix<f64, Dyn, Dyn, C>,
    f: f64,
    a: &Matrix<f64, Dyn, Dyn, A>,
    b: &Matrix<f64, Dyn, Dyn, B>,
) where
    A: RawStorage<f64, Dyn, Dyn>,
    B: RawStorage<f64, Dyn, Dyn>,
    C: RawStorageMut<f64, Dyn, Dyn>,
{
    assert_eq!(a.ncols(), b.nrows(), "inner dimensions");
    assert_eq!(c.shape(), (a.nrows(), b.ncols()), "outer dimensions");
    pulp::Arch::new().dispatch(AddProduct { c, f, a, b });
}

/// One call of [`add_product`].
struct AddProduct<'a, A, B, C> {
    c: &'a mut Matrix<f64, Dyn, Dyn, C>,
    f: f64,
    a: &'a Matrix<f64, Dyn, Dyn, A>,
    b: &'a Matrix<f64, Dyn, Dyn, B>,
}

impl<A, B, C> NullaryFnOnce for AddProduct<'_, A, B, C>
where
    A: RawStorage<f64, Dyn, Dyn>,
    B: RawStorage<f64, Dyn, Dyn>,
    C: RawStorageMut<f64, Dyn, Dyn>,
{
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { c, f, a, b } = self;
        let ((m, depth), n) = (a.shape(), b.ncols());
        let mut left = [[0.0; ROWS]; DEPTH];
        // A column more where their number is odd.
        let mut sums = vec![[[0.0; ROWS]; 2]; n.div_ceil(2)];
        let mut right = Vec::with_capacity(depth * sums.len());
        for first in (0..depth).step_by(DEPTH) {
            for j in (0..n).step_by(2) {
                let next = (j + 1).min(n - 1);
                let inner = first..(first + DEPTH).min(depth);
                right.extend(inner.map(|k| [b[(k, j)], b[(k, next)]]));
            }
        }
        for top in (0..m).step_by(ROWS) {
            let height = ROWS.min(m - top);
            for (j, column) in sums.as_flattened_mut().iter_mut().enumerate().take(n) {
                for (i, sum) in column[..height].iter_mut().enumerate() {
                    *sum = c[(top + i, j)];
                }
            }
            for first in (0..depth).step_by(DEPTH) {
                let left = &mut left[..DEPTH.min(depth - first)];
                for (k, column) in left.iter_mut().enumerate() {
                    for (i, value) in column[..height].iter_mut().enumerate() {
                        *value = f * a[(top + i, first + k)];
                    }
                }
                let right = right[first * sums.len()..].chunks_exact(left.len());
                for (sums, right) in sums.iter_mut().zip(right) {
                    add_columns(sums, left, right);
                }
            }
            for (j, column) in sums.as_flattened().iter().enumerate().take(n) {
                for (i, sum) in column[..height].iter().enumerate() {
                    c[(top + i, j)] = *sum;
                }
            }
        }
    }
}

/// Adds to two columns those of `left`, in their order, times both numbers of `right`.
#[inline(always)]
fn add_columns([one, two]: &mut [Column; 2], left: &[Column], right: &[[f64; 2]]) {
    let ((fours, rest), (by, by_rest)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    for ([v, w, x, y], by) in fours.iter().zip(by) {
        let [[p0, q0], [p1, q1], [p2, q2], [p3, q3]] = *by;
        for i in 0..ROWS {
            one[i] = (((one[i] + v[i] * p0) + w[i] * p1) + x[i] * p2) + y[i] * p3;
            two[i] = (((two[i] + v[i] * q0) + w[i] * q1) + x[i] * q2) + y[i] * q3;
        }
    }
    for (column, [p, q]) in rest.iter().zip(by_rest) {
        for i in 0..ROWS {
            one[i] += column[i] * p;
            two[i] += column[i] * q;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(rows: usize, columns: usize, seed: usize) -> DMatrix<f64> {
        DMatrix::from_fn(rows, columns, |i, j| {
            libm::sin((1 + seed + 7 * i + 13 * j * j) as f64)
        })
    }

    /// C + f·A·B by three loops.
    fn by_loops(c: &DMatrix<f64>, f: f64, a: &DMatrix<f64>, b: &DMatrix<f64>) -> DMatrix<f64> {
        DMatrix::from_fn(c.nrows(), c.ncols(), |i, j| {
            (0..a.ncols()).fold(c[(i, j)], |sum, k| sum + f * a[(i, k)] * b[(k, j)])
        })
    }

    #[test]
    fn it_gives_the_bits_of_three_loops() {
        let edges = [0, 1, 2, 13, ROWS + 1];
        let shapes = edges.iter().flat_map(|m| edges.map(|n| (*m, n)));
        for (m, n) in shapes.chain([(2 * ROWS + 3, 6), (9, 31)]) {
            for depth in [0, 1, 7, DEPTH, 2 * DEPTH + 3] {
                let (a, b) = (matrix(m, depth, 1), matrix(depth, n, 2));
                let zeros = DMatrix::zeros(m, n);
                let found = product(&a, &b);
                assert!(found == by_loops(&zeros, 1.0, &a, &b), "{m} {depth} {n}");
                let c = matrix(m, n, 3);
                let mut found = c.clone();
                add_product(&mut found, -1.0, &a, &b);
                assert!(found == by_loops(&c, -1.0, &a, &b), "{m} {depth} {n}");
            }
        }
    }

    #[test]
    fn parts_of_matrices_are_multiplied_in_place() {
        let (a, b) = (matrix(30, 20, 1), matrix(20, 25, 2));
        let mut c = matrix(40, 40, 3);
        let before = c.clone();
        let (left, right) = (a.view((3, 2), (20, 11)), b.view((5, 1), (11, 17)));
        add_product(&mut c.view_mut((10, 15), (20, 17)), -1.0, &left, &right);
        let inside = before.view((10, 15), (20, 17)).into_owned();
        let expected = by_loops(&inside, -1.0, &left.into_owned(), &right.into_owned());
        assert_eq!(c.view((10, 15), (20, 17)), expected);
        c.view_mut((10, 15), (20, 17)).copy_from(&inside);
        assert_eq!(c, before);
    }

    /// Infinite entries reach their own row and column alone.
    #[test]
    fn what_is_beyond_an_edge_reaches_nothing() {
        let (mut a, b) = (matrix(ROWS + 1, 5, 1), matrix(5, 3, 2));
        a[(ROWS, 2)] = f64::INFINITY;
        let found = product(&a, &b);
        assert!(found.rows(0, ROWS).iter().all(|x| x.is_finite()));
        assert!(found.row(ROWS).iter().all(|x| x.is_infinite()));
    }
}
