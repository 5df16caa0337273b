//! Leading eigenvectors of large sparse Gram matrices: narrow blocks, thick restarts, products of matrices.

use std::convert::Infallible;

use nalgebra::DMatrix;

use super::super::eigen::descending;
use super::super::{
    Block, NotFullRank, SparseRows, add_product, orthonormalise, product, start_block,
};
use super::{Found, KrylovSpace, Look, Stopped, lanczos};
use crate::vocabulary::Seed;

/// Columns of one block: wide enough for matrix products, narrow enough for a Krylov space of high degree.
const WIDTH: usize = 16;
/// Restarts before giving up.
const MAX_RESTARTS: usize = 60;

/// A new block whose part outside the space so far is smaller than this of its norm says that the space is
/// invariant.
const DEPENDENT: f64 = 1e-9;

/// An orthonormal basis Q of a Krylov space of RᵀR, stored as Qᵀ so that both of its products are matrix products
/// with contiguous columns, and T = QᵀAQ.
struct Rows<'a> {
    rows: &'a SparseRows,
    rank: usize,
    /// Ritz vectors kept at a restart.
    keep: usize,
    /// Dimension at which the space is full, but for one block.
    most: usize,
    /// The residual that is good enough.
    wanted: f64,
    /// Qᵀ: rows are basis vectors; the first `size` count.
    transposed: DMatrix<f64>,
    projected: DMatrix<f64>,
    size: usize,
    /// The block to multiply next.
    newest: Block,
    /// Random blocks drawn so far, each from a seed of its own.
    drawn: u64,
}

impl<'a> Rows<'a> {
    fn new(rows: &'a SparseRows, rank: usize, wanted: f64) -> Result<Self, NotFullRank> {
        let n = rows.dimension();
        let keep = rank + rank / 4 + WIDTH;
        // Below n, so that there is always a direction left to start from.
        let most = (keep + 2 * rank + 8 * WIDTH).min(n - WIDTH);
        let mut space = Self {
            rows,
            rank,
            keep,
            most,
            wanted,
            transposed: DMatrix::zeros(most + WIDTH, n),
            projected: DMatrix::zeros(most + WIDTH, most + WIDTH),
            size: 0,
            newest: Block::zeros(n, WIDTH),
            drawn: 0,
        };
        space.newest = space.fresh()?;
        Ok(space)
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
        let inside = product(&q, &w.transpose());
        add_product(w, -1.0, &inside.transpose(), &q);
        inside
    }
}

/// Row-major n × b is column-major b × n: the same numbers.
fn as_transposed(block: &Block) -> DMatrix<f64> {
    DMatrix::from_column_slice(block.columns(), block.rows(), block.values())
}

impl KrylovSpace for Rows<'_> {
    type Vectors = Block;
    type Pairs = Pairs;
    type Error = NotFullRank;

    fn newest(&mut self) -> &Block {
        &self.newest
    }

    fn extend(&mut self, image: Block) -> Result<(), NotFullRank> {
        let (n, first) = (self.rows.dimension(), self.size);
        let block = std::mem::replace(&mut self.newest, Block::zeros(0, 0));
        self.append(&block);
        let mut w = as_transposed(&image);
        let norm = w.norm();
        let inside = self.take_out(&mut w);
        let again = self.take_out(&mut w);
        let column = inside + again;
        for j in 0..WIDTH {
            for i in 0..self.size {
                self.projected[(i, first + j)] = column[(i, j)];
                self.projected[(first + j, i)] = column[(i, j)];
            }
        }
        let outside = Block::from_values(n, WIDTH, w.data.into());
        // An invariant space has no next block of its own: go on in a fresh direction, which T shows as
        // uncoupled.
        self.newest = if outside.norm() <= DEPENDENT * norm {
            self.fresh()?
        } else if let Ok(next) = orthonormalise(&outside) {
            // Normalising small columns magnifies what rounding left of the space in them.
            let mut w = as_transposed(&next);
            self.take_out(&mut w);
            orthonormalise(&Block::from_values(n, WIDTH, w.data.into()))?
        } else {
            self.fresh()?
        };
        Ok(())
    }

    /// Looks when the space is full.
    fn look(&mut self) -> Look<Pairs> {
        if self.size + WIDTH <= self.most {
            return Look::Unfinished;
        }
        let m = self.size;
        let t = self.projected.view((0, 0), (m, m)).clone_owned();
        let (values, rotation) = descending(&t, self.keep);
        let kept = product(&rotation.transpose(), &self.transposed.rows(0, m));
        let best = kept.rows(0, self.rank).clone_owned();
        let vectors = Block::from_values(self.rows.dimension(), self.rank, best.data.into());
        let residual = largest_residual(self.rows, &vectors, &values);
        let pairs = Pairs {
            kept,
            values,
            vectors,
            residual,
        };
        if residual <= self.wanted {
            Look::Converged(pairs)
        } else {
            Look::Full(pairs)
        }
    }

    fn restart(&mut self, pairs: &Pairs) {
        self.transposed
            .rows_mut(0, self.keep)
            .copy_from(&pairs.kept);
        self.size = self.keep;
        self.projected.fill(0.0);
        for (j, &value) in pairs.values[..self.keep].iter().enumerate() {
            self.projected[(j, j)] = value;
        }
    }
}

/// Ritz pairs, the leading ones first.
pub(in crate::linalg) struct Pairs {
    /// As rows, those that a restart keeps.
    kept: DMatrix<f64>,
    /// All Ritz values, descending.
    pub(in crate::linalg) values: Vec<f64>,
    /// As columns, those that were asked for.
    pub(in crate::linalg) vectors: Block,
    /// The largest residual of those, relative to the largest Ritz value.
    pub(in crate::linalg) residual: f64,
}

/// The `rank` leading eigenvectors of A = RᵀR from Krylov spaces of dimension at most about 3·rank, restarted
/// with their best vectors until every residual is at most `wanted` of the largest eigenvalue.
///
/// Each new block is orthogonalised twice against all before it, so that T is known to working precision
/// and no eigenvalue appears twice.
///
/// # Errors
/// [`NotFullRank`] if no start block exists. After 60 restarts the pairs are not converged, and say so.
///
/// # Cost
/// Per restart O(entries · rank) for the products and O(n rank²) as dense matrix products; 8 · 3 · rank · n
/// bytes for the basis.
///
/// # Source
/// Block Lanczos: G. H. Golub & R. Underwood (1977). Thick restart: K. Wu & H. Simon, SIAM J. Matrix Anal.
/// Appl. 22 (2000), written for blocks.
pub(in crate::linalg) fn leading(
    rows: &SparseRows,
    rank: usize,
    wanted: f64,
) -> Result<Found<Pairs>, NotFullRank> {
    let mut space = Rows::new(rows, rank, wanted)?;
    let mut operator = |x: &Block| Ok::<_, Infallible>(rows.gram_product(x));
    lanczos(&mut space, &mut operator, MAX_RESTARTS).map_err(|stopped| match stopped {
        Stopped::Operator(never) => match never {},
        Stopped::Space(error) => error,
    })
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
