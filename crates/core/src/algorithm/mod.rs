//! What is contributed, and how the public state advances.
//!
//! An algorithm is a public state machine over released sums, with a local map of known sensitivity for every release. It
//! never sees who its peers are or how values move; every engine calls the same functions.
//!
//! | kind | released per iteration | coordinates | bytes a peer sends per neighbour | state | iterations L |
//! | --- | --- | --- | --- | --- | --- |
//! | [`power`](PowerMethod) | A_u X | n·p | 8·n·p·K·L | X | any |
//! | [`momentum`](Momentum) | A_u X | n·p | 8·n·p·K·L | X and one block | any |
//! | [`krylov`](Krylov) | A_u X | n·b, b = `block` ≥ p | 8·n·b·K·L | all X and all sums | any |
//! | [`covariance`](Covariance) | the upper triangle of A_u | n(n+1)/2 | 4·n(n+1)·K | that release | 1 |
//! | [`isometric-covariance`](IsometricCovariance) | the same, entries off the diagonal times √2 | n(n+1)/2 | 4·n(n+1)·K | that release | 1 |
//! | [`raked-covariance`](RakedCovariance) | the same under a floor, its diagonal and row sums without | n(n+1)/2 + n | 4·n(n+3)·K | that release | 1 |
//! | [`streaming`](Streaming) | A_u X over the rows of one batch | n·p | 8·n·p·K·L | X | any |
//! | [`spectral-ridge`](SpectralRidge) | Σ clip(a) and counts of ratings; the isometric triangle of what they leave | 2n, n(n+1)/2 | 8·(2n + n(n+1)/2)·K | both | 2 |
//! | [`pilot`](Pilot) | how many users have how many interactions | 16 | 8·16·K | that release | 1 |
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
//! A private graph whose vertices are the peers is computed on by `power` inside [`OnGraph`]; a matrix whose rows and columns are the peers
//! by `power` inside [`OnBipartite`].
//!
//! Rows that are to be centred by a private mean are run by any of them inside [`Centred`], which has one release more.
//!
//! The eigenvectors of P A P, for a public diagonal P, are found by any of the first five inside [`Preconditioned`].
//!
//! # What each guarantees, and where the proof is
//! | statement | proof |
//! | --- | --- |
//! | one release of A_u X, X orthonormal, moves by at most Δ_l | `privacy/sensitivity/exact`, for `power`, `momentum` and `krylov` alike |
//! | one packed triangle moves by at most Δ | `privacy/sensitivity/packed` |
//! | one triangle with its margins moves by at most Δ | `privacy/sensitivity/margins` |
//! | one Rayleigh quotient moves by at most Δ | `privacy/sensitivity/rayleigh` |
//! | L adaptive releases spend μ² = Σμ_l², however the budget is split | [`split_budget`](crate::privacy::split_budget) |
//! | everything after a release is free | post-processing: [`Algorithm::advance`] and [`Algorithm::estimate`] see noisy sums and X⁰ only |
//! | the completion is the least one, and contains A^L X⁰ | [`Krylov`] |
//! | the block recurrence is that of one column | [`Momentum`] |
//! | P A P is analysed by queries of A, at bounds of the query | [`Preconditioned`] |
//!
//! A start by popularity ([`Start`]) takes the item degrees to be public; no ε covers them.
//!
//! # A program of releases
//! An algorithm declares all its releases before a session starts ([`Program`]) and then says, from public
//! history alone, what comes next ([`Algorithm::next`]). Those that files can name have one release per iteration; an algorithm may have
//! several, of several blocks each, of own coordinates, of batches of rows ([`ReleaseSpec`]).
//!
//! A new algorithm that files can name is one file, with the keys of its table ([`AlgorithmTable`]), and one line of `kinds!` in
//! `src/config/algorithms.rs`. One that programs hand in needs neither.

