//! The eigenvectors of P A P, for a public diagonal P, from releases about A.

use std::ops::Range;
use std::sync::Arc;

use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::{
    Algorithm, History, Program, PublicState, ReleaseSpec, Released, RetainedState, Unsupported,
};
use crate::linalg::{Block, ItemWeights, NotFullRank, SparseRows, orthonormalise};
use crate::vocabulary::{Quantity, ReleaseId};

/// What P is made of: `algorithm.precondition` of an experiment file.
///
/// A release of noisy degrees of its own would be a variant here; without one, degrees are public or there is no P.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precondition {
    /// There is no P.
    #[default]
    None,
    /// The item degrees, which are declared public.
    Items,
}

impl Precondition {
    /// Whether this is the default.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// The name in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Items => "items",
        }
    }
}

/// Another algorithm on M = P A P, where P is a **public** positive diagonal and peers contribute to releases about A.
///
/// # Statement
/// Let X have orthonormal columns (n × b) and let P X = Q R be its thin QR with positive diagonal. Then
///
/// 1. M X = P (A Q) R, so that a noisy sum Y = A Q + N gives P Y R = M X + P N R, which `inner` takes for its own noisy product.
/// 2. X and R follow from Q: X is the Q factor of P⁻¹Q.
/// 3. A released triangle A + N gives P (A + N) P = M + P N P.
///
/// # Proof
/// For 1., A Q R = A P X, and P from the left. For 2., P⁻¹Q = X R⁻¹, where X has orthonormal columns and R⁻¹ is upper triangular with a positive
/// diagonal; such a factorisation is unique. Statement 3 is P times the sum times P. ∎
///
/// So the public state is (Q, Y, …), what `inner` knows of it is computed anew wherever it is needed, and nothing is kept twice.
/// The next query is the Q of P X for the X that `inner` asks for.
///
/// # Privacy
/// Peers contribute A_u Q for an orthonormal Q: the release of the power method at another public query. **Every bound is that of Q**,
/// which is the query in the public state, the one whose largest row norm peers agree on, and the one that is checked to be orthonormal.
/// X plays no part in it, and must not: for X flat over a hundred items and P = diag(1, 10⁻³, …) the largest row norm of X is 0.1, that of Q
/// 0.99995. R, and everything that is made of X, is post-processing.
///
/// P is a constant of the session and no ε covers it. Where it was made of item degrees, these must be public already.
///
/// # Noise
/// `inner` is told as σ the root of the mean square of what it meets. In a quadratic form zᵀ(P N R)x_j of two of its unit vectors the noise has
/// standard deviation σ‖P z‖‖P x_j‖; for all queries so far the mean of ‖P x_j‖² is taken for both. The factor is common to all releases, so that
/// weights by precision stay exact.
///
/// # Start
/// The starting block is Q⁰ and not X⁰: drawn flat over the items it meets the popular ones, in which A is strong. Drawn for X⁰ instead, with
/// Q⁰ = qr(P X⁰), it was worse where noise decides and hardly better elsewhere (NumPy, `krylov`, three iterations, exponent ½, three seeds):
/// Recall@20 0.027 in place of 0.041 on 1,000 items of MovieLens at ε = 2 and rank 16, 0.744 in place of 0.743 on Jester at ε = 1 and rank 8.
#[derive(Clone, Debug)]
pub struct Preconditioned {
    inner: Arc<dyn Algorithm>,
    weights: Arc<ItemWeights>,
    /// Whether products are released; triangles otherwise.
    products: bool,
}

/// An algorithm that does not go with a P, or weights that do not go with the algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotPreconditioned {
    /// An algorithm for which M is not made of what it releases.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// Weights of other items.
    #[error(
        "there are {weights} weights of items, and the algorithm is of {items}: give one for each"
    )]
    Items {
        /// Weights given.
        weights: usize,
        /// Items of the algorithm.
        items: usize,
    },
    /// A diagonal without an inverse.
    #[error("an item has weight 0, and P must have an inverse: give every item a weight above 0")]
    Singular,
}

