//! Bounds for rows of which only a norm of at most 1 is known, such as clipped samples.

use std::f64::consts::SQRT_2;
use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{Adjacency, Neighbouring, ReplaceUser, User};
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` for adjacency `A`, whatever the rows are.
pub(super) struct UnitRow<A, Q>(PhantomData<(A, Q)>);

/// An adjacency with a bound on ‖C‖_F for a change C of A = Σ aᵀa over rows with ‖a‖ ≤ 1.
pub(super) trait Bounded: Neighbouring {
    /// The bound.
    const FROBENIUS: f64;
}

/// C = aᵀa, ‖C‖_F = ‖a‖² ≤ 1.
impl Bounded for User {
    const FROBENIUS: f64 = 1.0;
}

/// C = aᵀa − bᵀb, ‖C‖_F² = ‖a‖⁴ + ‖b‖⁴ − 2⟨a, b⟩² ≤ 2.
impl Bounded for ReplaceUser {
    const FROBENIUS: f64 = SQRT_2;
}

/// Which quantity.
pub(super) trait Of {
    /// Its name.
    const QUANTITY: Quantity;
}

/// The product A X.
pub(super) struct Product;
/// The packed triangle.
pub(super) struct Packed;
/// The isometric triangle.
pub(super) struct Isometric;

impl Of for Product {
    const QUANTITY: Quantity = Quantity::Product;
}

impl Of for Packed {
    const QUANTITY: Quantity = Quantity::PackedTriangle;
}

impl Of for Isometric {
    const QUANTITY: Quantity = Quantity::IsometricTriangle;
}

/// Δ = 1 for a row that is there or not, √2 for one in place of another, whatever X is.
///
/// # Proof
/// Every quantity is a linear image of A that lengthens no matrix: ‖CX‖_F ≤ ‖C‖_F for X with orthonormal columns, the
/// triangle leaves entries of C out, and the isometric triangle has norm ‖C‖_F. The bounds on ‖C‖_F stand at [`Bounded`]. A cap makes
/// of one user's row another row of that user, and the bounds hold for all rows. ∎
///
/// Tight: rows of norm 1, orthogonal where there are two, in the span of X.
impl<A: Bounded, Q: Of> Rule for UnitRow<A, Q> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Q::QUANTITY;
    const COVERS_CAP: bool = true;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        A::FROBENIUS
    }
}
