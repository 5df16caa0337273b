//! What errors are measured against: the exact eigenvectors and the run without privacy.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::metrics::Utility;
use super::variance::Variance;
use crate::engine::central::{self, SumNoise};
use crate::engine::{EngineError, Outcome, PeerRows, Session, Silent};
use crate::linalg::{
    Block, ItemWeights, SparseRows, TopEigenvectors, subspace_distance, top_eigenvectors,
};
use crate::recommender::LowPassFilter;
use crate::scenario::Experiment;
use crate::scenario::divisor::Divisor;

impl Experiment {
    /// The degree floor of the matrix that errors are measured on.
    #[must_use]
    pub fn reference_floor(&self) -> u32 {
        let data = &self.config().data;
        self.config()
            .evaluation
            .reference_floor
            .unwrap_or(data.degree_floor())
    }

    /// The users' rows under that floor.
    #[must_use]
    pub fn reference_rows(&self) -> Cow<'_, SparseRows> {
        match NonZeroU32::new(self.reference_floor()) {
            Some(floor) if floor.get() != self.config().data.degree_floor() => {
                Cow::Owned(Divisor::new(self.config(), floor).rows(self.interactions()))
            }
            _ => Cow::Borrowed(self.user_rows()),
        }
    }

    /// The weights W of the low-pass filter R ↦ R W U Uᵀ W⁻¹ that a basis of this experiment stands for: P, where it is of eigenvectors of P A P, and
    /// the inverse roots of item degrees otherwise.
    #[must_use]
    pub fn filter_weights(&self) -> ItemWeights {
        match self.precondition_weights() {
            Some(weights) => weights.clone(),
            None => ItemWeights::inverse_roots(&self.interactions().item_degrees()),
        }
    }

    /// That filter on the interactions that the peers hold, which errors are measured by.
    #[must_use]
    pub fn filter(&self) -> LowPassFilter<'_> {
        LowPassFilter::weighted(self.interactions(), self.filter_weights())
    }
}

/// Stored entries times eigenvectors beyond which no exact reference is computed: some hundred passes over that much
/// take longer than the runs they would measure.
const REFERENCE_WORK: usize = 250_000_000;

/// What bases of one matrix are measured against, which no seed changes. With A = RᵀR of the rows R under the reference floor it is about P A P,
/// the Gram matrix of R P, where the experiment has a P, and about A otherwise. Whether a reference exists is a property of the raw data (its
/// rank, its gaps, its size), so a missing one is a null with a reason beside the figures it was for, never the end of a run.
#[derive(Debug)]
pub(crate) struct References<'a> {
    filter: LowPassFilter<'a>,
    /// The exact leading eigenvectors, or why they are out of reach.
    pub exact: Result<TopEigenvectors, String>,
    /// The variance of numbers, where it is known.
    pub(super) variance: Option<Variance>,
}

impl<'a> References<'a> {
    /// The references of the matrix that this experiment computes on.
    pub(crate) fn of(experiment: &'a Experiment) -> Self {
        let variance = experiment.samples().map(|_| Variance::of(experiment));
        let exact = match &variance {
            Some(variance) => variance.as_ref().map(Variance::top).map_err(Clone::clone),
            None => exact(experiment),
        };
        Self {
            filter: experiment.filter(),
            exact,
            variance: variance.and_then(Result::ok),
        }
    }

    /// No references, for this reason.
    pub(super) fn none(experiment: &'a Experiment, reason: &str) -> Self {
        Self {
            filter: experiment.filter(),
            exact: Err(reason.to_owned()),
            variance: None,
        }
    }

    /// The references with a copy of the interactions of their own.
    pub(crate) fn into_owned(self) -> References<'static> {
        References {
            filter: self.filter.into_owned(),
            exact: self.exact,
            variance: self.variance,
        }
    }

    /// The exact leading eigenvectors, where they are known.
    pub(super) fn vectors(&self) -> Option<&Block> {
        self.exact.as_ref().ok().map(|top| &top.vectors)
    }

    /// All figures of one basis; `non_private` is the basis of the run without noise from the same X⁰.
    pub(crate) fn utility(&self, basis: &Block, non_private: Option<&Block>) -> Utility {
        let last = self.variance.as_ref().map(|variance| variance.parts(basis));
        let last = last.and_then(|parts| parts.last().copied());
        let finite = |figure: f64| figure.is_finite().then_some(figure);
        let relative = |u: &Block| finite(self.filter.relative_error(basis, u));
        Utility {
            subspace_error: (self.vectors()).and_then(|u| finite(subspace_distance(basis, u))),
            relative_error: self.vectors().and_then(relative),
            relative_error_non_private: non_private.and_then(relative),
            captured_variance: last.map(|part| part.captured),
            explained_ratio: last.map(|part| part.explained),
        }
    }

    /// The non-private run of this session on the reference matrix.
    ///
    /// # Errors
    /// [`EngineError`] if it has no unique basis, which tells that the matrix has a rank below p: callers make a null of it.
    pub(crate) fn non_private(
        experiment: &Experiment,
        session: &Session,
    ) -> Result<Outcome, EngineError> {
        let run = |session: &Session| central::run(session, SumNoise::Nothing, &mut Silent);
        match experiment.reference_rows() {
            Cow::Borrowed(_) => run(session),
            Cow::Owned(rows) => run(&Session::curated(
                session.plan(),
                Arc::new(PeerRows::new(vec![rows])),
                Arc::clone(session.start()),
                session.seed(),
                0.0,
            )?),
        }
    }

    /// Why no exact eigenvectors are computed, where they would take longer than the runs they measure.
    pub(crate) fn out_of_reach(experiment: &Experiment) -> Option<String> {
        if experiment.samples().is_some() {
            return Variance::out_of_reach(experiment);
        }
        let rank = experiment.config().algorithm.table().rank();
        let entries = experiment.user_rows().entries();
        (entries.saturating_mul(rank) > REFERENCE_WORK).then(|| {
            format!(
                "exact eigenvectors of {entries} interactions at rank {rank} would take longer than the run; \
                 relative_error_non_private needs none"
            )
        })
    }
}

/// The exact leading eigenvectors of the reference matrix of interactions, or why there are none; of P A P where there is a P.
fn exact(experiment: &Experiment) -> Result<TopEigenvectors, String> {
    if let Some(why) = References::out_of_reach(experiment) {
        return Err(why);
    }
    let rows = experiment.reference_rows();
    let rows = match experiment.precondition_weights() {
        Some(weights) => Cow::Owned(weights.scale_columns(&rows)),
        None => rows,
    };
    top_eigenvectors(&rows, experiment.config().algorithm.table().rank())
        .map_err(|error| error.to_string())
        .and_then(leading)
}

/// The eigenvectors, unless the last of them belong to the eigenvalue 0: any vector that the data never touch is then as
/// good as another, and a distance to it says nothing.
fn leading(top: TopEigenvectors) -> Result<TopEigenvectors, String> {
    // Eigenvalues are known to about 1e-11 of the largest.
    let positive = |value: &&f64| **value > 1e-10 * top.values[0];
    let (rank, found) = (top.values.len(), top.values.iter().filter(positive).count());
    if found == rank {
        return Ok(top);
    }
    Err(format!(
        "the matrix has rank {found}, so that its {rank} leading eigenvectors are not unique"
    ))
}
