//! Eigenvectors one after the other: the power method on what the earlier ones leave of A.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use serde::{Deserialize, Serialize};

use crate::algorithm::{
    Algorithm, AlgorithmError, AlgorithmTable, BlockSpec, DataFacts, DataRequirements, Form,
    History, MAX_ITERATIONS, Program, Proved, PublicState, ReleaseSpec, RetainedState, Start,
    following,
};
use crate::linalg::{Block, NotFullRank, SparseRows, extend_basis, orthonormalise};
use crate::vocabulary::{Iteration, Label, Quantity, ReleaseId, Seed};

/// Of k vectors of norm 1, one may have this little outside the span of those before it and still show a direction.
const NEGLIGIBLE: f64 = 1e-9;

/// Rank-k approximation by deflation: T steps of the power method for one vector v_i, a noisy Rayleigh quotient σ̂_i, and on with
/// A_i = A_{i−1} − σ̂_i v_i v_iᵀ.
///
/// A step: peer u contributes A_u x for the only column x of the query, n numbers; everybody subtracts Σ_j σ̂_j v_j (v_jᵀx) **from
/// the sum** and normalises. After T steps x is v_i, and peer u contributes v_iᵀ A_u v_i, one number; everybody subtracts
/// Σ_j σ̂_j (v_jᵀv_i)², which leaves σ̂_i. Each of these k(T + 1) releases is an iteration of its own. The first vector starts at X⁰,
/// the others at public pseudo-random directions that X⁰ decides.
///
/// The deflated part is public: it is a function of earlier releases. So no peer ever computes with A_{i−1}, a contribution is that of
/// the power method, and central ≡ decentralised holds as it does there.
///
/// # Privacy
/// What is released are products A_u x and quotients xᵀA_u x at a query x of one column of norm 1: bounds under
/// `privacy/sensitivity/exact` and `privacy/sensitivity/rayleigh`. All quotients together spend the share `eigenvalue_share` of μ²,
/// all products the rest, each as much as the others of its kind. All else is post-processing.
///
/// # What it costs against a block
/// **For users** a block of k columns moves by ‖r̂‖·‖r̂X‖ ≤ 1, as much as a single column: L block steps have noise √L·σ, deflation
/// √(kT/(1 − share))·σ for the same ε. One interaction moves k columns by √k times what it moves one, to first order, which is a tie
/// in noise; deflation then still takes k(T + 1) releases one after the other where a block takes T. It is here because the
/// private rank-k approximation of the literature is of this form, and loses to [`Krylov`](crate::algorithm::Krylov) and
/// [`PowerMethod`](crate::algorithm::PowerMethod) in every comparison we made.
///
/// # Source
/// Hardt & Roth 2013, "Beyond worst-case analysis in private singular vector computation", Figure 3, with four changes. They release
/// ‖A_{i−1}v_i‖₂ with Laplace noise, which is no sum over peers and spends some 200 times as much as all power steps together; the
/// quotient is linear in A, has a sign, and moves less. They start at a vector that is not normalised and stop where an entry exceeds a
/// guess; here noise is scaled by the vector at hand. They print the residual A_k as the output, which is not private; what is
/// meant is Σ_i σ̂_i v_i v_iᵀ. Composition is that of Gaussian mechanisms.
#[derive(Clone, Copy, Debug)]
pub struct Deflation {
    /// Items n.
    dimension: usize,
    /// Vectors wanted, k.
    rank: usize,
    /// Power steps T for each.
    steps: u32,
    /// The share of μ² that the k quotients spend together, strictly between 0 and 1.
    eigenvalue_share: f64,
}

/// What is done in one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// A step towards a vector; whether it is the last one.
    Step { last: bool },
    /// The quotient of the vector of this number, from 0.
    Quotient { vector: usize },
}

