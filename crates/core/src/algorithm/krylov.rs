//! Block Krylov: every noisy product is kept, and the matrix is completed from all of them at the end.

use std::sync::Arc;

use nalgebra::DMatrix;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, program_of};
use super::{Algorithm, AlgorithmError, Program, Proved, PublicState, ReleaseSpec};
use super::{Precondition, Start};
use crate::linalg::{
    Block, NotFullRank, extend_basis, product, signed, small_leading_eigenvectors,
};
use crate::vocabulary::{Label, Seed};

/// A part of a noisy product outside the span of earlier queries that is shorter than this share of the product carries
/// no direction: disagreement between peers and rounding are of that size.
const NEGLIGIBLE: f64 = 1e-6;

/// Without noise, eigenvalues of B below this share of the largest one are rounding.
pub(super) const ROUNDING: f64 = 1e-10;

/// Private block Krylov iteration with positive semidefinite completion.
///
/// Every iteration releases what the power method releases, Y_l ≈ A X^{l−1} with X^{l−1} orthonormal (n × b), under the same
/// sensitivity bound. But no Y_l is thrown away: with Z = [X⁰ … X^{L−1}] and W = [Y_1 … Y_L] ≈ AZ,
///
/// - the next query is what Y_l has outside Z, X^l = qr((I − ZZᵀ)Y_l), so that Z stays orthonormal and spans the block
///   Krylov space of A and X⁰;
/// - the estimate is the span of the `rank` leading eigenvectors of a matrix Â completed from Z and W, inside span[Z W],
///   by an eigenproblem of at most (L+1)·b rows. It is available after every iteration.
///
/// All of that is post-processing of the noisy sums: no ε and no message more than the power method with b columns.
///
/// # The completion: statement
/// In an orthonormal basis [Z Z⊥] let B = ZᵀW, T = Z⊥ᵀW. Of all positive semidefinite M with MZ = W the least, in the Loewner
/// order and so in every unitarily invariant norm, is Â with blocks [B Tᵀ; T TB⁺Tᵀ], that is, Â = W B⁺ Wᵀ. Without noise it
/// exists, and span Â contains the power method's A^L X⁰.
///
/// # Proof
/// MZ = W fixes the first block column of M and by symmetry the first block row; free is M₂₂. M is positive semidefinite if
/// and only if B is, range Tᵀ ⊆ range B, and M₂₂ ⪰ TB⁺Tᵀ (Schur complement; Albert 1969, Theorem 1). So M₂₂ = TB⁺Tᵀ is the
/// least, and M′ ⪰ M ⪰ 0 has no smaller eigenvalue. A itself satisfies the conditions, so Â exists. Its range is that of
/// W = AZ, and span Z ∋ A^{L−1}X⁰. ∎
///
/// Dropping positivity, the least symmetric M is WZᵀ + ZWᵀ − ZBZᵀ, with M₂₂ = 0; that throws away that A is a Gram matrix,
/// and after a single iteration it is worse than the power method.
///
/// # Noise
/// - Both z_iᵀw_j and z_jᵀw_i estimate z_iᵀAz_j, with variances σ_j² and σ_i². B_ij is their average weighed by precision,
///   (σ_i²·z_iᵀw_j + σ_j²·z_jᵀw_i)/(σ_i² + σ_j²), and B is symmetric. For directions fixed in advance that has the least
///   variance. Later directions are not: z_i is made from the noise of the iteration before it, so z_iᵀw_j is no unbiased
///   estimate for them, and the weights are shrinkage that was chosen by measurement.
/// - B⁺ would magnify noise. A symmetric m × m matrix of noise of variance at most σ²/2 off the diagonal has norm about
///   σ√(2m), so eigenvalues of B up to that edge (σ the largest of the σ_l) are no signal, and only those above it enter
///   B⁺. B and T themselves are not shrunk: hard and soft thresholds and an optimal shrinker of T at its noise edge were
///   measured on Jester and MovieLens and never lowered the error.
///
/// # When the space is exhausted
/// If fewer than b directions are left outside Z, the next query is those, completed by earlier directions in turn, first
/// one first; their products are averaged with the earlier ones by precision. So n < L·b is allowed and the further
/// iterations lower the noise. Where (I − ZZᵀ)Y_l has lower rank than b (below a millionth of ‖Y_l‖), public
/// pseudo-random directions take the place of the missing ones. That decision is discontinuous: peers whose sums differ
/// by more than a millionth of ‖Y_l‖ can decide differently where a part is about that short, and then go on with different
/// queries. Noise makes such parts longer than that; without noise let the averaging agree to better than 1e-6.
///
/// # Source
/// Block Krylov: Musco & Musco 2015. Completion W B⁺ Wᵀ: the Nyström approximation (Gittens & Mahoney 2016).
#[derive(Clone, Copy, Debug)]
pub struct Krylov {
    /// Items n.
    pub(super) dimension: usize,
    /// Eigenvectors wanted.
    pub(super) rank: usize,
    /// Columns b of every query, rank ≤ b ≤ n.
    pub(super) block: usize,
    /// Iterations L.
    pub(super) iterations: u32,
}

