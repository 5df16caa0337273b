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
//! | [`power`, clipped](ClippedPower) | min(1, θ/c) A_u X, row by row; counts of lengths c | n·p, 16 or 1 | 8·(n·p + 16)·K·L | X and θ | any |
//! | [`streaming`](Streaming) | A_u X over the rows of one batch | n·p | 8·n·p·K·L | X | any |
//! | [`ppi`](PrivatePowerIteration) | A_u x | n | 8·n·K·L | x | any |
//! | [`spectral-ridge`](SpectralRidge) | Σ clip(a) and counts of ratings; the isometric triangle of what they leave | 2n, n(n+1)/2 | 8·(2n + n(n+1)/2)·K | both | 2 |
//! | [`frank-wolfe`](FrankWolfe) | the isometric triangle of residuals, or Γ products with their covariance | n(n+1)/2, or n | 4·n(n+1)·K·L, or 8·n·Γ·K·L | directions | any |
//! | [`projected-gradient`](ProjectedGradient) | the isometric triangle of completed rows | n(n+1)/2 | 4·n(n+1)·K·L | L matrices | any |
//! | [`svd-completion`](SvdCompletion) | the isometric triangle and counts of ratings | n(n+1)/2 + n | 8·(n + n(n+1)/2)·K | directions | 1 |
//! | [`deflation`](Deflation) | A_u x, at last xᵀA_u x | n, 1 | 8·(n·T + 1)·k·K | finished vectors | k(T+1) |
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
//! A private graph whose vertices are the peers is computed on by `power`, `ppi` and `deflation` inside [`OnGraph`]; a matrix
//! whose rows and columns are the peers by `power` and `ppi` inside [`OnBipartite`].
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
//! An algorithm declares all its releases before a session starts ([`Algorithm::releases`]) and then says, from public
//! history alone, what comes next ([`Algorithm::next`]). Those that files can name have one release per iteration; an algorithm may have
//! several, of several blocks each, of own coordinates, of batches of rows ([`ReleaseSpec`]).
//!
//! A new algorithm that files can name is one file, one variant of [`AlgorithmKind`] and of [`AlgorithmSpec`] and one line
//! of [`AlgorithmSpec::build`]. One that programs hand in needs no variant: [`AlgorithmSpec::Own`].

mod centred;
mod clipped;
mod completion;
mod covariance;
mod deflation;
mod isometric;
mod krylov;
mod krylov_trial;
mod local;
mod momentum;
mod on_bipartite;
mod on_graph;
mod pilot;
mod power;
mod ppi;
mod preconditioned;
mod proved;
mod raked;
mod release;
mod spec;
mod start;
mod state;
mod streaming;
mod threshold_search;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub use centred::{Centred, mean_share};
pub use clipped::{BINS, Clip, ClipError, ClipRule, ClippedPower, THRESHOLDS, threshold};
pub use completion::{
    Completer, CompleterParts, Completion, CompletionMode, Descent, DescentError, FrankWolfe,
    FrankWolfeParameters, Global, GlobalPart, Local, LocalStep, OjaStep, PartsError,
    ProjectedGradient, RatedRows, SHARES, SpectralRidge, StepRule, SvdCompletion, completer,
    has_signal,
};
pub use covariance::Covariance;
pub use deflation::Deflation;
pub use isometric::IsometricCovariance;
pub use krylov::Krylov;
pub(crate) use krylov_trial::KrylovTrial;
pub use local::{BatchError, LocalData};
pub use momentum::Momentum;
pub use on_bipartite::{LARGEST_ENTRY, OnBipartite};
pub use on_graph::{NotOnGraph, OnGraph};
pub use pilot::{Pilot, TAIL_WEIGHT};
pub use power::PowerMethod;
pub use ppi::PrivatePowerIteration;
pub use preconditioned::{NotPreconditioned, Precondition, Preconditioned};
pub use proved::Proved;
pub use raked::RakedCovariance;
pub(crate) use raked::raked;
pub use release::{AgreedNumber, BlockSpec, Form, ReleaseSpec, charged, share_factors};
pub use spec::{AlgorithmError, AlgorithmKind, AlgorithmSpec, MAX_ITERATIONS, NoiseScale, Output};
pub use start::Start;
pub use state::{History, PublicState, Released};
pub use streaming::{Arrival, Streaming};
pub use threshold_search::ThresholdSearch;

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

/// A program of releases over private sums Σ_u f_u(history).
///
/// # Contract
/// Every function is pure: the same arguments give the same bits, in every engine. What is private enters through
/// [`prepare`](Self::prepare) and [`add_contribution`](Self::add_contribution) alone; the rest is post-processing of noisy
/// sums and costs nothing.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// What it is called. It is part of a session's name.
    fn name(&self) -> &'static str;

    /// All numbers it was made with, by name. They are part of a session's name: peers with other settings
    /// are in other sessions.
    fn settings(&self) -> Vec<(&'static str, f64)>;

    /// Items n.
    fn dimension(&self) -> usize;

    /// Columns of the public query X, n × this; the starting block has as many.
    fn query_columns(&self) -> usize;

    /// All releases, in the order in which they are made.
    fn releases(&self) -> Vec<ReleaseSpec>;

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

    /// The search for a threshold that takes the place of the agreement before a release, which only somebody who sees all rows can make;
    /// `None` for an algorithm without one. No engine but [`central`](crate::engine::central) runs an algorithm with one.
    fn threshold_search(&self) -> Option<ThresholdSearch> {
        None
    }

    /// How many of these rows are above each threshold of [`Self::threshold_search`], in their order. Secret.
    fn rows_above(&self, _: &SparseRows, _: History<'_>) -> Vec<f64> {
        Vec::new()
    }

    /// The degree floor that what it releases is weighed for; `None` where none is. A plan of rows under another one is refused, since the bound would be of
    /// something else.
    fn degree_floor(&self) -> Option<u32> {
        None
    }

    /// Whether all releases are of one shape, that of the query, and the next query is a function of the noisy sum alone
    /// and is the estimate too. Engines then keep one array per peer and no past. Such an algorithm must not look at the state in
    /// [`advance`](Self::advance), at anything but the query in [`prepare`](Self::prepare) and [`statistic`](Self::statistic), or at
    /// anything but the counters in [`next`](Self::next).
    fn is_memoryless(&self) -> bool {
        false
    }

    /// The most that an entry of a vertex's row counts as, in absolute value; 1 in a graph. Rows of norm at most 1 are bounded by that, whatever this is.
    fn largest_entry(&self) -> f64 {
        1.0
    }

    /// What is proved of it beyond its quantities: which bounds it may take, and what it may run in. Wrappers state what holds of the whole.
    fn proved(&self) -> Proved {
        Proved::default()
    }

    /// A summary of the rows against the public history that makes ranges of the contribution cheap.
    fn prepare(&self, rows: &SparseRows, history: History<'_>) -> Vec<f64> {
        rows.project(history.query, self.query_columns())
    }

    /// Adds the coordinates `range` of this peer's contribution to the release to `out`, which may hold those of other
    /// peers already.
    ///
    /// Every coordinate must be summed in an order that does not depend on `range`: engines cut the
    /// contribution differently and must still agree to the bit.
    fn add_contribution(
        &self,
        _release: ReleaseId,
        rows: &SparseRows,
        prepared: &[f64],
        range: Range<usize>,
        out: &mut [f64],
    ) {
        rows.add_back_projection(prepared, self.query_columns(), range, out);
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
