//! All eigenvalues of a dense symmetric matrix, and the eigenvectors of as many of the largest as are wanted.

use nalgebra::DMatrix;
use rayon::prelude::*;

/// Halvings of an interval that holds all eigenvalues: more than a double has bits.
const HALVINGS: u32 = 64;
/// Eigenvalues closer than this part of the norm have their vectors made orthogonal to each other.
const CLOSE: f64 = 1e-5;
/// Steps of inverse iteration: the first finds the vector, the others remove what is left of the start.
const STEPS: u32 = 3;
/// Numbers added up side by side. Fixed, so that sums do not depend on the processor.
const LANES: usize = 8;
/// Columns that are transformed together, so that a reflection is read once for all.
const TILE: usize = 8;

/// A symmetric matrix as QTQᵀ with T tridiagonal, and its eigenvalues.
///
/// # Method
/// Householder's reduction to tridiagonal form; every eigenvalue by bisection, with the number of negative pivots of T − x as the
/// number of eigenvalues below x; eigenvectors of T by inverse iteration from fixed starts, orthogonalised within clusters, and
/// carried back by the reflections. Beside [`symmetric_eigenpairs`](super::symmetric_eigenpairs), which turns all vectors in
/// every step, this costs a few seconds where that costs minutes (n = 2,000), and less where few vectors are wanted.
///
/// # Accuracy
/// Eigenvalues to a small multiple of n·2⁻⁵³‖A‖, vectors to that over the gap to the next eigenvalue, orthogonal to about 1e-10:
/// beyond 10⁻⁵ of the norm by the gap, within it by orthogonalisation.
///
/// The same bits for every number of threads.
///
/// # Source
/// G. H. Golub & C. F. Van Loan, Matrix Computations (2013), 8.3.1 and 8.4; the care with clusters is that of J. H. Wilkinson,
/// The Algebraic Eigenvalue Problem (1965), ch. 5.
#[derive(Clone, Debug)]
pub struct Spectrum {
    /// The diagonal of T.
    diagonal: Vec<f64>,
    /// Beside it.
    beside: Vec<f64>,
    /// v of each reflection I − βvvᵀ, which leaves the first k + 1 coordinates alone.
    reflections: Vec<(f64, Vec<f64>)>,
    /// Descending.
    values: Vec<f64>,
}

impl Spectrum {
    /// That of a symmetric matrix; the lower triangle counts.
    ///
    /// # Cost
    /// 4n³/3 multiplications and additions, side by side; memory for two matrices.
    ///
    /// # Panics
    /// If the matrix is not square. A matrix that is not finite has a spectrum that is not.
    #[must_use]
    pub fn of(matrix: &DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        assert_eq!(n, matrix.ncols(), "a square matrix");
        let mut spectrum = Self::tridiagonal(matrix);
        let (low, high) = spectrum.interval();
        let values = (0..n)
            .into_par_iter()
            .map(|rank| spectrum.bisect(n - 1 - rank, (low, high)));
        spectrum.values = values.collect();
        spectrum
    }

    /// The same where only the `count` largest eigenvalues are found, by as much less work as they are fewer.
    ///
    /// # Panics
    /// If the matrix is not square or has fewer rows than `count`.
    #[must_use]
    pub fn leading(matrix: &DMatrix<f64>, count: usize) -> Self {
        assert!(count <= matrix.nrows(), "no more eigenvalues than rows");
        assert!(matrix.is_square(), "a square matrix");
        let mut spectrum = Self::tridiagonal(matrix);
        spectrum.find(count);
        spectrum
    }

    /// The same where only eigenvalues above a bound are found, which may depend on the largest eigenvalue.
    ///
    /// # Panics
    /// If the matrix is not square or has no rows.
    #[must_use]
    pub fn above(matrix: &DMatrix<f64>, bound: impl FnOnce(f64) -> f64) -> Self {
        assert!(matrix.is_square() && matrix.nrows() > 0, "a square matrix");
        let mut spectrum = Self::tridiagonal(matrix);
        spectrum.find(1);
        let n = matrix.nrows();
        spectrum.find(n - spectrum.below(bound(spectrum.values[0])));
        spectrum
    }