mod arrival;
mod auto;
mod centred;
mod completer;
mod covariance;
mod error;
mod isometric;
mod krylov;
mod krylov_trial;
mod local;
mod momentum;
mod on_bipartite;
mod on_graph;
mod pilot;
mod power;
mod preconditioned;
mod prelude;
mod program;
mod proved;
mod raked;
mod rated_rows;
mod release;
mod spectral_ridge;
mod start;
mod state;
mod stated;
mod streaming;
mod table;
mod threshold_search;
mod triangles;
mod unsupported;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use arrival::Arrival;
pub use centred::{Centred, mean_share, shorten, shortening};
pub use completer::{
    CHECKED, Completer, CompleterParts, PartsError, checked, freed, has_signal, overlap,
};
pub use covariance::Covariance;
pub use error::{AlgorithmError, MAX_ITERATIONS};
pub use isometric::IsometricCovariance;
pub use krylov::Krylov;
pub use momentum::Momentum;
pub use on_bipartite::OnBipartite;
pub use on_graph::{NotOnGraph, OnGraph};
pub use pilot::Pilot;
pub use power::PowerMethod;
pub use preconditioned::{NotPreconditioned, Precondition, Preconditioned};
pub use prelude::Prelude;
pub use program::{Program, RetainedState, Text};
pub use proved::Proved;
pub use raked::RakedCovariance;
pub use rated_rows::{Completion, RatedRows};
pub(crate) use release::share_factors;
pub use release::{AgreedNumber, BlockSpec, Form, ReleaseSpec, charged};
pub use spectral_ridge::SpectralRidge;
pub use start::{Start, following};
pub use state::{History, PublicState, Released};
pub use stated::ProgramReadError;
pub use streaming::Streaming;
pub use table::{AlgorithmTable, DataFacts, DataRequirements, Output, Weights};
pub use threshold_search::ThresholdSearch;
pub use unsupported::Unsupported;
// For the other crates of Undertone.
#[doc(hidden)]
pub use {
    auto::AutoTable, covariance::CovarianceTable, isometric::IsometricCovarianceTable,
    krylov::KrylovTable, krylov_trial::KrylovTrial, local::LocalData, momentum::MomentumTable,
    on_bipartite::LARGEST_ENTRY, pilot::PilotTable, pilot::TAIL_WEIGHT, power::PowerTable,
    raked::RakedCovarianceTable, raked::raked, rated_rows::SHARES,
    spectral_ridge::SpectralRidgeTable, streaming::StreamingTable,
};

use crate::linalg::{Block, NotFullRank, SparseRows};
use crate::vocabulary::ReleaseId;

/// What an algorithm wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// All peers agree on the largest value of [`Algorithm::statistic`].
    Agree,
    /// The release of this place in the program.
    Release(ReleaseId),
    /// Nothing: the estimate is final.
    Done,
}

