//! How much of the variance of a matrix of numbers a basis captures: a measurement on the raw data, which no ε covers.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::Serialize;

use crate::data::centred;
use crate::linalg::{Block, PackedTriangle, SparseRows, TopEigenvectors, leading_eigenvectors};
use crate::scenario::Experiment;
use crate::scenario::graph::is_of_vertices;

/// Columns beyond which the matrix of products is not formed.
const MOST_COLUMNS: usize = 4096;

/// Coordinates of the triangle that one thread makes at a time.
const PIECE: usize = 4096;

/// What the first k columns of a basis capture of S.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct VariancePart {
    /// k.
    pub components: usize,
    /// tr(X_kᵀ S X_k) over the sum of the k largest eigenvalues of S: 1 for the exact eigenvectors.
    pub captured: f64,
    /// tr(X_kᵀ S X_k)/tr(S).
    pub explained: f64,
}

/// The variance of this run, of the trusted curator's and of the one without privacy, for k = 1 up to the rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VarianceSummary {
    /// This run.
    pub this_run: Vec<VariancePart>,
    /// The trusted curator's; null where it has no basis.
    pub central: Option<Vec<VariancePart>>,
    /// The one without privacy; null where it has no basis.
    pub non_private: Option<Vec<VariancePart>>,
}

/// S = Σ (x − x̄)ᵀ(x − x̄) over all rows x that are there, as public constants prepare them: neither clipped to a length nor
/// centred by anything but their true mean. Of ratings that are kept as numbers S = Σ xᵀx, as they are centred already; of a graph S = A²,
/// whose eigenvalues are the squares of A's, and of a matrix M whose rows and columns are the peers S = MᵀM, on the side of the columns.
#[derive(Clone, Debug)]
pub struct Variance {
    dimension: usize,
    triangle: Vec<f64>,
    vectors: Block,
    values: Vec<f64>,
    total: f64,
}

impl Variance {
    /// Why S is not formed, where it would take more than the run that it measures.
    pub(crate) fn out_of_reach(experiment: &Experiment) -> Option<String> {
        let columns = experiment.user_rows().dimension();
        (columns > MOST_COLUMNS).then(|| {
            format!("variance is measured on at most {MOST_COLUMNS} columns, these are {columns}")
        })
    }

    /// That of an experiment on numbers.
    ///
    /// # Errors
    /// A reason, where S is out of reach, the data are no numbers, or S has a rank below the experiment's.
    ///
    /// # Cost
    /// O(entries · n) once, and 4 n² bytes.
    pub fn of(experiment: &Experiment) -> Result<Self, String> {
        if let Some(why) = Self::out_of_reach(experiment) {
            return Err(why);
        }
        let Some(samples) = experiment.samples() else {
            return Err("the data are interactions, not numbers".to_owned());
        };
        let is_matrix = experiment.config().data.format().ratings().is_none();
        let is_centred = is_matrix && !is_of_vertices(experiment.config());
        let rows = match is_centred {
            true => Cow::Owned(centred(samples, &mean(samples))),
            false => Cow::Borrowed(samples),
        };
        Self::of_rows(&rows, experiment.config().algorithm.table().rank())
    }

    fn of_rows(rows: &SparseRows, rank: usize) -> Result<Self, String> {
        let n = rows.dimension();
        if rank == 0 || rank > n {
            return Err(format!("{n} columns have no {rank} leading eigenvectors"));
        }
        let mut triangle = vec![0.0; PackedTriangle::coordinates(n)];
        triangle
            .par_chunks_mut(PIECE)
            .enumerate()
            .for_each(|(piece, out)| {
                let start = piece * PIECE;
                rows.add_gram_triangle(start..start + out.len(), out);
            });
        let total: f64 = (0..n)
            .map(|i| triangle[PackedTriangle::row_start(n, i)])
            .sum();
        let matrix = PackedTriangle::new(n, &triangle);
        let largest = matrix.max_entry();
        if !(largest > 0.0 && total.is_finite()) {
            return Err("the numbers do not vary".to_owned());
        }
        let vectors = leading_eigenvectors(n, rank, |x| matrix.times(&(x / largest)));
        let values = quadratic(&matrix, &vectors);
        let found = values.iter().filter(|value| **value > 1e-10 * values[0]);
        let found = found.count();
        if found < rank {
            return Err(format!(
                "the matrix has rank {found}, so that its {rank} leading eigenvectors are not unique"
            ));
        }
        Ok(Self {
            dimension: n,
            vectors,
            values,
            total,
            triangle,
        })
    }