/// How the digest of P is told among settings, six bytes in each number.
const DIGEST: [&str; 6] = [
    "weights 1",
    "weights 2",
    "weights 3",
    "weights 4",
    "weights 5",
    "weights 6",
];

impl Preconditioned {
    /// `inner` on P A P, with the weights as the diagonal of P.
    ///
    /// # Errors
    /// [`NotPreconditioned`] for an algorithm other than the five it is proved for, for weights of other items, or for one that is 0.
    pub fn new(
        inner: Arc<dyn Algorithm>,
        weights: Arc<ItemWeights>,
    ) -> Result<Self, NotPreconditioned> {
        let program = inner.program();
        let products = Self::products(&program)?;
        let (found, items) = (weights.len(), program.items);
        if found != items {
            let weights = found;
            return Err(NotPreconditioned::Items { weights, items });
        }
        if !weights.are_positive() {
            return Err(NotPreconditioned::Singular);
        }
        Ok(Self {
            inner,
            weights,
            products,
        })
    }

    /// Whether this program is that of an algorithm with a P, whose digest is among its settings.
    #[must_use]
    pub fn is_of(program: &Program) -> bool {
        let has = |name: &&str| program.settings.iter().any(|(found, _)| found == *name);
        DIGEST.iter().all(has)
    }

    /// Whether this algorithm, which goes with a P, releases products; triangles otherwise.
    ///
    /// # Errors
    /// [`NotPreconditioned::Unsupported`] for one other than the five that are proved.
    pub fn products(program: &Program) -> Result<bool, NotPreconditioned> {
        program.check_each(Self::supports)?;
        let mut blocks = program.releases.iter().flat_map(|one| &one.blocks);
        Ok(blocks.all(|block| block.quantity == Quantity::Product))
    }

    /// Whether M can be made of this release of a program, all of whose releases are products or all of whose releases are triangles.
    ///
    /// # Errors
    /// [`Unsupported`] for a release of which nothing is proved for P A P.
    pub fn supports(program: &Program, release: &ReleaseSpec) -> Result<(), Unsupported> {
        let is_product = |one: &ReleaseSpec| match one.blocks.as_slice() {
            [only] => match only.quantity {
                Quantity::Product => Some(true),
                Quantity::PackedTriangle | Quantity::IsometricTriangle => Some(false),
                _ => None,
            },
            _ => None,
        };
        let own = is_product(release);
        let alike = program.releases.iter().all(|one| is_product(one) == own);
        match program.is_plain_and_of_the_matrix(release) && own.is_some() && alike {
            true => Ok(()),
            false => Err(Unsupported::algorithm(
                "algorithm.precondition",
                program,
                "what it releases or makes of it has not been shown for P A P; set algorithm.kind = \"power\", \"momentum\", \"krylov\", \"covariance\" \
                 or \"isometric-covariance\", or algorithm.precondition = \"none\"",
            )),
        }
    }

    /// P.
    #[must_use]
    pub fn weights(&self) -> &ItemWeights {
        &self.weights
    }

    /// X and R of a query Q.
    fn unmapped(&self, query: &Block) -> Result<(Block, DMatrix<f64>), NotFullRank> {
        let x = orthonormalise(&self.weights.inverse_times(query))?;
        let r = query.transpose_times(&self.weights.times(&x));
        Ok((x, r.upper_triangle()))
    }

    /// What `inner` takes for the query, the sum and the noise of a release.
    fn of_inner(&self, query: &Block, sum: &Block) -> Result<(Block, Block, f64), NotFullRank> {
        if !self.products {
            let mut triangle = sum.clone();
            self.weights.scale_triangle(triangle.values_mut());
            let squares: f64 = self.weights.weights().iter().map(|w| w * w).sum();
            let mean = squares / self.weights.len() as f64;
            return Ok((query.clone(), triangle, mean));
        }
        let (x, r) = self.unmapped(query)?;
        let product = self.weights.times(sum).times(&r);
        let finite = product.values().iter().all(|value| value.is_finite());
        if !finite {
            return Err(NotFullRank {
                rows: product.rows(),
                columns: product.columns(),
                column: 0,
                magnitude: product.max_entry(),
                largest: sum.max_entry(),
            });
        }
        // ‖P x_j‖ is the length of column j of R.
        let mean = r.norm_squared() / r.ncols() as f64;
        Ok((x, product, mean))
    }

