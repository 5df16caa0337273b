//! Bounds for a sum of rows of norm at most 1, from which a mean is made.

use std::marker::PhantomData;

use super::super::rule::SensitivityRule;
use super::rule::{Public1, Rule1};
use crate::privacy::adjacency::{Neighbouring, ReplaceUser, User};
use crate::vocabulary::Quantity;

/// The bound on Σ r for adjacency `A`, the rows being of kind `S`.
pub(super) struct RowSum<A, S>(PhantomData<(A, S)>);

/// Rows of either sign.
pub(super) struct AnySign;
/// Rows without a negative entry.
pub(super) struct Nonnegative;

/// Which rows.
pub(super) trait Rows {
    /// What the sum of such rows is called.
    const QUANTITY: Quantity;
    /// The most that ‖a − b‖² can be.
    const APART: f64;
}

impl Rows for AnySign {
    const QUANTITY: Quantity = Quantity::RowSum;
    const APART: f64 = 4.0;
}

impl Rows for Nonnegative {
    const QUANTITY: Quantity = Quantity::NonnegativeRowSum;
    const APART: f64 = 2.0;
}

/// An adjacency with a bound on ‖c‖² for a change c of Σ r.
pub(super) trait Moved<S>: Neighbouring {
    /// The bound.
    const SQUARE: f64;
}

impl<S: Rows> Moved<S> for User {
    const SQUARE: f64 = 1.0;
}

impl<S: Rows> Moved<S> for ReplaceUser {
    const SQUARE: f64 = S::APART;
}

/// Δ₁ = √n for a row that is there or not; for one in place of another 2√n, and √(2n) where no entry is negative.
///
/// # Proof
/// ‖c‖₁ ≤ √n·‖c‖, and ‖c‖² is at most 1; for two rows at most (1 + 1)², and where ⟨a, b⟩ ≥ 0 at most 2. ∎
///
/// Attained by rows of equal absolute entries: one, two opposite ones, two that share the items evenly (n even).
impl<A: Moved<S>, S: Rows> Rule1 for RowSum<A, S> {
    type Adjacency = A;

    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = S::QUANTITY;

    fn bound(public: &Public1, _: f64) -> f64 {
        (public.items() * A::SQUARE).sqrt()
    }
}
