//! Bounds for contributions that are clipped to a public length, and for counts of how long contributions are.

use std::f64::consts::SQRT_2;
use std::marker::PhantomData;

use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use crate::privacy::adjacency::{Adjacency, Neighbouring, ReplaceUser, User};
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` for adjacency `A`, whatever rows, query and length are.
pub(super) struct Clipped<A, Q>(PhantomData<(A, Q)>);

/// Σ a_i over contributions a_i of norm at most 1.
///
/// # Statement
/// One row that is there or not moves it by at most 1, one in place of another by at most 2, for every public length θ in (0, 1].
///
/// # Proof
/// With c = ‖rᵀ(rX)‖_F a row contributes rᵀ(rX)·min(1, θ/c)/θ, of norm min(c/θ, 1) ≤ 1, or nothing. An empty slot contributes nothing. So
/// one row more or less is one term of norm at most 1, and ‖a − a′‖ ≤ ‖a‖ + ‖a′‖ ≤ 2. ∎
///
/// 2 is the least bound that holds for every θ. For X of the one column e_2 and the rows (√(1 − θ²), ±θ), both of length c = θ,
/// the difference is 2√(1 − θ²). Without clipping (θ = 1) it would be √2: rᵀr and r′ᵀr′ are never opposite, but clipping lengthens what
/// is short in units of θ.
pub(super) struct Product;

/// How many rows are in each bin: a row adds 1 to one coordinate at most, so that it is there or not for 1 and in another bin
/// for √(1² + 1²). Tight.
pub(super) struct Histogram;

/// How many rows are within a length: a row adds 1 or nothing, whether it is compared with no row or with another. Tight.
pub(super) struct Count;

/// A quantity with its bound for an adjacency.
pub(super) trait Moved<A>: 'static {
    /// Its name.
    const QUANTITY: Quantity;
    /// The bound.
    const NORM: f64;
}

impl Moved<User> for Product {
    const QUANTITY: Quantity = Quantity::ClippedProduct;
    const NORM: f64 = 1.0;
}

impl Moved<ReplaceUser> for Product {
    const QUANTITY: Quantity = Quantity::ClippedProduct;
    const NORM: f64 = 2.0;
}

impl Moved<User> for Histogram {
    const QUANTITY: Quantity = Quantity::ClipHistogram;
    const NORM: f64 = 1.0;
}

impl Moved<ReplaceUser> for Histogram {
    const QUANTITY: Quantity = Quantity::ClipHistogram;
    const NORM: f64 = SQRT_2;
}

impl Moved<User> for Count {
    const QUANTITY: Quantity = Quantity::ClipCount;
    const NORM: f64 = 1.0;
}

impl Moved<ReplaceUser> for Count {
    const QUANTITY: Quantity = Quantity::ClipCount;
    const NORM: f64 = 1.0;
}

/// See [`Product`], [`Histogram`] and [`Count`]. A coordinate moves by no more than the norm of what one row contributes, 1.
impl<A: Neighbouring, Q: Moved<A>> Rule for Clipped<A, Q> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Q::QUANTITY;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(_: &Public, _: f64) -> f64 {
        Q::NORM
    }
}