/// Everything measured so far, one entry per direction.
struct Measured {
    /// Z, n × m, orthonormal.
    directions: DMatrix<f64>,
    /// W ≈ AZ.
    products: DMatrix<f64>,
    /// σ² of the noise in each column of W.
    variances: Vec<f64>,
    /// Products that were repeated, for which direction is next.
    repeated: usize,
}

impl Krylov {
    /// Sorts the products of all iterations by direction.
    fn measured(&self, state: &PublicState) -> Measured {
        let (n, b) = (self.dimension, self.block);
        let all = (b * state.past.len()).min(n);
        let mut found = Measured {
            directions: DMatrix::zeros(n, all),
            products: DMatrix::zeros(n, all),
            variances: Vec::with_capacity(all),
            repeated: 0,
        };
        for released in &state.past {
            let (query, sum) = (released.query.to_matrix(), released.sum.to_matrix());
            let variance = released.sigma() * released.sigma();
            let known = found.variances.len();
            let fresh = b.min(n - known);
            for column in 0..fresh {
                found
                    .directions
                    .set_column(known + column, &query.column(column));
                found
                    .products
                    .set_column(known + column, &sum.column(column));
                found.variances.push(variance);
            }
            for column in fresh..b {
                let direction = found.repeated % n;
                found.repeated += 1;
                let before = found.variances[direction];
                let total = before + variance;
                // The share of the new product: its precision over that of both.
                let share = if total > 0.0 { before / total } else { 0.5 };
                let mut product = found.products.column_mut(direction);
                product.axpy(share, &sum.column(column), 1.0 - share);
                found.variances[direction] = before * (1.0 - share);
            }
        }
        found
    }

    /// b orthonormal columns: what `sum` has outside the measured directions, then earlier directions in turn.
    fn next_query(&self, measured: &Measured, sum: &Block) -> Block {
        let (n, b) = (self.dimension, self.block);
        let known = measured.directions.ncols();
        let negligible = NEGLIGIBLE * sum.norm() / (b as f64).sqrt();
        let mut generator = Seed::from_u64(known as u64).generator(Label::Probe);
        let grown = extend_basis(
            measured.directions.clone(),
            &sum.to_matrix(),
            negligible,
            &mut generator,
        );
        let fresh = grown.ncols() - known;
        let mut query = DMatrix::zeros(n, b);
        query
            .columns_mut(0, fresh)
            .copy_from(&grown.columns(known, fresh));
        for column in fresh..b {
            let direction = (measured.repeated + column - fresh) % n;
            query.set_column(column, &measured.directions.column(direction));
        }
        Block::from_matrix(&query)
    }
}

impl Krylov {
    /// So many eigenvectors from so many queries of `block` columns on so many items.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, a block below the rank or above the number of items, and
    /// for no iterations or too many.
    pub fn new(
        items: usize,
        rank: usize,
        block: usize,
        iterations: u32,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        AlgorithmError::count("algorithm.block", (rank, items), block)?;
        Ok(Self {
            dimension: items,
            rank,
            block,
            iterations,
        })
    }
}