impl Deflation {
    fn stage(&self, release: ReleaseId) -> Stage {
        let (vector, step) = (
            release.index() / (self.steps as usize + 1),
            release.index() % (self.steps as usize + 1),
        );
        match step == self.steps as usize {
            true => Stage::Quotient { vector },
            false => Stage::Step {
                last: step + 1 == self.steps as usize,
            },
        }
    }

    /// The eigenvalues σ̂_i found so far, with the sign that they have; one per vector that is finished.
    ///
    /// `state` is one that this algorithm has advanced.
    #[must_use]
    pub fn eigenvalues(&self, state: &PublicState) -> Vec<f64> {
        let mut found: Vec<f64> = Vec::with_capacity(state.past.len());
        for (i, one) in state.past.iter().enumerate() {
            let earlier = state.past[..i].iter().zip(&found);
            let known: f64 = earlier
                .map(|(before, value)| value * dot(&before.query, &one.query).powi(2))
                .sum();
            found.push(one.sum.values()[0] - known);
        }
        found
    }

    /// Y − Σ_j σ̂_j v_j (v_jᵀx).
    fn deflated(&self, state: &PublicState, sum: &Block) -> Block {
        let mut rest = sum.clone();
        for (one, value) in state.past.iter().zip(self.eigenvalues(state)) {
            let along = dot(&one.query, &state.query);
            rest.add_scaled(-value * along, &one.query);
        }
        rest
    }
}

fn dot(a: &Block, b: &Block) -> f64 {
    a.values().iter().zip(b.values()).map(|(x, y)| x * y).sum()
}

impl Deflation {
    /// So many vectors of so many power steps each on so many items; Rayleigh quotients spend this share of the budget together.
    ///
    /// # Errors
    /// [`AlgorithmError::Count`] for a rank of 0 or above the number of items, no steps, or more releases than a program may have;
    /// [`AlgorithmError::Key`] for a share that leaves nothing to one side.
    pub fn new(
        items: usize,
        rank: usize,
        steps: u32,
        eigenvalue_share: f64,
    ) -> Result<Self, AlgorithmError> {
        AlgorithmError::check(items, rank, steps)?;
        let releases = rank.saturating_mul(steps as usize + 1);
        let what = "algorithm.rank times one more than algorithm.iterations";
        AlgorithmError::count(what, (2, MAX_ITERATIONS as usize), releases)?;
        match eigenvalue_share > 0.0 && eigenvalue_share < 1.0 {
            true => Ok(Self {
                dimension: items,
                rank,
                steps,
                eigenvalue_share,
            }),
            false => Err(AlgorithmError::key(
                "eigenvalue_share",
                format!(
                    "must lie strictly between 0 and 1, found {eigenvalue_share}: 0.05 leaves most of the budget to the vectors"
                ),
            )),
        }
    }
}

impl Algorithm for Deflation {
    fn program(&self) -> Program {
        let vectors = self.rank as u32;
        let of_step = (1.0 - self.eigenvalue_share) / (self.rank as f64 * f64::from(self.steps));
        let of_quotient = self.eigenvalue_share / self.rank as f64;
        let releases = (1..=vectors * (self.steps + 1))
            .map(|number| {
                let (quantity, shape, share) = match self.stage(ReleaseId(number)) {
                    Stage::Step { .. } => (Quantity::Product, (self.dimension, 1), of_step),
                    Stage::Quotient { .. } => (Quantity::RayleighQuotient, (1, 1), of_quotient),
                };
                ReleaseSpec {
                    iteration: Iteration(number),
                    form: Form::Sum,
                    blocks: vec![BlockSpec {
                        quantity,
                        shape,
                        columns: 1,
                        weight: 1.0,
                    }],
                    agreement: None,
                    may_end_before: false,
                    ceiling: None,
                    batch: None,
                    share,
                }
            })
            .collect();
        Program::of("deflation", self.dimension, 1, releases)
            .with_setting("rank", self.rank as f64)
            .with_setting("steps", f64::from(self.steps))
            .with_setting("eigenvalue share", self.eigenvalue_share)
            .rank(self.rank)
            .proved(Proved::INDEFINITE)
            // The vectors that are finished, and the start.
            .state(RetainedState::Numbers(
                (self.rank + 1).saturating_mul(self.dimension),
            ))
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        rows.project(history.query, 1)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        match self.stage(release) {
            Stage::Step { .. } => rows.add_back_projection(prepared, 1, range, out),
            Stage::Quotient { .. } => {
                for out in out.iter_mut().take(range.len()) {
                    for along in prepared {
                        *out += along * along;
                    }
                }
            }
        }
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        let start = state.carried.as_ref().unwrap_or(&state.query);
        let carried = Some(Arc::clone(start));
        match self.stage(ReleaseId(state.released).next()) {
            Stage::Step { .. } => Ok(PublicState {
                query: Arc::new(orthonormalise(&self.deflated(state, sum))?),
                carried,
                ..state.clone()
            }),
            Stage::Quotient { vector } => Ok(PublicState {
                query: Arc::new(following(start, vector + 1)?),
                carried,
                ..state.followed_by(sum, sigmas)
            }),
        }
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        Ok(state.followed_by(sum, sigmas))
    }

