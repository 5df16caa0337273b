//! Reference eigenvectors and distances between subspaces, for metrics and tests; no peer uses these.

use nalgebra::SymmetricEigen;

use super::eigen::descending;
use super::lanczos;
use super::{Block, NotFullRank, SparseRows, orthonormalise, start_block};
use crate::vocabulary::Seed;

/// The leading eigenvectors of A = RᵀR and how well they are known.
#[derive(Clone, Debug)]
pub struct TopEigenvectors {
    /// n × p, orthonormal columns, leading eigenvector first.
    pub vectors: Block,
    /// The p eigenvalues, descending.
    pub values: Vec<f64>,
    /// The largest residual ‖Av − λv‖₂ / λ₁ over the p pairs.
    pub residual: f64,
}

/// Errors of computing reference eigenvectors.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EigenError {
    /// The iteration ran out of steps.
    #[error(
        "the reference eigenvectors did not converge in {iterations} iterations (residual {residual:e}, wanted {wanted:e})"
    )]
    NotConverged {
        /// Steps taken.
        iterations: usize,
        /// The residual reached.
        residual: f64,
        /// The residual asked for.
        wanted: f64,
    },
    /// The matrix has rank below the number of vectors asked for.
    #[error("the matrix has no {rank} leading eigenvectors")]
    RankTooLow {
        /// Number of eigenvectors asked for.
        rank: usize,
        /// What went wrong inside.
        #[source]
        source: NotFullRank,
    },
}

const MAX_ITERATIONS: usize = 2000;
/// Entries of the oversampled block above which block Lanczos is used.
const LARGE: usize = 1 << 18;
const RESIDUAL: f64 = 1e-11;

/// The `rank` leading eigenvectors of A = RᵀR by oversampled subspace iteration with Rayleigh–Ritz.
///
/// The block is at least twice as wide as asked, so convergence depends on the ratio of eigenvalue
/// `2·rank + 8` to eigenvalue `rank`; it stops when every residual is below 1e-11 of the largest eigenvalue.
///
/// Where that block would have more than 2¹⁸ entries, block Lanczos with thick restarts finds the same to the
/// same residual: Gowalla's 40,981 items and 256 eigenvectors are within reach.
///
/// # Errors
/// [`EigenError::NotConverged`] after 2,000 iterations; [`EigenError::RankTooLow`] if R has lower rank.
///
/// # Cost
/// O(entries · p + n p²) per iteration.
///
/// # Source
/// Subspace iteration with projection: Y. Saad, Numerical Methods for Large Eigenvalue Problems (2011), ch. 5.
pub fn top_eigenvectors(rows: &SparseRows, rank: usize) -> Result<TopEigenvectors, EigenError> {
    let n = rows.dimension();
    let width = (2 * rank + 8).min(n).max(rank);
    if n * width > LARGE && 8 * width <= n {
        return by_lanczos(rows, rank);
    }
    subspace_iteration(rows, rank, width)
}

fn by_lanczos(rows: &SparseRows, rank: usize) -> Result<TopEigenvectors, EigenError> {
    let found = lanczos::rows::leading(rows, rank, RESIDUAL)
        .map_err(|source| EigenError::RankTooLow { rank, source })?;
    let pairs = found.pairs;
    let residual = pairs.residual;
    if !found.converged {
        return Err(EigenError::NotConverged {
            iterations: found.steps,
            residual,
            wanted: RESIDUAL,
        });
    }
    Ok(TopEigenvectors {
        vectors: pairs.vectors,
        values: pairs.values[..rank].to_vec(),
        residual,
    })
}

fn subspace_iteration(
    rows: &SparseRows,
    rank: usize,
    width: usize,
) -> Result<TopEigenvectors, EigenError> {
    let n = rows.dimension();
    let too_low = |source| EigenError::RankTooLow { rank, source };
    let mut basis = start_block(&Seed::from_u64(0), n, width).map_err(too_low)?;
    let mut residual = f64::INFINITY;
    for _ in 0..MAX_ITERATIONS {
        let product = rows.gram_product(&basis);
        let projected = basis.transpose_times(&product);
        let (values, rotation) = descending(&projected, width);
        let ritz = basis.times(&rotation);
        let image = product.times(&rotation);
        residual = (0..rank)
            .map(|j| {
                let squared: f64 = (0..n)
                    .map(|i| (image.row(i)[j] - values[j] * ritz.row(i)[j]).powi(2))
                    .sum();
                squared.sqrt() / values[0]
            })
            .fold(0.0, f64::max);
        if residual <= RESIDUAL {
            let vectors = Block::from_matrix(&ritz.to_matrix().columns(0, rank).into_owned());
            return Ok(TopEigenvectors {
                vectors,
                values: values[..rank].to_vec(),
                residual,
            });
        }
        basis = match orthonormalise(&image) {
            Ok(next) => next,
            // A of rank below the oversampled width: go on with the columns that carry something.
            Err(_) if rank < width => refresh(&image, &ritz).map_err(too_low)?,
            Err(source) => return Err(too_low(source)),
        };
    }
    Err(EigenError::NotConverged {
        iterations: MAX_ITERATIONS,
        residual,
        wanted: RESIDUAL,
    })
}

