//! Bounds for a sum of rows of norm at most 1, from which a mean is made.

use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{Adjacency, Neighbouring, ReplaceUser, User};
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

/// ‖a − b‖ ≤ ‖a‖ + ‖b‖, attained by opposite rows.
impl Rows for AnySign {
    const QUANTITY: Quantity = Quantity::RowSum;
    const APART: f64 = 4.0;
}

/// ‖a − b‖² = ‖a‖² + ‖b‖² − 2⟨a, b⟩, and ⟨a, b⟩ ≥ 0. Attained by orthogonal rows.
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
    /// c is the row itself.
    const SQUARE: f64 = 1.0;
}

impl<S: Rows> Moved<S> for ReplaceUser {
    /// c is the difference of two rows.
    const SQUARE: f64 = S::APART;
}

/// Δ = 1 for a row that is there or not; for one in place of another 2, and √2 where no entry is negative. A cap makes of one user's row
/// another row of that user, and the bounds hold for all rows.
impl<A: Moved<S>, S: Rows> Rule for RowSum<A, S> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = S::QUANTITY;
    const COVERS_CAP: bool = true;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        A::SQUARE.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The attacks know binary rows only, which are never negative: here opposite ones attain 2.
    #[test]
    fn rows_of_either_sign_attain_the_bound() {
        let (a, b) = ([0.6_f64, -0.8], [-0.6_f64, 0.8]);
        let apart = (a[0] - b[0]).hypot(a[1] - b[1]);
        assert!((apart - AnySign::APART.sqrt()).abs() < 1e-15);
    }
}
