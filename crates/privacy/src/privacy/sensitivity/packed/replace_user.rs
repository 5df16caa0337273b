//! The tight bound for replacing one user by another, where the packed triangle is released.

use std::f64::consts::SQRT_2;

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Packed;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One user's row replaced by any other, both with at most m = `degree_cap` interactions: √2 times what one user
/// costs.
///
/// # Proof
/// All entries of T = triu(r̂ᵀr̂) and T′ = triu(r̂′ᵀr̂′) are at least 0, so ⟨T, T′⟩ ≥ 0 and
/// ‖T − T′‖² ≤ ‖T‖² + ‖T′‖² ≤ 2Δ² of [`super::user`]. ∎
///
/// Tight: two rows of the worst degree without a common item.
impl Rule for Packed<adjacency::ReplaceUser> {
    const ADJACENCY: Adjacency = Adjacency::ReplaceUser;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::PackedTriangle;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        SQRT_2 * super::user::bound(public)
    }
}
