//! One user for another.

use std::f64::consts::SQRT_2;

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Isometric;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One user's row replaced by any other, both with at most m = `degree_cap` interactions: √2 times what one user
/// costs.
///
/// # Proof
/// ‖r̂ᵀr̂ − r̂′ᵀr̂′‖_F² = ‖r̂‖⁴ + ‖r̂′‖⁴ − 2⟨r̂, r̂′⟩² ≤ 2Δ² of [`super::user`]. ∎
///
/// Tight: two rows of the worst degree without a common item.
impl Rule for Isometric<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::IsometricTriangle;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        SQRT_2 * super::user::bound(public)
    }
}
