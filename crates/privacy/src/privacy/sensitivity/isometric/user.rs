//! One user, there or not.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Isometric;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// A whole user zeroed out or added, with at most m = `degree_cap` interactions: Δ = min(m, D)/D, which without a cap is 1.
///
/// # Proof
/// C = r̂ᵀr̂ has rank one, so ‖C‖_F = ‖r̂‖² = d/max(d, D): it increases with d up to d = D and is 1 from there on. ∎
///
/// Tight: a user with that many interactions.
impl Rule for Isometric<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::IsometricTriangle;
    const COVERS_CAP: bool = true;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        bound(public)
    }
}

/// Δ of one whole user.
pub(super) fn bound(public: &Public) -> f64 {
    let floor = f64::from(public.degree_floor);
    let cap = public.degree_cap.map_or(floor, f64::from);
    floor.min(cap) / floor
}