    /// The vectors found so far, made orthonormal in their order; then the one under way; then pseudo-random directions.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let found = state.past.iter().map(|one| &one.query);
        let under_way = (state.past.len() < self.rank).then_some(&state.query);
        let columns: Vec<DVector<f64>> = found
            .chain(under_way)
            .map(|vector| DVector::from_column_slice(vector.values()))
            .collect();
        let mut all = DMatrix::zeros(self.dimension, self.rank);
        for (at, column) in columns.iter().enumerate() {
            all.set_column(at, column);
        }
        let mut generator = Seed::from_u64(self.rank as u64).generator(Label::Probe);
        let none = DMatrix::zeros(self.dimension, 0);
        Arc::new(Block::from_matrix(&extend_basis(
            none,
            &all,
            NEGLIGIBLE,
            &mut generator,
        )))
    }
}

/// The default of `eigenvalue_share`.
const EIGENVALUE_SHARE: f64 = 0.05;

/// `[algorithm]` with `kind = "deflation"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeflationTable {
    /// p: eigenvectors wanted, columns of the basis.
    pub rank: usize,
    /// L: iterations for every vector.
    pub iterations: u32,
    /// X⁰: `"random"`, or `"popularity"`, whose first column is public item popularity.
    #[serde(default, skip_serializing_if = "Start::is_random")]
    pub start: Start,
    /// The share of the budget that the eigenvalues spend together, 0.05 where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eigenvalue_share: Option<f64>,
}

