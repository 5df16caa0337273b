//! What is contributed, and how the public state advances.
//!
//! An algorithm is a local map with known sensitivity and a public update. It never sees who its peers
//! are or how values move; every engine calls the same functions.
//!
//! | kind | released per iteration | coordinates | bytes a peer sends per neighbour | state | iterations L |
//! | --- | --- | --- | --- | --- | --- |
//! | [`power`](PowerMethod) | A_u X | n·p | 8·n·p·K·L | X | any |
//! | [`momentum`](Momentum) | A_u X | n·p | 8·n·p·K·L | X and one block | any |
//! | [`krylov`](Krylov) | A_u X | n·b, b = `block` ≥ p | 8·n·b·K·L | all X and all sums | any |
//! | [`covariance`](Covariance) | the upper triangle of A_u | n(n+1)/2 | 4·n(n+1)·K | that release | 1 |
//!
//! n items, p = `rank`, K averaging rounds per iteration; frames and the max-consensus of the noise scale come on top.
//!
//! # Which one when
//! - `covariance` where n(n+1)/2 numbers are affordable. It needs no iterations to converge and spends ε once. Its noise
//!   has norm about 2σ√n whatever the rank, with a Δ that does not depend on X.
//! - `krylov` otherwise. From the same releases, and so for the same ε and bytes, it is never behind `power` without
//!   noise. A block above the rank costs bytes and sensitivity (the row norms of X grow with b) and gains accuracy: with
//!   few iterations take b ≈ 2p for small p, b = p where p is large.
//! - `momentum` and `power` for comparison, and where only one block may be kept. Momentum pays where L is large
//!   compared with 1/√gap and the eigenvalue below the wanted ones is roughly known.
//!
//! Measured on Jester (24,983 users, 100 items, δ = 10⁻⁵, floor 10, L = 3, one interaction, 64 peers; relative error of the
//! filter, mean of ten seeds; `tests/utility.rs`): rank 8 at ε = 1: `krylov` with b = 16 0.067, `covariance` 0.039, and P1's
//! `power` at ε = 1000 0.187. Rank 32 at ε = 1: `krylov` with b = 32 0.222, `power` without noise 0.284.
//!
//! # What each guarantees, and where the proof is
//! | statement | proof |
//! | --- | --- |
//! | one release of A_u X, X orthonormal, moves by at most Δ_l | `privacy/sensitivity/exact`, for `power`, `momentum` and `krylov` alike |
//! | one packed triangle moves by at most Δ | `privacy/sensitivity/packed` |
//! | L adaptive releases spend μ² = Σμ_l², however the budget is split | [`split_budget`](crate::privacy::split_budget) |
//! | everything after a release is free | post-processing: [`Algorithm::advance`] and [`Algorithm::estimate`] see noisy sums and X⁰ only |
//! | the completion is the least one, and contains A^L X⁰ | [`Krylov`] |
//! | the block recurrence is that of one column | [`Momentum`] |
//!
//! A start by popularity ([`Start`]) takes the item degrees to be public; no ε covers them.
//!
//! A new algorithm is one file, one variant of [`AlgorithmKind`] and one line of [`AlgorithmKind::build`].

mod covariance;
mod krylov;
mod momentum;
mod power;
mod start;
mod state;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use covariance::Covariance;
pub use krylov::Krylov;
pub use momentum::Momentum;
pub use power::PowerMethod;
pub use start::Start;
pub use state::{PublicState, Released};

use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::Release;