    /// Finds the `count` largest eigenvalues, one after the other.
    fn find(&mut self, count: usize) {
        let (n, interval) = (self.diagonal.len(), self.interval());
        self.values = (0..count)
            .map(|rank| self.bisect(n - 1 - rank, interval))
            .collect();
    }

    /// The eigenvalues, descending: all, or as many as were asked for.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Householder's reduction. The change that one reflection makes and the product that the next needs are made in one pass.
    fn tridiagonal(matrix: &DMatrix<f64>) -> Self {
        let n = matrix.nrows();
        let (mut diagonal, mut beside) = (Vec::with_capacity(n), Vec::with_capacity(n));
        let mut reflections = Vec::with_capacity(n);
        // Row i is the part of row i that the next reflections change; the upper triangle follows the lower.
        let mut rows: Vec<Vec<f64>> = (0..n)
            .map(|i| (0..n).map(|j| matrix[(i.max(j), i.min(j))]).collect())
            .collect();
        // The last change: A ← A − vwᵀ − wvᵀ, with an entry per row that is left.
        let (mut v, mut w) = (vec![0.0; n], vec![0.0; n]);
        for k in 0..n {
            let mut first = rows.remove(0);
            let at = first.len() - v.len();
            for (entry, (vj, wj)) in first[at..].iter_mut().zip(v.iter().zip(&w)) {
                *entry -= v[0] * wj + w[0] * vj;
            }
            diagonal.push(first[at]);
            let below = &first[at + 1..];
            if k + 1 == n {
                break;
            }
            let (beta, head, next) = reflection(below);
            beside.push(head);
            let (old_v, old_w) = (&v[1..], &w[1..]);
            let product: Vec<f64> = rows
                .par_iter_mut()
                .with_min_len(16)
                .zip(old_v.par_iter().zip(old_w))
                .map(|(row, (vi, wi))| {
                    let tail = row.len() - next.len();
                    changed_product(&mut row[tail..], (*vi, *wi), (old_v, old_w), &next)
                })
                .collect();
            let scaled: Vec<f64> = product.iter().map(|x| beta * x).collect();
            let half = 0.5 * beta * dot(&scaled, &next);
            let turned = scaled.iter().zip(&next).map(|(p, v)| p - half * v);
            w = turned.collect();
            v.clone_from(&next);
            reflections.push((beta, next));
        }
        Self {
            diagonal,
            beside,
            reflections,
            values: Vec::new(),
        }
    }