impl AlgorithmTable for DeflationTable {
    fn rank(&self) -> usize {
        self.rank
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn algorithm(&self, facts: &DataFacts) -> Result<Arc<dyn Algorithm>, AlgorithmError> {
        let share = self.eigenvalue_share.unwrap_or(EIGENVALUE_SHARE);
        let (rank, iterations) = (self.rank, self.iterations);
        Ok(Arc::new(Deflation::new(
            facts.items,
            rank,
            iterations,
            share,
        )?))
    }

    fn sketch(&self) -> Option<Program> {
        Some(Deflation::new(2, 1, 1, EIGENVALUE_SHARE).ok()?.program())
    }

    fn requirements(&self) -> DataRequirements {
        DataRequirements {
            start: self.start,
            ..DataRequirements::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::contribution;
    use crate::linalg::{start_block, subspace_distance, top_eigenvectors};

    const ITEMS: usize = 12;

    fn rows() -> SparseRows {
        let mut rows = SparseRows::new(ITEMS);
        for u in 0..40_u32 {
            let entries = (0..ITEMS as u32).map(|i| {
                let size = 1.0 / f64::from(1 + i).powi(2);
                (i, size * f64::from(u * (i + 2) + i * i).sin())
            });
            rows.push_row(entries).expect("ascending");
        }
        rows
    }

    fn algorithm(steps: u32) -> Deflation {
        Deflation {
            dimension: ITEMS,
            rank: 3,
            steps,
            eigenvalue_share: 0.05,
        }
    }

    /// The state after all releases, without noise.
    fn run(algorithm: &Deflation, rows: &SparseRows) -> PublicState {
        let start = start_block(&Seed::from_u64(2), ITEMS, 1).expect("full rank");
        let mut state = PublicState::new(Arc::new(start));
        let releases = algorithm.program().releases;
        for (number, release) in (1..).zip(&releases) {
            let sum = contribution(algorithm, rows, state.history(), release.shape());
            let sum = Arc::new(sum);
            state = if number as usize == releases.len() {
                algorithm.conclude(&state, &sum, &[0.0])
            } else {
                algorithm.advance(&state, &sum, &[0.0])
            }
            .expect("full rank");
            state.released = number;
            let basis = algorithm.estimate(&state);
            assert_eq!((basis.rows(), basis.columns()), (ITEMS, 3));
            assert!(basis.orthonormality_defect() < 1e-12, "release {number}");
        }
        state
    }

    #[test]
    fn without_noise_it_finds_eigenvalues_and_eigenvectors_in_order() {
        let (rows, algorithm) = (rows(), algorithm(200));
        let state = run(&algorithm, &rows);
        let top = top_eigenvectors(&rows, 3).expect("converges");
        assert!(subspace_distance(&algorithm.estimate(&state), &top.vectors) < 1e-8);
        for (found, exact) in algorithm.eigenvalues(&state).iter().zip(&top.values) {
            assert!((found / exact - 1.0).abs() < 1e-9, "{found} {exact}");
        }
        assert_eq!(state.past.len(), 3);
    }

    /// Without the subtraction every vector would be the first one again.
    #[test]
    fn what_is_found_is_taken_out_of_the_sum_and_not_of_what_peers_contribute() {
        let (rows, algorithm) = (rows(), algorithm(2));
        let state = run(&algorithm, &rows);
        let value = algorithm.eigenvalues(&state)[0];
        let first = &state.past[0].query;
        let history = History {
            release: ReleaseId(4),
            query: first.values(),
            past: &state.past[..1],
            agreed: None,
        };
        let product = contribution(&algorithm, &rows, history, (ITEMS, 1));
        assert_eq!(product, rows.gram_product(first));
        let here = PublicState {
            query: Arc::clone(first),
            past: state.past[..1].to_vec(),
            ..PublicState::new(Arc::clone(first))
        };
        let rest = algorithm.deflated(&here, &product);
        assert!(
            dot(&rest, first).abs() < 1e-12 * value,
            "A_1 v_1 has nothing along v_1"
        );
    }

    #[test]
    fn quotients_spend_their_share_and_products_the_rest() {
        for (steps, share) in [(1, 0.05), (5, 0.3)] {
            let algorithm = Deflation {
                eigenvalue_share: share,
                ..algorithm(steps)
            };
            let releases = algorithm.program().releases;
            assert_eq!(releases.len(), 3 * (steps as usize + 1));
            let of = |quantity| -> f64 {
                let all = releases
                    .iter()
                    .filter(|one| one.blocks[0].quantity == quantity);
                all.map(|one| one.share).sum()
            };
            assert!((of(Quantity::RayleighQuotient) - share).abs() < 1e-12);
            assert!((of(Quantity::Product) - (1.0 - share)).abs() < 1e-12);
        }
    }

    #[test]
    fn another_start_gives_every_vector_another_start() {
        let of = |seed| {
            let start = start_block(&Seed::from_u64(seed), ITEMS, 1).expect("full rank");
            following(&start, 1).expect("full rank")
        };
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let start = start_block(&Seed::from_u64(1), ITEMS, 1).expect("full rank");
        assert_ne!(following(&start, 2).expect("full rank"), of(1));
    }
}