/// One iterative computation over a private sum Σ_u f_u(X).
///
/// # Contract
/// Every function is pure: the same arguments give the same bits, in every engine. What is private enters through
/// [`prepare`](Self::prepare) and [`add_contribution`](Self::add_contribution) alone; the rest is post-processing of noisy
/// sums and costs nothing.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// Items n.
    fn dimension(&self) -> usize;

    /// What a peer releases, which decides the sensitivity bound that applies: its product with the query, unless
    /// the algorithm says otherwise (then it also has a shape, a preparation and a contribution of its own).
    fn release(&self) -> Release {
        Release::Product
    }

    /// Rows and columns of what every peer releases in an iteration, row-major.
    fn shape(&self) -> (usize, usize) {
        (self.dimension(), self.query_columns())
    }

    /// Columns of the public query X, n × this; the starting block has as many.
    fn query_columns(&self) -> usize;

    /// The only number of iterations this algorithm can run; `None` if any will do.
    fn iterations(&self) -> Option<u32> {
        None
    }

    /// Whether the next query is a function of the noisy sum alone and has its shape, and is the estimate too.
    /// Engines then keep one array per peer. Such an algorithm must not look at the state in
    /// [`advance`](Self::advance).
    fn is_memoryless(&self) -> bool {
        false
    }

    /// A summary of the rows against the public query that makes ranges of the contribution cheap.
    ///
    /// `query` is the row-major block X^{l−1}.
    fn prepare(&self, rows: &SparseRows, query: &[f64]) -> Vec<f64> {
        rows.project(query, self.query_columns())
    }

    /// Adds the coordinates `range` of this peer's contribution f_u(X) to `out`.
    ///
    /// Every coordinate must be summed in an order that does not depend on `range`: engines cut the
    /// contribution differently and must still agree to the bit.
    fn add_contribution(
        &self,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        rows.add_back_projection(prepared, self.query_columns(), range, out);
    }

    /// The next public state from the noisy sum.
    ///
    /// `sigma` is the standard deviation of the noise on every coordinate of the sum, known to all from the plan; 0
    /// without noise. The next query must have orthonormal columns (to 1e-9): every sensitivity is a bound over such
    /// queries, and peers refuse to contribute at another.
    ///
    /// # Errors
    /// [`NotFullRank`] if the sum has no unique orthonormal basis.
    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigma: f64,
    ) -> Result<PublicState, NotFullRank>;

    /// [`Self::advance`] after the last iteration, whose next query nobody will contribute at: it need not be made.
    ///
    /// # Errors
    /// As [`Self::advance`].
    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigma: f64,
    ) -> Result<PublicState, NotFullRank> {
        self.advance(state, sum, sigma)
    }

    /// The estimate of the leading eigenvectors in a state that has advanced at least once, n × rank, orthonormal columns.
    fn estimate(&self, state: &PublicState) -> Arc<Block>;
}

/// The algorithms an experiment file can name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AlgorithmKind {
    /// The randomised power method (subspace iteration), P1.
    #[default]
    Power,
    /// The power method with momentum (accelerated).
    Momentum,
    /// Block Krylov iteration: the power method's releases, none thrown away.
    Krylov,
    /// One noisy release of the whole matrix (Analyze Gauss).
    Covariance,
}

/// Public sizes an algorithm is built with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Items n.
    pub dimension: usize,
    /// Eigenvectors wanted, p.
    pub rank: usize,
    /// Columns b of the queries of [`AlgorithmKind::Krylov`], p ≤ b ≤ n; the others ignore it.
    pub block: usize,
    /// β of [`AlgorithmKind::Momentum`], finite and at least 0; the others ignore it.
    pub momentum: f64,
}

impl AlgorithmKind {
    /// The algorithm for these sizes.
    #[must_use]
    pub fn build(self, sizes: Sizes) -> Box<dyn Algorithm> {
        let Sizes {
            dimension,
            rank,
            block,
            momentum,
        } = sizes;
        match self {
            Self::Power => Box::new(PowerMethod { dimension, rank }),
            Self::Momentum => Box::new(Momentum {
                dimension,
                rank,
                momentum,
            }),
            Self::Krylov => Box::new(Krylov {
                dimension,
                rank,
                block,
            }),
            Self::Covariance => Box::new(Covariance { dimension, rank }),
        }
    }

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Power => "power",
            Self::Momentum => "momentum",
            Self::Krylov => "krylov",
            Self::Covariance => "covariance",
        }
    }
}

/// f_u(X) of these rows as a whole: what a peer adds noise to.
#[must_use]
pub fn contribution(algorithm: &dyn Algorithm, rows: &SparseRows, query: &[f64]) -> Block {
    let (height, width) = algorithm.shape();
    let mut out = Block::zeros(height, width);
    let prepared = algorithm.prepare(rows, query);
    algorithm.add_contribution(rows, &prepared, 0..height * width, out.values_mut());
    out
}