    /// An interval that holds all eigenvalues (Gershgorin).
    fn interval(&self) -> (f64, f64) {
        let n = self.diagonal.len();
        let reach = |i: usize| {
            let left = i.checked_sub(1).map_or(0.0, |i| self.beside[i].abs());
            left + self.beside.get(i).map_or(0.0, |e| e.abs())
        };
        let ends = (0..n).map(|i| (self.diagonal[i] - reach(i), self.diagonal[i] + reach(i)));
        let (low, high) = ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), (c, d)| {
            (a.min(c), b.max(d))
        });
        let slack = f64::EPSILON * low.abs().max(high.abs()) * n as f64;
        (low - slack, high + slack)
    }

    /// Eigenvalues of T below x: as many as T − x = LDLᵀ has negative pivots (Sylvester).
    fn below(&self, x: f64) -> usize {
        let mut count = 0;
        let mut pivot = 1.0_f64;
        let mut before = 0.0;
        for (i, d) in self.diagonal.iter().enumerate() {
            pivot = d - x - before * before / pivot;
            if pivot.abs() < f64::MIN_POSITIVE {
                pivot = -f64::MIN_POSITIVE;
            }
            count += usize::from(pivot < 0.0);
            before = self.beside.get(i).copied().unwrap_or(0.0);
        }
        count
    }

    /// The eigenvalue that has `rank` eigenvalues below it.
    fn bisect(&self, rank: usize, (mut low, mut high): (f64, f64)) -> f64 {
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            match self.below(middle) > rank {
                true => high = middle,
                false => low = middle,
            }
        }
        0.5 * (low + high)
    }

    /// Orthonormal eigenvectors of the `count` largest eigenvalues, n × `count`, in the order of [`Self::values`].
    ///
    /// # Cost
    /// About 2n² · `count` multiplications and additions, side by side.
    ///
    /// # Panics
    /// If there are fewer eigenvalues than `count`.
    #[must_use]
    pub fn vectors(&self, count: usize) -> DMatrix<f64> {
        let n = self.diagonal.len();
        assert!(
            count <= self.values.len(),
            "no more eigenvectors than eigenvalues"
        );
        let norm = self.values.first().map_or(0.0, |top| top.abs());
        let norm = norm.max(self.values.last().map_or(0.0, |last| last.abs()));
        let mut clusters: Vec<std::ops::Range<usize>> = Vec::new();
        for j in 0..count {
            let near = j > 0 && self.values[j - 1] - self.values[j] <= CLOSE * norm;
            match clusters.last_mut() {
                Some(last) if near => last.end = j + 1,
                _ => clusters.push(j..j + 1),
            }
        }
        let found = clusters.into_par_iter().map(|cluster| {
            let mut vectors: Vec<Vec<f64>> = Vec::with_capacity(cluster.len());
            let mut above = f64::INFINITY;
            for j in cluster {
                // Equal eigenvalues are told apart, so that their vectors are.
                let value = self.values[j].min(above - 4.0 * f64::EPSILON * norm);
                above = value;
                let vector = self.inverse_iteration(value, j as u64, norm, &vectors);
                vectors.push(vector);
            }
            vectors
        });
        let mut columns: Vec<Vec<f64>> = found.flatten_iter().collect();
        columns.par_chunks_mut(TILE).for_each(|tile| {
            for (k, (beta, v)) in self.reflections.iter().enumerate().rev() {
                for column in tile.iter_mut() {
                    let rest = &mut column[k + 1..];
                    let factor = beta * dot(v, rest);
                    for (x, v) in rest.iter_mut().zip(v) {
                        *x -= factor * v;
                    }
                }
            }
        });
        DMatrix::from_iterator(n, count, columns.into_iter().flatten())
    }

    /// An eigenvector of T for this eigenvalue, orthogonal to these others of its cluster.
    fn inverse_iteration(
        &self,
        value: f64,
        number: u64,
        norm: f64,
        others: &[Vec<f64>],
    ) -> Vec<f64> {
        let factors = Factors::of(&self.diagonal, &self.beside, value, norm);
        let mut state = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut x: Vec<f64> = self.diagonal.iter().map(|_| random()).collect();
        for _ in 0..STEPS {
            factors.solve(&mut x);
            // A solution is as long as the matrix is singular: first to a length at which squares do not overflow.
            let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            scale(&mut x, largest);
            for _ in 0..2 {
                for other in others {
                    let along = dot(other, &x);
                    x.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
                }
            }
            let length = dot(&x, &x).sqrt();
            scale(&mut x, length);
        }
        x
    }
}

/// Divides by a positive number.
fn scale(x: &mut [f64], by: f64) {
    if by > 0.0 {
        x.iter_mut().for_each(|x| *x /= by);
    }
}

