//! One item for another.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Isometric;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One item of a user exchanged for another, or one added or removed: Δ = √(2(2D − 1))/D.
///
/// # Proof
/// The rows r = s + e_a and r′ = s + e_b have the same number d of items and the same divisor N = max(d, D). In A the 2d − 1
/// entries in row and column a vanish, the 2d − 1 entries in row and column b appear, each of size 1/N, and the entries among s
/// stay: ‖C‖_F² = 2(2d − 1)/N². For d ≤ D that is at most 2(2D − 1)/D²; for d ≥ D it is 2(2d − 1)/d², which decreases. One item
/// added or removed moves A by at most √(2D − 1)/D, which is less. A cap only excludes rows. ∎
///
/// Tight at d = D.
impl Rule for Isometric<adjacency::Swap> {
    const ADJACENCY: Adjacency = Adjacency::Swap;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::IsometricTriangle;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        let floor = f64::from(public.degree_floor);
        (2.0 * (2.0 * floor - 1.0)).sqrt() / floor
    }
}
