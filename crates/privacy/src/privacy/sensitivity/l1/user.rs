//! One whole user of an interaction matrix, there or not.

use std::marker::PhantomData;

use super::super::rule::SensitivityRule;
use super::rule::{Public1, Rule1};
use super::unit_row::{Of, isometric, packed};
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` for users with at most m = `degree_cap` interactions.
pub(super) struct Counted<Q>(PhantomData<Q>);

/// With d = min(m, n) interactions and N = max(d, D): √p·d^{3/2}/N for a product, (d² + d)/(2N) for the packed triangle and
/// (d²/√2 + (1 − 1/√2)d)/N for the isometric one.
///
/// # Proof
/// r̂ has d entries 1/√N: ‖r̂‖₁ = d/√N and ‖r̂‖ = √(d/N). The entries of r̂ᵀ(r̂X) sum to ‖r̂‖₁·‖r̂X‖₁ ≤ ‖r̂‖₁·√p·‖r̂‖; those of r̂ᵀr̂ to
/// d²/N, and those of its diagonal to d/N. All grow with d, up to d = D as powers of d over D, from there on as √d, d and d. ∎
///
/// Attained by a user of that many items and X with r̂X = ‖r̂‖·(1, …, 1)/√p.
impl<Q: Of> Rule1 for Counted<Q> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Q::QUANTITY;
    const COVERS_CAP: bool = true;

    fn bound(public: &Public1, _: f64) -> f64 {
        let d = public.most();
        let norm = d.max(public.floor());
        match Q::QUANTITY {
            Quantity::PackedTriangle => packed(d * d, d) / norm,
            Quantity::IsometricTriangle => isometric(d * d, d) / norm,
            _ => public.rank().sqrt() * d * d.sqrt() / norm,
        }
    }
}
