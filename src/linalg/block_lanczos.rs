//! Leading eigenvectors of large sparse Gram matrices: block Lanczos with full reorthogonalisation.

use nalgebra::{DMatrix, SymmetricEigen};

use super::subspace::{EigenError, RESIDUAL, TopEigenvectors};
use super::{Block, NotFullRank, SparseRows, orthonormalise, start_block};
use crate::vocabulary::Seed;

/// Columns of one block: wide enough for matrix products, narrow enough for a Krylov space of high degree.
const WIDTH: usize = 16;
/// Restarts before giving up.
const MAX_RESTARTS: usize = 60;

/// A new block whose part outside the space so far is smaller than this of its norm says that the space is
/// invariant.
const DEPENDENT: f64 = 1e-9;

/// An orthonormal basis Q of a Krylov space, stored as Qᵀ so that both of its products are matrix products
/// with contiguous columns, and T = QᵀAQ.
struct Krylov {
    /// Rows are basis vectors; the first `size` count.
    transposed: DMatrix<f64>,
    projected: DMatrix<f64>,
    size: usize,
    /// Random blocks drawn so far, each from a seed of its own.
    drawn: u64,
}

impl Krylov {
    fn new(most: usize, n: usize) -> Self {
        Self {
            transposed: DMatrix::zeros(most, n),
            projected: DMatrix::zeros(most, most),
            size: 0,
            drawn: 0,
        }
    }

    /// A random block outside the space.
    fn fresh(&mut self) -> Result<Block, NotFullRank> {
        let n = self.transposed.ncols();
        let block = start_block(&Seed::from_u64(self.drawn), n, WIDTH)?;
        self.drawn += 1;
        let mut w = as_transposed(&block);
        self.take_out(&mut w);
        self.take_out(&mut w);
        orthonormalise(&Block::from_values(n, WIDTH, w.data.into()))
    }

    fn append(&mut self, block: &Block) {
        let width = block.columns();
        self.transposed
            .rows_mut(self.size, width)
            .copy_from(&as_transposed(block));
        self.size += width;
    }

    /// QᵀW, which is also taken out of W.
    fn take_out(&self, w: &mut DMatrix<f64>) -> DMatrix<f64> {
        let q = self.transposed.rows(0, self.size);
        let inside = q * w.transpose();
        w.gemm(-1.0, &inside.transpose(), &q, 1.0);
        inside
    }
}

/// Row-major n × b is column-major b × n: the same numbers.
fn as_transposed(block: &Block) -> DMatrix<f64> {
    DMatrix::from_column_slice(block.columns(), block.rows(), block.values())
}

/// The `rank` leading eigenvectors of A = RᵀR from Krylov spaces of dimension at most about 3·rank, restarted
/// with their best vectors until every residual is below 1e-11 of the largest eigenvalue.
///
/// Each new block is orthogonalised twice against all before it, so that T is known to working precision
/// and no eigenvalue appears twice.
///
/// # Errors
/// [`EigenError::NotConverged`] after 60 restarts; [`EigenError::RankTooLow`] if no start block exists.
///
/// # Cost
/// Per restart O(entries · rank) for the products and O(n rank²) as dense matrix products; 8 · 3 · rank · n
/// bytes for the basis.
///
/// # Source
/// Block Lanczos: G. H. Golub & R. Underwood (1977). Thick restart: K. Wu & H. Simon, SIAM J. Matrix Anal.
/// Appl. 22 (2000), written for blocks.
pub(super) fn top_eigenvectors(
    rows: &SparseRows,
    rank: usize,
) -> Result<TopEigenvectors, EigenError> {
    let n = rows.dimension();
    let too_low = |source| EigenError::RankTooLow { rank, source };
    let keep = rank + rank / 4 + WIDTH;
    // Below n, so that there is always a direction left to start from.
    let most = (keep + 2 * rank + 8 * WIDTH).min(n - WIDTH);
    let mut space = Krylov::new(most + WIDTH, n);
    let mut next = space.fresh().map_err(too_low)?;
    let mut residual = f64::INFINITY;
    let mut steps = 0;
    for _ in 0..MAX_RESTARTS {
        while space.size + WIDTH <= most {
            next = step(&mut space, rows, &next).map_err(too_low)?;
            steps += 1;
        }
        let (values, kept) = ritz(&space, keep);
        space.transposed.rows_mut(0, keep).copy_from(&kept);
        space.size = keep;
        space.projected.fill(0.0);
        for (j, &value) in values[..keep].iter().enumerate() {
            space.projected[(j, j)] = value;
        }
        let vectors = Block::from_values(n, rank, kept.rows(0, rank).clone_owned().data.into());
        residual = largest_residual(rows, &vectors, &values);
        if residual <= RESIDUAL {
            return Ok(TopEigenvectors {
                vectors,
                values: values[..rank].to_vec(),
                residual,
            });
        }
    }
    Err(EigenError::NotConverged {
        iterations: steps,
        residual,
        wanted: RESIDUAL,
    })
}

/// Appends a block to the space and returns the next: A times it, without what the space has already.
fn step(space: &mut Krylov, rows: &SparseRows, block: &Block) -> Result<Block, NotFullRank> {
    let (n, first) = (rows.dimension(), space.size);
    space.append(block);
    let mut w = as_transposed(&rows.gram_product(block));
    let norm = w.norm();
    let inside = space.take_out(&mut w);
    let again = space.take_out(&mut w);
    let column = inside + again;
    for j in 0..WIDTH {
        for i in 0..space.size {
            space.projected[(i, first + j)] = column[(i, j)];
            space.projected[(first + j, i)] = column[(i, j)];
        }
    }
    let outside = Block::from_values(n, WIDTH, w.data.into());
    // An invariant space has no next block of its own: go on in a fresh direction, which T shows as
    // uncoupled.
    if outside.norm() <= DEPENDENT * norm {
        return space.fresh();
    }
    match orthonormalise(&outside) {
        Ok(next) => {
            // Normalising small columns magnifies what rounding left of the space in them.
            let mut w = as_transposed(&next);
            space.take_out(&mut w);
            orthonormalise(&Block::from_values(n, WIDTH, w.data.into()))
        }
        Err(_) => space.fresh(),
    }
}

/// The Ritz values, descending, and the Ritz vectors of the first `keep`, as rows.
fn ritz(space: &Krylov, keep: usize) -> (Vec<f64>, DMatrix<f64>) {
    let m = space.size;
    let t = space.projected.view((0, 0), (m, m)).clone_owned();
    let eigen = SymmetricEigen::new((&t + t.transpose()) * 0.5);
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    let values = order.iter().map(|&i| eigen.eigenvalues[i]).collect();
    let rotation = eigen.eigenvectors.select_columns(&order[..keep]);
    (values, rotation.transpose() * space.transposed.rows(0, m))
}

/// The largest ‖Av − λv‖₂ / λ₁, from a product with A itself.
fn largest_residual(rows: &SparseRows, vectors: &Block, values: &[f64]) -> f64 {
    let image = rows.gram_product(vectors);
    let mut squared = vec![0.0; vectors.columns()];
    for i in 0..vectors.rows() {
        for (j, (a, v)) in image.row(i).iter().zip(vectors.row(i)).enumerate() {
            squared[j] += (a - values[j] * v).powi(2);
        }
    }
    squared.into_iter().fold(0.0, f64::max).sqrt() / values[0]
}
