//! The tight bound for exchanging one item for another, where the packed triangle is released.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Packed;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One item of a user exchanged for another, or one added or removed: Δ = √(2/D).
///
/// # Proof
/// The rows r = s + e_a and r′ = s + e_b have the same number d of items and the same divisor N = max(d, D). In the triangle the d
/// entries at a (with itself and with s) vanish and the d entries at b appear, each of size 1/N, and entries among s stay:
/// ‖triu(C)‖² = 2d/N² ≤ 2/D, as d/N² is at most 1/D for d ≤ D and 1/d beyond. One item added
/// or removed moves the triangle by at most 1/√D, which is less. A cap only excludes rows. ∎
///
/// Tight at d = D.
impl Rule for Packed<adjacency::Swap> {
    const ADJACENCY: Adjacency = Adjacency::Swap;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::PackedTriangle;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        (2.0 / f64::from(public.degree_floor)).sqrt()
    }
}
