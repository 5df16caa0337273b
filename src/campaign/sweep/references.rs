//! What the cells of a sweep are measured against.

use crate::linalg::Block;
use crate::recommender::LowPassFilter;
use crate::run::References;
use crate::run::metrics::Utility;
use crate::run::variance::Variance;
use crate::scenario::Experiment;
use crate::vocabulary::Seed;

/// The references of one matrix, which no seed changes.
#[derive(Debug)]
pub(super) struct Fixed {
    filter: LowPassFilter<'static>,
    /// U, where it is within reach.
    exact: Option<Block>,
    /// Of numbers: what their variance is.
    variance: Option<Variance>,
}

impl Fixed {
    /// The references of the matrix this experiment computes on.
    pub(super) fn of(experiment: &Experiment) -> Self {
        let of_numbers = experiment.samples().is_some();
        let variance = of_numbers
            .then(|| Variance::of(experiment))
            .and_then(Result::ok);
        let exact = match of_numbers {
            true => variance.as_ref().map(Variance::top),
            false => References::exact(experiment).ok(),
        };
        Self {
            filter: experiment.filter().into_owned(),
            exact: exact.map(|top| top.vectors),
            variance,
        }
    }

    /// All figures of one basis; `plain` is the non-private run from the same X⁰, where it has a basis.
    pub(super) fn measure(&self, basis: &Block, plain: Option<&Block>) -> Utility {
        Utility::of(
            &self.filter,
            basis,
            self.exact.as_ref(),
            plain,
            self.variance.as_ref(),
        )
    }
}

/// X^L of this experiment's matrix without any noise, from the X⁰ of its seed; `None` for data of rank below p, which
/// have none: the measures against it are then empty, and the cell stands.
pub(super) fn non_private(experiment: &Experiment) -> Option<Block> {
    let session = experiment.session(&Seed::from_u64(experiment.config().seed));
    let outcome = References::non_private(experiment, &session).ok()?;
    Some(outcome.basis().clone())
}