    /// The state as `inner` knows it, and the factor of the noise in units of it.
    fn inner_state(&self, state: &PublicState) -> Result<PublicState, NotFullRank> {
        let mut past = Vec::with_capacity(state.past.len());
        let mut means = 0.0;
        for one in &state.past {
            let (query, sum, mean) = self.of_inner(&one.query, &one.sum)?;
            means += mean;
            past.push(Released {
                release: one.release,
                query: Arc::new(query),
                sum: Arc::new(sum),
                sigmas: Arc::clone(&one.sigmas),
            });
        }
        let factor = means / past.len().max(1) as f64;
        for one in &mut past {
            one.sigmas = one.sigmas.iter().map(|sigma| sigma * factor).collect();
        }
        let query = match self.products {
            true => Arc::new(self.unmapped(&state.query)?.0),
            false => Arc::clone(&state.query),
        };
        Ok(PublicState {
            query,
            past,
            carried: state.carried.clone(),
            released: state.released,
            agreed: state.agreed,
        })
    }

    /// The state after a release, of which `inner` made `own`. The query is new where `inner` made a new one.
    fn outer_state(
        &self,
        before: (&PublicState, &PublicState),
        own: PublicState,
        (sum, sigmas): (&Arc<Block>, &[f64]),
    ) -> Result<PublicState, NotFullRank> {
        let (state, known) = before;
        let mut next = match own.past.is_empty() {
            true => state.clone(),
            false => state.followed_by(sum, sigmas),
        };
        if !Arc::ptr_eq(&own.query, &known.query) {
            next.query = match self.products {
                true => Arc::new(orthonormalise(&self.weights.times(&own.query))?),
                false => own.query,
            };
        }
        next.carried = own.carried;
        Ok(next)
    }

    /// One release further, by `inner`'s own rule.
    fn step(
        &self,
        state: &PublicState,
        (sum, sigmas): (&Arc<Block>, &[f64]),
        rule: impl Fn(&PublicState, &Arc<Block>, &[f64]) -> Result<PublicState, NotFullRank>,
    ) -> Result<PublicState, NotFullRank> {
        let known = self.inner_state(state)?;
        let (_, product, mean) = self.of_inner(&state.query, sum)?;
        let own: Vec<f64> = sigmas.iter().map(|sigma| sigma * mean).collect();
        let own = rule(&known, &Arc::new(product), &own)?;
        self.outer_state((state, &known), own, (sum, sigmas))
    }
}

impl Algorithm for Preconditioned {
    fn program(&self) -> Program {
        let digest = self.weights.digest();
        let number = |bytes: &[u8]| bytes.iter().fold(0.0, |n, b| n * 256.0 + f64::from(*b));
        let own = DIGEST.into_iter().zip(digest.chunks(6).map(number));
        let program = self.inner.program();
        let state = match program.state {
            // The query, which is no longer where the sum was.
            RetainedState::Query => RetainedState::Numbers(program.items * program.query_columns),
            other => other,
        };
        program.inside("preconditioned", own).state(state)
    }

    /// At Q, which is the query in the history.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        self.inner.prepare(rows, history)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        self.inner
            .add_contribution(release, rows, prepared, range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.step(state, (sum, sigmas), |state, sum, sigmas| {
            self.inner.advance(state, sum, sigmas)
        })
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.step(state, (sum, sigmas), |state, sum, sigmas| {
            self.inner.conclude(state, sum, sigmas)
        })
    }

    /// The leading eigenvectors of M, n × rank, orthonormal.
    ///
    /// # Panics
    /// If the query of the state is not orthonormal, which every peer checks before it goes on.
    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        let known = self.inner_state(state);
        self.inner.estimate(
            &known.expect(
                "weights within 65536 of each other leave an orthonormal block of full rank",
            ),
        )
    }
}

#[cfg(test)]
mod tests;
