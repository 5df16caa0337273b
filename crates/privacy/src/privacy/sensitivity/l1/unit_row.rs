//! Bounds for rows of which only a norm of at most 1 is known, such as clipped samples.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::marker::PhantomData;

use super::super::rule::SensitivityRule;
use super::rule::{Public1, Rule1};
use crate::privacy::adjacency::{Adjacency, Neighbouring, ReplaceUser, User};
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` for adjacency `A`, whatever the rows are.
pub(super) struct UnitRow<A, Q>(PhantomData<(A, Q)>);

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
/// The quotient vᵀAv.
pub(super) struct Rayleigh;

impl Of for Product {
    const QUANTITY: Quantity = Quantity::Product;
}

impl Of for Packed {
    const QUANTITY: Quantity = Quantity::PackedTriangle;
}

impl Of for Isometric {
    const QUANTITY: Quantity = Quantity::IsometricTriangle;
}

impl Of for Rayleigh {
    const QUANTITY: Quantity = Quantity::RayleighQuotient;
}

/// What the triangles of a symmetric C sum to, given ‖C‖₁₁ = Σ_ij |C_ij| and t = Σ_i |C_ii|: every entry off the diagonal is released once,
/// and counts 1 in the packed triangle and √2 in the isometric one.
///
/// Packed: t + (‖C‖₁₁ − t)/2 = (‖C‖₁₁ + t)/2. Isometric: t + √2·(‖C‖₁₁ − t)/2 = ‖C‖₁₁/√2 + (1 − 1/√2)·t. Both grow with either.
pub(super) fn packed(all: f64, diagonal: f64) -> f64 {
    0.5 * (all + diagonal)
}

/// See [`packed`].
pub(super) fn isometric(all: f64, diagonal: f64) -> f64 {
    FRAC_1_SQRT_2 * all + (1.0 - FRAC_1_SQRT_2) * diagonal
}

/// An adjacency with bounds on a change C of A = Σ aᵀa over rows with ‖a‖ ≤ 1.
pub(super) trait Changed: Neighbouring {
    /// At most Σ_ij |(CX)_ij| for n × p matrices X with orthonormal columns.
    fn product(public: &Public1) -> f64;
    /// At most Σ_ij |C_ij|.
    fn all(public: &Public1) -> f64;
    /// At most Σ_i |C_ii|.
    fn diagonal() -> f64;
}

/// C = aᵀa.
///
/// # Proof
/// By Cauchy's inequality ‖a‖₁ ≤ √n·‖a‖ ≤ √n, and ‖aX‖₁ ≤ √p·‖aX‖ ≤ √p. The entries of aᵀ(aX) are products of one of each, so that
/// they sum to ‖a‖₁·‖aX‖₁ ≤ √(np); those of C to ‖a‖₁² ≤ n, those of its diagonal to ‖a‖² ≤ 1. ∎ So Δ₁ is √(np), (n+1)/2 and
/// n/√2 + 1 − 1/√2 = 1 + (n−1)/√2.
///
/// Attained by a with all entries 1/√n, and X with aX = (1, …, 1)/√p: rotate the columns of any X whose first is aᵀ.
impl Changed for User {
    fn product(public: &Public1) -> f64 {
        (public.items() * public.rank()).sqrt()
    }

    fn all(public: &Public1) -> f64 {
        public.items()
    }

    fn diagonal() -> f64 {
        1.0
    }
}

/// C = aᵀa − bᵀb.
///
/// # Proof
/// m numbers sum to at most √m times their Euclidean norm. ‖C‖_F² = ‖a‖⁴ + ‖b‖⁴ − 2⟨a, b⟩² ≤ 2 for n² entries gives ‖C‖₁₁ ≤ √2·n, and
/// Σ|a_i² − b_i²| ≤ ‖a‖² + ‖b‖² ≤ 2. C lies between −bᵀb and aᵀa, so ‖C‖₂ ≤ 1 and ‖CX‖_F² ≤ min(2, p) for np entries. ∎ So Δ₁ is
/// √(np·min(p, 2)), n/√2 + 1 and n + 2 − √2.
///
/// For even n the first two terms are attained: with H = [1 1; 1 −1] and J the matrix of ones, H ⊗ J·(√2/n) has rank 2, eigenvalues ±1 and
/// entries ±√2/n. Its diagonal sums to √2, not to 2, so that the triangles come within 1 − 1/√2 of the bound.
impl Changed for ReplaceUser {
    fn product(public: &Public1) -> f64 {
        (public.items() * public.rank() * public.rank().min(2.0)).sqrt()
    }

    fn all(public: &Public1) -> f64 {
        SQRT_2 * public.items()
    }

    fn diagonal() -> f64 {
        2.0
    }
}

/// See [`Changed`] for the bounds and their proofs. A quotient is one number: |vᵀCv| ≤ ‖C‖₂ ≤ 1.
impl<A: Changed, Q: Of> Rule1 for UnitRow<A, Q> {
    const ADJACENCY: Adjacency = A::ADJACENCY;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Q::QUANTITY;

    fn bound(public: &Public1, _: f64) -> f64 {
        match Q::QUANTITY {
            Quantity::Product => A::product(public),
            Quantity::PackedTriangle => packed(A::all(public), A::diagonal()),
            Quantity::IsometricTriangle => isometric(A::all(public), A::diagonal()),
            _ => 1.0,
        }
    }
}
