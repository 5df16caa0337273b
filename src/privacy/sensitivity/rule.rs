//! A bound together with the adjacency it is proved for.

use super::super::adjacency::{Adjacency, Neighbouring};
use super::exact::Exact;
use super::max_entry::MaxEntry;
use super::packed::Packed;
use super::row_norm::RowNorm;
use super::worst_case::WorstCase;
use super::{SensitivityRule, Statistic, adjacency};
use crate::vocabulary::Release;

/// What is public and fixed before a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Public {
    /// D ≥ 1.
    pub(super) degree_floor: u32,
    /// m ≥ 1, if there is a cap.
    pub(super) degree_cap: Option<u32>,
    /// p ≥ 1, the columns of X.
    pub(super) rank: u32,
}

/// A proved bound. The proof is in the documentation of the type that implements this, for the adjacency that
/// the type names: `Exact<Swap>` is a bound for swaps, and registering it as anything else does not compile.
pub(super) trait Rule {
    /// The adjacency of the proof.
    type Adjacency: Neighbouring;

    /// What configurations call it.
    const RULE: SensitivityRule;

    /// What is released: the bound is one on the change of that and of nothing else.
    const RELEASE: Release = Release::Product;

    /// Whether the proof covers a cap on a user's interactions, and neighbours under this adjacency are neighbours under a
    /// cap: see [`cap`](crate::data::Interactions::cap).
    const COVERS_CAP: bool = false;

    /// The public number of X that [`Self::bound`] takes.
    fn statistic(_: &Public) -> Statistic {
        Statistic::MaxRowNorm
    }

    /// Δ, given the statistic in (0, 1]; nondecreasing in it.
    fn bound(public: &Public, statistic: f64) -> f64;
}

/// A [`Rule`] as a line of the registry.
pub(super) struct Proved {
    pub(super) release: Release,
    pub(super) adjacency: Adjacency,
    pub(super) rule: SensitivityRule,
    pub(super) covers_cap: bool,
    pub(super) statistic: fn(&Public) -> Statistic,
    pub(super) bound: fn(&Public, f64) -> f64,
}

impl Proved {
    const fn of<R: Rule>() -> Self {
        Self {
            release: R::RELEASE,
            adjacency: R::Adjacency::ADJACENCY,
            rule: R::RULE,
            covers_cap: R::COVERS_CAP,
            statistic: R::statistic,
            bound: R::bound,
        }
    }
}

/// The combinations that have a proof; the text of [`super::PrivacyError::Unproved`].
pub(super) static PROVED: [Proved; 17] = [
    Proved::of::<Exact<adjacency::Interaction>>(),
    Proved::of::<RowNorm<adjacency::Interaction>>(),
    Proved::of::<MaxEntry<adjacency::Interaction>>(),
    Proved::of::<WorstCase<adjacency::Interaction>>(),
    Proved::of::<Exact<adjacency::User>>(),
    Proved::of::<Exact<adjacency::Swap>>(),
    Proved::of::<Exact<adjacency::ReplaceUser>>(),
    Proved::of::<Exact<adjacency::MatrixChange>>(),
    Proved::of::<RowNorm<adjacency::MatrixChange>>(),
    Proved::of::<MaxEntry<adjacency::MatrixChange>>(),
    Proved::of::<WorstCase<adjacency::MatrixChange>>(),
    Proved::of::<Exact<adjacency::UnitSpectral>>(),
    Proved::of::<Packed<adjacency::Interaction>>(),
    Proved::of::<Packed<adjacency::User>>(),
    Proved::of::<Packed<adjacency::Swap>>(),
    Proved::of::<Packed<adjacency::ReplaceUser>>(),
    Proved::of::<Packed<adjacency::MatrixChange>>(),
];

/// The line for this combination, if it has a proof.
pub(super) fn proved(
    release: Release,
    adjacency: Adjacency,
    rule: SensitivityRule,
) -> Option<&'static Proved> {
    PROVED
        .iter()
        .find(|line| (line.release, line.adjacency, line.rule) == (release, adjacency, rule))
}
