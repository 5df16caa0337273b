//! The sensitivity bound that holds for every X, for the FedPower-style baseline.

use std::marker::PhantomData;

use super::row_norm::RowNorm;
use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::Adjacency;

/// The worst case of [`super::max_entry::MaxEntry`], for every adjacency that has one.
pub(super) struct WorstCase<A>(PhantomData<A>);

/// Δ = √p for a change of the matrix, √2 times that for one interaction, whatever X is.
///
/// # Proof
/// Columns of X are orthonormal, so ‖X‖_max ≤ 1 and a row of p entries has norm at most √p. The bounds of
/// [`RowNorm`] increase with the row norm. ∎
///
/// A row norm is at most 1, so this wastes a factor √p on top of not adapting. It is kept as printed, not
/// clamped, because it is what the baseline is charged with.
///
/// # Source
/// A reconstruction of the "worst case, non-adaptive sensitivity" that P1, section 6 ascribes to FedPower
/// (Guo et al. 2024); that paper's own text was not available. The factor √2 for one interaction is
/// the one P1 gives its own method, as in [`super::max_entry`].
impl<A> Rule for WorstCase<A>
where
    RowNorm<A>: Rule,
{
    const ADJACENCY: Adjacency = RowNorm::<A>::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::WorstCase;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(public: &Public, _: f64) -> f64 {
        RowNorm::<A>::bound(public, f64::from(public.rank).sqrt())
    }
}