/// What a peer contributes to the releases of a program, and what the public state becomes of their sums Σ_u f_u(history).
///
/// # Contract
/// Every function is pure: the same arguments give the same bits, in every engine. What is private enters through
/// [`prepare`](Self::prepare) and [`add_contribution`](Self::add_contribution) alone; the rest is post-processing of noisy
/// sums and costs nothing.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// All that it releases, with everything that is public of it. Engines and planners ask for it once and keep it: a program may have a
    /// hundred thousand releases.
    fn program(&self) -> Program;

    /// What comes next, given what has been released so far and whether peers have agreed on [`Self::statistic`]. `declared` is
    /// the next release of the program, if there is one; it cannot be skipped.
    ///
    /// It may be done before all releases are made. That decision must be the same at every peer, so it may look at agreed
    /// numbers and at own coordinates, which all peers hold with equal bits, and not at sums, of which every peer has its
    /// own estimate. What was planned for the releases that are left out stays spent.
    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        match declared {
            None => Next::Done,
            Some(release) if release.agreement.is_some() && state.agreed.is_none() => Next::Agree,
            Some(_) => Next::Release(ReleaseId(state.released).next()),
        }
    }

    /// The public number whose largest value over all peers is agreed on before a release that asks for it.
    fn statistic(&self, _: &PublicState) -> f64 {
        0.0
    }

    /// How many of these rows are above each threshold of [`Program::search`], in their order. Secret.
    fn rows_above(&self, _: &SparseRows, _: History<'_>) -> Vec<f64> {
        Vec::new()
    }

    /// A summary of the rows against the public history that makes ranges of the contribution cheap. Where nothing is said, R_u X row
    /// after row.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        rows.project(history.query, history.query.len() / rows.dimension().max(1))
    }

    /// Adds the coordinates `range` of this peer's contribution to the release to `out`, which may hold those of other
    /// peers already.
    ///
    /// Every coordinate must be summed in an order that does not depend on `range`: engines cut the
    /// contribution differently and must still agree to the bit. Where nothing is said, A_u X = R_uᵀ(R_u X).
    fn add_contribution(
        &self,
        _release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        if let Some(columns) = prepared.len().checked_div(rows.len()) {
            rows.add_back_projection(prepared, columns, range, out);
        }
    }

    /// The next public state from the noisy sum, or from all peers' coordinates, peer after peer.
    ///
    /// `sigmas` are the standard deviations of the noise on every coordinate of the sum, one per block, known to all from
    /// the plan; 0 without noise. The next query must have orthonormal columns (to 1e-9): every sensitivity is a bound over
    /// such queries, and peers refuse to contribute at another. The caller counts the release.
    ///
    /// # Errors
    /// [`NotFullRank`] if the sum has no unique orthonormal basis.
    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank>;

    /// [`Self::advance`] after the last release, whose next query nobody will contribute at: it need not be made.
    ///
    /// # Errors
    /// As [`Self::advance`].
    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        self.advance(state, sum, sigmas)
    }

    /// The estimate of the leading eigenvectors in a state that has advanced at least once, n × rank, orthonormal columns.
    fn estimate(&self, state: &PublicState) -> Arc<Block>;

    /// What completes rows by this state; `None` for an algorithm that is not about completion.
    fn completer(&self, _: &PublicState) -> Option<Box<dyn Completer>> {
        None
    }
}

impl<A: Algorithm + ?Sized> Algorithm for Arc<A> {
    fn program(&self) -> Program {
        (**self).program()
    }

    fn next(&self, state: &PublicState, declared: Option<&ReleaseSpec>) -> Next {
        (**self).next(state, declared)
    }

    fn statistic(&self, state: &PublicState) -> f64 {
        (**self).statistic(state)
    }

    fn rows_above(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        (**self).rows_above(rows, history)
    }

    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        (**self).prepare(rows, history)
    }

    fn add_contribution(
        &self,
        release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        (**self).add_contribution(release, rows, prepared, range, out);
    }

    fn advance(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        (**self).advance(state, sum, sigmas)
    }

    fn conclude(
        &self,
        state: &PublicState,
        sum: &Arc<Block>,
        sigmas: &[f64],
    ) -> Result<PublicState, NotFullRank> {
        (**self).conclude(state, sum, sigmas)
    }

    fn estimate(&self, state: &PublicState) -> Arc<Block> {
        (**self).estimate(state)
    }

    fn completer(&self, state: &PublicState) -> Option<Box<dyn Completer>> {
        (**self).completer(state)
    }
}

/// The contribution of these rows to a release as a whole: what a peer adds noise to.
#[must_use]
pub fn contribution(
    algorithm: &dyn Algorithm,
    rows: &SparseRows,
    history: History<'_>,
    (height, width): (usize, usize),
) -> Block {
    let mut out = Block::zeros(height, width);
    let prepared = algorithm.prepare(rows, history);
    let range = 0..height * width;
    algorithm.add_contribution(history.release, rows, &prepared, range, out.values_mut());
    out
}