impl Algorithm for Krylov {
    fn program(&self) -> Program {
        let releases = ReleaseSpec::products(self.iterations, self.dimension, self.block);
        Program::of("krylov", self.dimension, self.block, releases)
            .with_setting("rank", self.rank as f64)
            .with_setting("block", self.block as f64)
            .rank(self.rank)
            .proved(Proved::MATRIX_ONLY)
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = state.followed_by(sum, sigmas);
        next.query = Arc::new(self.next_query(&self.measured(&next), sum));
        Ok(next)
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.followed_by(sum, sigmas))
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let Measured {
            directions,
            mut products,
            variances,
            ..
        } = self.measured(state);
        let known = directions.ncols();
        if known == 0 {
            let start = state.query.to_matrix();
            return Arc::new(Block::from_matrix(
                &start.columns(0, self.rank).into_owned(),
            ));
        }
        // Any scale gives the same vectors; this one keeps products of huge entries finite.
        let largest = products.amax();
        let scale = if largest > 0.0 { largest.recip() } else { 1.0 };
        products.scale_mut(scale);
        let b = weighed(&directions.tr_mul(&products), &variances);
        // What the products have outside Z lies in that of the last ones: earlier parts were queried.
        let last = products.columns(known - self.block.min(known), self.block.min(known));
        let mut generator = Seed::from_u64(known as u64).generator(Label::Probe);
        let space = extend_basis(directions, &last.into_owned(), ROUNDING, &mut generator);
        let outside = space
            .columns(known, space.ncols() - known)
            .tr_mul(&products);
        let sigma = variances.iter().copied().fold(0.0, f64::max).sqrt() * scale;
        let edge = sigma * (2.0 * known as f64).sqrt();
        let small = completed(&b, &outside, edge);
        let rotation = small_leading_eigenvectors(&small, self.rank);
        Arc::new(signed(&product(&space, &rotation)))
    }
}

/// B from C = ZᵀW: the two estimates of every entry weighed by their precision.
pub(super) fn weighed(c: &DMatrix<f64>, variances: &[f64]) -> DMatrix<f64> {
    DMatrix::from_fn(c.nrows(), c.ncols(), |i, j| {
        let total = variances[i] + variances[j];
        // C_ij has the noise of column j.
        let share = if total > 0.0 {
            variances[i] / total
        } else {
            0.5
        };
        share * c[(i, j)] + (1.0 - share) * c[(j, i)]
    })
}

/// Â in coordinates of [Z U]: the blocks B, T and T B⁺ Tᵀ, where B⁺ inverts eigenvalues above the noise `edge` alone.
fn completed(b: &DMatrix<f64>, t: &DMatrix<f64>, edge: f64) -> DMatrix<f64> {
    let eigen = nalgebra::SymmetricEigen::new(b.clone());
    let least = edge.max(ROUNDING * eigen.eigenvalues.amax());
    let (values, vectors) = (eigen.eigenvalues.iter(), eigen.eigenvectors.column_iter());
    let mut unknown = DMatrix::zeros(t.nrows(), t.nrows());
    for (value, vector) in values.zip(vectors) {
        if *value > least {
            let image = t * vector;
            unknown.ger(1.0 / value, &image, &image, 1.0);
        }
    }
    bordered(b, t, &unknown)
}

/// The symmetric matrix with blocks B, T and M.
pub(super) fn bordered(b: &DMatrix<f64>, t: &DMatrix<f64>, rest: &DMatrix<f64>) -> DMatrix<f64> {
    let (m, k) = (b.nrows(), t.nrows());
    let mut all = DMatrix::zeros(m + k, m + k);
    all.view_mut((0, 0), (m, m)).copy_from(b);
    all.view_mut((m, 0), (k, m)).copy_from(t);
    all.view_mut((0, m), (m, k)).copy_from(&t.transpose());
    all.view_mut((m, m), (k, k)).copy_from(rest);
    all
}

/// `[algorithm]` with `kind = "krylov"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KrylovTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// b: columns of every query, at least `rank`, which is the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<usize>,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// `"none"` (where absent), or `"items"`: the eigenvectors of P A P, for a P of public item degrees.
    #[serde(default, skip_serializing_if = "Precondition::is_none")]
    pub precondition: Precondition,
    /// e of P = diag(degree^−e), from 0 to 0.5; 0.25 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_exponent: Option<f64>,
    /// The share of the mean in every degree that P is made of, from 0 to 1; 0 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precondition_shrinkage: Option<f64>,
}

impl AlgorithmTable for KrylovTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let (rank, block, items) = (self.rank, self.query_columns(), facts.items);
        if self.block.is_some() && !(rank..=items).contains(&block) {
            return Err(AlgorithmError::Block { block, rank, items });
        }
        made(Krylov::new(items, rank, block, self.iterations))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(Krylov::new(2, 1, 1, 1))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements::of_matrix(
            self.start,
            self.precondition,
            self.precondition_exponent,
            self.precondition_shrinkage,
        )
    }

    fn query_columns(&self) -> usize {
        self.block.unwrap_or(self.rank)
    }
}

#[cfg(test)]
mod tests;
