//! The sensitivity bound of earlier work, from the largest entry of X; the baselines of P1 use it.

use std::marker::PhantomData;

use super::row_norm::RowNorm;
use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::Adjacency;

/// The earlier bound for every adjacency that has a [`RowNorm`].
pub(super) struct MaxEntry<A>(PhantomData<A>);

/// Δ = √p·‖X‖_max for a change of the matrix (Hardt & Price 2014, Definition 4.1; Balcan et al. 2016,
/// Algorithm 2), √2 times that for one interaction.
///
/// # Proof
/// A row of p entries of size at most ‖X‖_max has norm at most √p·‖X‖_max, so D̂ ≤ √p·‖X‖_max, and the bounds
/// of [`RowNorm`] increase with D̂. ∎
///
/// A row norm is at most 1, so for √p·‖X‖_max > 1 this charges more than it must. It is kept as printed, not
/// clamped, because it is what the baselines are charged with. For the interaction the factor is the one P1 gives
/// its own method (√2); which one P1's figures give the baselines is not stated.
impl<A> Rule for MaxEntry<A>
where
    RowNorm<A>: Rule,
{
    const ADJACENCY: Adjacency = RowNorm::<A>::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::MaxEntry;

    fn statistic(_: &Public) -> Statistic {
        Statistic::MaxEntry
    }

    fn bound(public: &Public, entry: f64) -> f64 {
        RowNorm::<A>::bound(public, f64::from(public.rank).sqrt() * entry)
    }
}
