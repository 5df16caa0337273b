//! The power method with momentum: each step subtracts a share of the block before the last.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::table::{AlgorithmTable, DataFacts, DataRequirements, made, program_of};
use super::{Algorithm, AlgorithmError, Program, Proved, PublicState, ReleaseSpec};
use super::{Precondition, Start};
use crate::linalg::{Block, NotFullRank, orthonormalise};

/// Accelerated power method on A = Σ_u R_uᵀR_u with momentum β, in units of A's eigenvalues squared.
///
/// One iteration: peer u contributes A_u X^{l−1}, as in the power method; with Y_l ≈ A X^{l−1} the next block is
/// X^l R_l = Y_l − β X^{l−2} R_{l−1}⁻¹ (thin QR with positive diagonal; the subtracted term is 0 for l = 1).
///
/// # Statement: the block form
/// Without noise, span X^l = span Z_l of the recurrence Z_l = A Z_{l−1} − β Z_{l−2}, Z_0 = X⁰, Z_{−1} = 0, which Xu et al.
/// state for one column.
///
/// # Proof
/// Let S_0 = I and S_l = R_l S_{l−1}; the claim is Z_l = X^l S_l. It holds for 0. Given it for l−1 and l−2,
/// Z_l = A X^{l−1}S_{l−1} − β X^{l−2}S_{l−2} = (A X^{l−1} − β X^{l−2}R_{l−1}⁻¹) S_{l−1} = X^l R_l S_{l−1} = X^l S_l. All R are
/// regular, because a block without full rank is refused. ∎
///
/// # Convergence
/// Z_l = β^{l/2} U_l(A/(2√β)) X⁰ with U_l the Chebyshev polynomial of the second kind: |U_l| ≤ l + 1 on the eigenvalues up
/// to 2√β, and it grows like (x + √(x² − 1))^l beyond. With β = (λ_{p+1}/2)² the error falls like
/// ((1 − √(1 − q²))/q)^l with q = λ_{p+1}/λ_p, where the power method has q^l: about √(1/gap) iterations in place
/// of 1/gap. β = 0 is the power method. A β above (λ_p/2)² loses the p-th direction.
///
/// # Privacy
/// What is released is A_u X for X with orthonormal columns: the map, the query's shape and so the sensitivity bound are the
/// power method's. βX^{l−2}R_{l−1}⁻¹ is a function of earlier noisy sums and public X⁰, and is subtracted after the release;
/// by post-processing it costs nothing.
///
/// # Source
/// Xu, De Sa, Mitliagkas, He & Ré 2018, "Accelerated stochastic power iteration", Algorithm 1. The noise there is that
/// of samples, here that of privacy. The scaling by R_{l−1}⁻¹ is our block form of their division by a norm.
#[derive(Clone, Copy, Debug)]
pub struct Momentum {
    /// Items n.
    pub(super) dimension: usize,
    /// Number of columns p.
    pub(super) rank: usize,
    /// Iterations L.
    pub(super) iterations: u32,
    /// β ≥ 0.
    pub(super) momentum: f64,
}

impl Momentum {
    /// So many columns and iterations on so many items, with this β.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, and for no iterations or too many;
    /// [`AlgorithmError::Momentum`] for a β that is no finite number of at least 0.
    pub fn new(
        items: usize,
        rank: usize,
        iterations: u32,
        momentum: f64,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, iterations)?;
        match momentum.is_finite() && momentum >= 0.0 {
            true => Ok(Self {
                dimension: items,
                rank,
                iterations,
                momentum,
            }),
            false => Err(AlgorithmError::Momentum { found: momentum }),
        }
    }
}

impl Algorithm for Momentum {
    fn program(&self) -> Program {
        let releases = ReleaseSpec::products(self.iterations, self.dimension, self.rank);
        Program::of("momentum", self.dimension, self.rank, releases)
            .with_setting("rank", self.rank as f64)
            .with_setting("momentum", self.momentum)
            .proved(Proved::MATRIX_ONLY)
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        _: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let mut next = (**sum).clone();
        if let Some(carried) = &state.carried {
            next.add_scaled(-self.momentum, carried);
        }
        let query = orthonormalise(&next)?;
        let scale = query.transpose_times(&next).upper_triangle();
        // X^{l−1} R_l⁻¹: the solution C of C R = X^{l−1}, that is, RᵀCᵀ = X^{l−1}ᵀ.
        let carried = scale
            .transpose()
            .solve_lower_triangular(&state.query.to_matrix().transpose())
            .map(|solved| Arc::new(Block::from_matrix(&solved.transpose())));
        Ok(PublicState {
            query: Arc::new(query),
            carried,
            ..PublicState::new(Arc::clone(&state.query))
        })
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        Arc::clone(&state.query)
    }
}