/// β, the new first entry, and v of the reflection I − βvvᵀ that makes all entries of x but the first vanish.
fn reflection(x: &[f64]) -> (f64, f64, Vec<f64>) {
    let largest = x.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let rest = x[1..].iter().any(|x| *x != 0.0);
    if !rest || largest == 0.0 {
        return (0.0, x[0], vec![0.0; x.len()]);
    }
    let mut v: Vec<f64> = x.iter().map(|x| x / largest).collect();
    let length = dot(&v, &v).sqrt();
    let head = if v[0] > 0.0 { -length } else { length };
    v[0] -= head;
    let beta = 2.0 / dot(&v, &v);
    (beta, head * largest, v)
}

/// row ← row − v_i w − w_i v, and the product of the changed row with `next`.
fn changed_product(
    row: &mut [f64],
    (vi, wi): (f64, f64),
    (v, w): (&[f64], &[f64]),
    next: &[f64],
) -> f64 {
    let n = row.len();
    let (row, v, w, next) = (&mut row[..n], &v[..n], &w[..n], &next[..n]);
    let mut sums = [0.0; LANES];
    let whole = n - n % LANES;
    for at in (0..whole).step_by(LANES) {
        let (row, v) = (&mut row[at..at + LANES], &v[at..at + LANES]);
        let (w, next) = (&w[at..at + LANES], &next[at..at + LANES]);
        for lane in 0..LANES {
            row[lane] -= vi * w[lane] + wi * v[lane];
            sums[lane] += row[lane] * next[lane];
        }
    }
    for at in whole..n {
        row[at] -= vi * w[at] + wi * v[at];
        sums[at - whole] += row[at] * next[at];
    }
    sums.iter().sum()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; LANES];
    let (wide_a, wide_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let (rest_a, rest_b) = (wide_a.remainder(), wide_b.remainder());
    for (a, b) in wide_a.zip(wide_b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    for (sum, (a, b)) in sums.iter_mut().zip(rest_a.iter().zip(rest_b)) {
        *sum += a * b;
    }
    sums.iter().sum()
}

/// T − x = PLU with row exchanges: U has two diagonals above its own.
struct Factors {
    /// The rows of U.
    upper: Vec<[f64; 3]>,
    /// What a row takes of the one before, and whether the two were exchanged first.
    lower: Vec<(f64, bool)>,
}

impl Factors {
    fn of(diagonal: &[f64], beside: &[f64], x: f64, norm: f64) -> Self {
        let n = diagonal.len();
        let tiny = (f64::EPSILON * norm).max(f64::MIN_POSITIVE);
        let e = |i: usize| beside.get(i).copied().unwrap_or(0.0);
        let mut upper = Vec::with_capacity(n);
        let mut lower = Vec::with_capacity(n);
        let mut row = [diagonal[0] - x, e(0), 0.0];
        for (i, at) in diagonal.iter().enumerate().skip(1) {
            let below = [e(i - 1), at - x, e(i)];
            let exchanged = below[0].abs() > row[0].abs();
            let (top, under) = if exchanged {
                (below, row)
            } else {
                (row, below)
            };
            let pivot = if top[0] == 0.0 { tiny } else { top[0] };
            let factor = under[0] / pivot;
            upper.push([pivot, top[1], top[2]]);
            lower.push((factor, exchanged));
            row = [under[1] - factor * top[1], under[2] - factor * top[2], 0.0];
        }
        let last = if row[0].abs() < tiny { tiny } else { row[0] };
        upper.push([last, 0.0, 0.0]);
        Self { upper, lower }
    }

    fn solve(&self, x: &mut [f64]) {
        for (i, (factor, exchanged)) in self.lower.iter().enumerate() {
            if *exchanged {
                x.swap(i, i + 1);
            }
            x[i + 1] -= factor * x[i];
        }
        let n = x.len();
        for i in (0..n).rev() {
            let [pivot, one, two] = self.upper[i];
            let after = |k: usize| x.get(i + k).copied().unwrap_or(0.0);
            x[i] = (x[i] - one * after(1) - two * after(2)) / pivot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn random(n: usize, mut state: u64) -> DMatrix<f64> {
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut a = DMatrix::zeros(n, n);
        for i in 0..n {
            for j in 0..=i {
                let x = next();
                a[(i, j)] = x;
                a[(j, i)] = x;
            }
        }
        a
    }

    /// ‖AV − VΛ‖ and ‖VᵀV − I‖ relative to ‖A‖, and the eigenvalues of another method.
    fn check(a: &DMatrix<f64>) {
        let n = a.nrows();
        let spectrum = Spectrum::of(a);
        let norm = spectrum
            .values
            .iter()
            .fold(1e-300_f64, |m, x| m.max(x.abs()));
        let (other, _) = super::super::symmetric_eigenpairs(a);
        for (ours, theirs) in spectrum.values().iter().zip(&other) {
            assert!(
                (ours - theirs).abs() <= 1e-13 * norm * n as f64,
                "{ours} {theirs}"
            );
        }
        for count in [n, n / 2, 1] {
            let v = spectrum.vectors(count);
            let values =
                DMatrix::from_fn(
                    count,
                    count,
                    |i, j| if i == j { spectrum.values[i] } else { 0.0 },
                );
            let residual = (a * &v - &v * values).norm();
            assert!(residual <= 1e-11 * norm * n as f64, "{n}: {residual}");
            let skew = (v.tr_mul(&v) - DMatrix::identity(count, count)).norm();
            assert!(skew <= 1e-9 * n as f64, "{n}: {skew}");
        }
    }

    /// The first eigenvalues are the same bits, their vectors the same to rounding, and a bound takes what is above it.
    #[test]
    fn a_part_of_the_spectrum_is_that_part_of_it() {
        for n in [1, 2, 33, 120] {
            let a = random(n, 50 + n as u64);
            let all = Spectrum::of(&a);
            for count in [1, n.div_ceil(3), n] {
                let part = Spectrum::leading(&a, count);
                assert_eq!(part.values(), &all.values()[..count]);
                let along = part.vectors(count).tr_mul(&all.vectors(count));
                assert!((along.abs() - DMatrix::identity(count, count)).amax() < 1e-8);
                let between = |largest: f64| {
                    assert_eq!(largest, all.values()[0]);
                    all.values().get(count).map_or(f64::NEG_INFINITY, |next| {
                        0.5 * (all.values()[count - 1] + next)
                    })
                };
                assert_eq!(Spectrum::above(&a, between).values(), part.values());
            }
            assert!(
                Spectrum::above(&a, |largest| largest + 1.0)
                    .values()
                    .is_empty()
            );
        }
    }

    #[test]
    fn pairs_of_matrices_with_and_without_equal_eigenvalues() {
        for n in [1, 2, 3, 10, 33, 120] {
            check(&random(n, 7 + n as u64));
        }
        // Multiplicities: a projection, the identity, zero, and blocks that do not meet.
        let v = random(40, 3).qr().q();
        let half = v.columns(0, 15);
        check(&(half * half.transpose()));
        check(&DMatrix::identity(9, 9));
        check(&DMatrix::zeros(5, 5));
        let mut blocks = DMatrix::zeros(20, 20);
        blocks.view_mut((0, 0), (10, 10)).copy_from(&random(10, 5));
        blocks
            .view_mut((10, 10), (10, 10))
            .copy_from(&random(10, 5));
        check(&blocks);
        // A few large eigenvalues over many small ones, and huge entries.
        let mut spiked = random(60, 11);
        for i in 0..60 {
            for j in 0..60 {
                spiked[(i, j)] += 100.0;
            }
        }
        check(&spiked);
        check(&(spiked * 1e150));
    }

    #[test]
    fn the_number_of_threads_leaves_no_trace() {
        let a = random(90, 1);
        let pairs = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| {
                let spectrum = Spectrum::of(&a);
                let vectors = spectrum.vectors(50);
                (spectrum.values, vectors)
            })
        };
        assert_eq!(pairs(1), pairs(3));
    }
}