    /// The exact leading eigenvectors of S.
    #[must_use]
    pub fn top(&self) -> TopEigenvectors {
        TopEigenvectors {
            vectors: self.vectors.clone(),
            values: self.values.clone(),
            residual: 1e-11,
        }
    }

    /// What the first k columns of this basis capture, for k = 1 up to all of them.
    #[must_use]
    pub fn parts(&self, basis: &Block) -> Vec<VariancePart> {
        let matrix = PackedTriangle::new(self.dimension, &self.triangle);
        let found = quadratic(&matrix, basis);
        let (mut captured, mut possible) = (0.0, 0.0);
        let pairs = found.iter().zip(&self.values);
        pairs
            .zip(1..)
            .map(|((found, value), components)| {
                captured += found;
                possible += value;
                VariancePart {
                    components,
                    captured: captured / possible,
                    explained: captured / self.total,
                }
            })
            .collect()
    }
}

/// vᵀ S v of every column.
fn quadratic(matrix: &PackedTriangle<'_>, basis: &Block) -> Vec<f64> {
    let x = basis.to_matrix();
    let product = matrix.times(&x);
    let pairs = x.column_iter().zip(product.column_iter());
    pairs.map(|(a, b)| a.dot(&b)).collect()
}

/// The mean of the rows that are there.
fn mean(rows: &SparseRows) -> Vec<f64> {
    let mut sum = vec![0.0; rows.dimension()];
    let mut filled = 0.0_f64;
    for i in 0..rows.len() {
        let (columns, values) = rows.row(i);
        filled += f64::from(u8::from(!columns.is_empty()));
        for (&column, value) in columns.iter().zip(values) {
            sum[column as usize] += value;
        }
    }
    sum.iter().map(|x| x / filled.max(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, SymmetricEigen};

    #[test]
    fn parts_are_those_of_a_dense_decomposition() {
        let mut rows = SparseRows::new(5);
        for u in 0..40_u32 {
            let entry = |c: u32| f64::from((u * 7 + c * c * 3 + u * c) % 11) - 2.0 * f64::from(c);
            rows.push_row((0..5).map(|c| (c, entry(c)))).expect("valid");
        }
        rows.push_row([]).expect("an empty slot");
        let x = DMatrix::from_fn(40, 5, |i, j| rows.row(i).1[j]);
        let middle = x.row_mean();
        let z = DMatrix::from_fn(40, 5, |i, j| x[(i, j)] - middle[j]);
        let s = z.transpose() * &z;
        let mut values: Vec<f64> = SymmetricEigen::new(s.clone())
            .eigenvalues
            .iter()
            .copied()
            .collect();
        values.sort_by(|a, b| b.total_cmp(a));
        let centred = centred(&rows, &mean(&rows));
        let variance = Variance::of_rows(&centred, 3).expect("rank 5");
        for (found, expected) in variance.top().values.iter().zip(&values) {
            assert!((found / expected - 1.0).abs() < 1e-10);
        }
        let exact = variance.parts(&variance.top().vectors);
        assert!(exact.iter().all(|part| (part.captured - 1.0).abs() < 1e-12));
        let unit = Block::from_values(5, 2, vec![0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let parts = variance.parts(&unit);
        assert!((parts[0].explained - s[(3, 3)] / s.trace()).abs() < 1e-12);
        let two = (s[(3, 3)] + s[(0, 0)]) / (values[0] + values[1]);
        assert!((parts[1].captured - two).abs() < 1e-12 && two < 1.0);
        assert_eq!(parts[1].components, 2);
        assert!(Variance::of_rows(&centred, 6).is_err());
        let mut flat = SparseRows::new(2);
        flat.push_row([(0, 0.0), (1, 0.0)]).expect("valid");
        assert!(Variance::of_rows(&flat, 1).is_err());
    }
}
