//! Bounds for a sum of rows of norm at most 1, from which a mean is made.

use std::marker::PhantomData;

use super::super::row_sum::{Moved, Rows};
use super::super::rule::SensitivityRule;
use super::rule::{Public1, Rule1};
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// The bound on Σ r for adjacency `A`, the rows being of kind `S`.
pub(super) struct RowSum<A, S>(PhantomData<(A, S)>);

/// Δ₁ = √n for a row that is there or not; for one in place of another 2√n, and √(2n) where no entry is negative.
///
/// # Proof
/// ‖c‖₁ ≤ √n·‖c‖, and ‖c‖² is at most 1; for two rows at most (1 + 1)², and where ⟨a, b⟩ ≥ 0 at most 2. ∎
///
/// Attained by rows of equal absolute entries: one, two opposite ones, two that share the items evenly (n even).
impl<A: Moved<S>, S: Rows> Rule1 for RowSum<A, S> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = S::QUANTITY;

    fn bound(public: &Public1, _: f64) -> f64 {
        (public.items() * A::SQUARE).sqrt()
    }
}
