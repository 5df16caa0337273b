//! What a bound on the sensitivity is, together with the adjacency it is proved for.

pub use crate::privacy::sensitivity_rule::SensitivityRule;

use super::rating_range::RatingRange;
use super::statistic::Statistic;
use crate::privacy::adjacency::Adjacency;
use crate::vocabulary::Quantity;

/// What is public and fixed before a run.
#[derive(Clone, Copy, Debug)]
pub struct Public {
    /// D ≥ 1.
    pub degree_floor: u32,
    /// m ≥ 1, if there is a cap.
    pub degree_cap: Option<u32>,
    /// p ≥ 1, the columns of X.
    pub rank: u32,
    /// c and b, where one record is a rating and they are known.
    pub rating: Option<RatingRange>,
}

/// A proved bound. The proof is in the documentation of the type that implements this, for the adjacency that
/// [`Self::ADJACENCY`] names, under which alone it is registered.
pub trait Rule {
    /// The adjacency of the proof.
    const ADJACENCY: Adjacency;

    /// What configurations call it.
    const RULE: SensitivityRule = SensitivityRule::Own;

    /// What is released: the bound is one on the change of that and of nothing else.
    const QUANTITY: Quantity = Quantity::Product;

    /// Whether the proof covers a cap on a user's interactions, and neighbours under this adjacency are neighbours under a
    /// cap: see [`cap`](crate::interactions::Interactions::cap).
    const COVERS_CAP: bool = false;

    /// The public number of X that [`Self::bound`] takes.
    fn statistic(_: &Public) -> Statistic {
        Statistic::MaxRowNorm
    }

    /// Δ, given the statistic in (0, 1]; nondecreasing in it.
    fn bound(public: &Public, statistic: f64) -> f64;

    /// The most that one row adds to any coordinate of a contribution, in absolute value; `None` where nothing is declared.
    /// Integers mod 2^k ([`Scheme::Ring`](crate::privacy::Scheme::Ring)) need to know how large a sum can be.
    ///
    /// For a row r of norm at most 1 it is 1 in the quantities that have a name: |r_i|·|(rX)_c| ≤ ‖r‖·‖r‖·‖X_{:c}‖ ≤ 1,
    /// |r_i r_j| ≤ 1, and √2·|r_i r_j| ≤ (r_i² + r_j²)/√2 ≤ 1. The rows of a graph are longer, and nothing is declared of them.
    fn largest_per_row(_: &Public) -> Option<f64> {
        let of_any_length = matches!(
            Self::QUANTITY,
            Quantity::Own(_)
                | Quantity::GraphProduct
                | Quantity::BipartiteHalf
                | Quantity::GraphQuotient
        );
        (!of_any_length).then_some(1.0)
    }
}

/// A [`Rule`] as a line of the registry.
#[derive(Clone, Copy)]
pub(super) struct Proved {
    pub(super) quantity: Quantity,
    pub(super) adjacency: Adjacency,
    pub(super) rule: SensitivityRule,
    pub(super) covers_cap: bool,
    pub(super) statistic: fn(&Public) -> Statistic,
    pub(super) bound: fn(&Public, f64) -> f64,
    pub(super) largest_per_row: fn(&Public) -> Option<f64>,
    /// The type that the proof is about.
    pub(super) name: fn() -> &'static str,
}

impl Proved {
    pub(super) const fn of<R: Rule>() -> Self {
        Self {
            quantity: R::QUANTITY,
            adjacency: R::ADJACENCY,
            rule: R::RULE,
            covers_cap: R::COVERS_CAP,
            statistic: R::statistic,
            bound: R::bound,
            largest_per_row: R::largest_per_row,
            name: std::any::type_name::<R>,
        }
    }
}

/// The line of a rule, for as long as the program runs.
pub(super) struct Line<R>(std::marker::PhantomData<R>);

impl<R: Rule> Line<R> {
    pub(super) const LINE: &'static Proved = &Proved::of::<R>();
}