/// Orthonormalises `image` after adding a little of `ritz`, which has full rank.
fn refresh(image: &Block, ritz: &Block) -> Result<Block, NotFullRank> {
    let mut mended = image.clone();
    mended.add_scaled(1e-3 * image.norm().max(1e-300), ritz);
    orthonormalise(&mended)
}

/// ‖(I − XXᵀ)U‖₂: the sine of the largest principal angle from span(U) to span(X).
///
/// # Shapes and units
/// Both blocks are n × p with orthonormal columns; the result lies in [0, 1] up to rounding.
///
/// # Panics
/// If the row counts differ.
#[must_use]
pub fn subspace_distance(x: &Block, u: &Block) -> f64 {
    let overlap = x.transpose_times(u);
    let mut outside = u.clone();
    outside.add_scaled(-1.0, &x.times(&overlap));
    // The largest eigenvalue of the p × p Gram matrix is known to relative precision, and so is its root.
    let gram = outside.transpose_times(&outside);
    SymmetricEigen::new(gram).eigenvalues.max().max(0.0).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvectors_equal_a_dense_decomposition() {
        let mut rows = SparseRows::new(12);
        for i in 0..40_u32 {
            let entries: Vec<(u32, f64)> = (0..12)
                .filter(|c| (i * 7 + c * c * 3 + i * c) % 5 < 2)
                .map(|c| (c, 1.0 + f64::from(i % 3)))
                .collect();
            rows.push_row(entries).expect("ascending");
        }
        let dense = {
            let columns: Vec<_> = (0..12)
                .map(|j| {
                    let mut e = Block::zeros(12, 1);
                    e.values_mut()[j] = 1.0;
                    rows.gram_product(&e).into_values()
                })
                .collect();
            nalgebra::DMatrix::from_fn(12, 12, |i, j| columns[j][i])
        };
        let eigen = SymmetricEigen::new(dense);
        let mut order: Vec<usize> = (0..12).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        let expected = Block::from_matrix(&eigen.eigenvectors.select_columns(&order[..3]));
        let top = top_eigenvectors(&rows, 3).expect("converges");
        assert!(subspace_distance(&top.vectors, &expected) < 1e-9);
        for (value, &index) in top.values.iter().zip(&order) {
            assert!((value - eigen.eigenvalues[index]).abs() < 1e-9 * top.values[0]);
        }
    }

    /// 900 columns of many degrees, or of rank 12 only.
    fn large(rank_limit: u32) -> SparseRows {
        let mut rows = SparseRows::new(900);
        for i in 0..400_u32 {
            let i = i % rank_limit;
            let entries: Vec<(u32, f64)> = (0..900)
                .filter(|c| (i * 7 + c * c * 3 + i * c) % (11 + c / 20) < 2)
                .map(|c| (c, 1.0 + f64::from(i % 3)))
                .collect();
            rows.push_row(entries).expect("ascending");
        }
        rows
    }

    #[test]
    fn block_lanczos_agrees_with_subspace_iteration() {
        let rows = large(400);
        let expected = subspace_iteration(&rows, 10, 40).expect("converges");
        let found = by_lanczos(&rows, 10).expect("converges");
        for (a, b) in found.values.iter().zip(&expected.values) {
            assert!((a - b).abs() < 1e-10 * expected.values[0], "{a} {b}");
        }
        let distance = subspace_distance(&found.vectors, &expected.vectors);
        assert!(distance < 1e-8, "{distance}");
        let gram = found.vectors.transpose_times(&found.vectors);
        assert!((gram - nalgebra::DMatrix::identity(10, 10)).abs().max() < 1e-12);
    }

    #[test]
    fn block_lanczos_goes_on_where_a_space_is_invariant() {
        let rows = large(12);
        let found = by_lanczos(&rows, 12).expect("converges");
        let expected = subspace_iteration(&rows, 12, 40).expect("converges");
        for (a, b) in found.values.iter().zip(&expected.values) {
            assert!((a - b).abs() < 1e-10 * expected.values[0], "{a} {b}");
        }
    }

    #[test]
    fn distance_of_known_subspaces() {
        let e = |i: usize| {
            let mut b = Block::zeros(3, 1);
            b.values_mut()[i] = 1.0;
            b
        };
        assert_eq!(subspace_distance(&e(0), &e(0)), 0.0);
        assert!((subspace_distance(&e(0), &e(1)) - 1.0).abs() < 1e-15);
        let tilted = Block::from_values(3, 1, vec![0.6, 0.8, 0.0]);
        assert!((subspace_distance(&e(0), &tilted) - 0.8).abs() < 1e-15);
    }
}
