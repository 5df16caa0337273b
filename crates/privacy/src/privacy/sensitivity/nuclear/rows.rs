//! Rows of which only a norm of at most 1 is known.

use std::marker::PhantomData;

use super::super::rule::{Public, SensitivityRule};
use super::NuclearRule;
use crate::privacy::adjacency::{self, Adjacency};

/// The bound for rows of norm at most 1 under adjacency `A`.
pub(super) struct UnitRow<A>(PhantomData<A>);

/// A row there or not: Δ_* = 1.
///
/// # Proof
/// With y = 0 the identity is ‖xxᵀ‖_* = ‖x‖² ≤ 1. ∎ Attained by every row of norm 1.
impl NuclearRule for UnitRow<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;

    fn bound(_: &Public) -> f64 {
        1.0
    }
}

/// One row in place of another: Δ_* = 2.
///
/// # Proof
/// ‖xxᵀ − yyᵀ‖_* ≤ ‖xxᵀ‖_* + ‖yyᵀ‖_* ≤ 2. ∎ Attained by orthogonal rows of norm 1.
impl NuclearRule for UnitRow<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;

    fn bound(_: &Public) -> f64 {
        2.0
    }
}