/// `[algorithm]` with `kind = "momentum"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MomentumTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// β, in units of A's eigenvalues squared.
    pub momentum: f64,
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

impl AlgorithmTable for MomentumTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let (rank, iterations) = (self.rank, self.iterations);
        made(Momentum::new(facts.items, rank, iterations, self.momentum))
    }

    fn sketch(&self) -> Option<Program> {
        program_of(Momentum::new(2, 1, 1, 0.0))
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements::of_matrix(
            self.start,
            self.precondition,
            self.precondition_exponent,
            self.precondition_shrinkage,
        )
    }

    fn finds_eigenvectors(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::super::{PowerMethod, contribution};
    use super::*;
    use crate::linalg::{SparseRows, start_block, subspace_distance};
    use crate::vocabulary::Seed;

    /// A = diag: rows √λ_i e_i, so that eigenvalues and eigenvectors are known. λ = 1, 1, 1 and a tail from 0.95 down.
    fn planted() -> SparseRows {
        let mut rows = SparseRows::new(40);
        for i in 0..40_u32 {
            let value = if i < 3 {
                1.0
            } else {
                0.95 * 0.99_f64.powi(i as i32 - 3)
            };
            rows.push_row([(i, value.sqrt())]).expect("ascending");
        }
        rows
    }

    fn run(algorithm: &dyn Algorithm, rows: &SparseRows, iterations: u32) -> Vec<Block> {
        let start = start_block(&Seed::from_u64(8), rows.dimension(), 3).expect("full rank");
        let mut state = PublicState::new(Arc::new(start));
        (0..iterations)
            .map(|_| {
                let sum = contribution(
                    algorithm,
                    rows,
                    state.history(),
                    algorithm.program().releases[0].shape(),
                );
                state = algorithm
                    .advance(&state, &Arc::new(sum), &[0.0])
                    .expect("full rank");
                Block::clone(&algorithm.estimate(&state))
            })
            .collect()
    }

    fn momentum(momentum: f64) -> Momentum {
        Momentum {
            iterations: 1,
            dimension: 40,
            rank: 3,
            momentum,
        }
    }

    fn exact() -> Block {
        Block::from_matrix(&DMatrix::identity(40, 3))
    }

    #[test]
    fn the_block_form_spans_the_recurrence() {
        let rows = planted();
        let identity = Block::from_matrix(&DMatrix::identity(40, 40));
        let a = rows.gram_product(&identity).to_matrix();
        let beta = 0.2;
        let ours = run(&momentum(beta), &rows, 8);
        let mut before = DMatrix::zeros(40, 3);
        let mut now = start_block(&Seed::from_u64(8), 40, 3)
            .expect("full rank")
            .to_matrix();
        for (l, basis) in (1..).zip(&ours) {
            let next = &a * &now - &before * beta;
            (before, now) = (now, next);
            let span = orthonormalise(&Block::from_matrix(&now)).expect("full rank");
            let distance = subspace_distance(basis, &span);
            assert!(distance < 1e-9, "iteration {l}: {distance:e}");
            let gram = basis.transpose_times(basis) - DMatrix::identity(3, 3);
            assert!(gram.abs().max() < 1e-13, "what is queried is orthonormal");
        }
    }

    #[test]
    fn without_momentum_it_is_the_power_method_to_the_bit() {
        let rows = planted();
        let power = PowerMethod {
            iterations: 1,
            dimension: 40,
            rank: 3,
        };
        assert_eq!(run(&momentum(0.0), &rows, 5), run(&power, &rows, 5));
    }

    #[test]
    fn a_small_gap_is_crossed_at_the_rate_of_the_root() {
        let rows = planted();
        let power = PowerMethod {
            iterations: 1,
            dimension: 40,
            rank: 3,
        };
        let beta = (0.95_f64 / 2.0).powi(2);
        let ours = run(&momentum(beta), &rows, 40);
        let plain = run(&power, &rows, 40);
        let error = |basis: &Block| subspace_distance(basis, &exact());
        let (fast, slow) = (error(&ours[39]), error(&plain[39]));
        // Per step 0.95 against (1 - sqrt(1 - 0.95^2))/0.95 = 0.724.
        assert!(slow > 0.05, "the gap is small: {slow:e}");
        assert!(fast < 1e-3 * slow, "{fast:e} against {slow:e}");
        let rate = (error(&ours[39]) / error(&ours[29])).powf(0.1);
        assert!((0.65..0.78).contains(&rate), "{rate}");
        // Beyond (lambda_p / 2)^2 nothing stands out any more.
        let lost = run(&momentum(0.3), &rows, 40);
        assert!(error(&lost[39]) > 10.0 * fast);
    }
}
