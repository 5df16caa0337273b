//! The tight bound for a whole user, where the packed triangle is released.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Packed;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// A whole user zeroed out or added, with at most m = `degree_cap` interactions: with t = min(m, D),
///
/// Δ = √(t(t+1)/2)/D, which without a cap is √((1 + 1/D)/2).
///
/// # Proof
/// C = r̂ᵀr̂ has d(d+1)/2 entries of size 1/max(d, D) in its triangle. (The same from ‖triu(r̂ᵀr̂)‖² = (‖r̂‖⁴ + Σr̂_i⁴)/2.) For
/// d ≤ D, ‖triu(C)‖² = d(d+1)/(2D²) increases with d; for d ≥ D it is (1 + 1/d)/2, which decreases. So the worst public degree
/// is d = D, or the cap where it is below D. ∎
///
/// Tight: a user with that many interactions. The norm of a user's own row is private and takes no part.
impl Rule for Packed<adjacency::User> {
    const ADJACENCY: Adjacency = Adjacency::User;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::PackedTriangle;
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
    let worst = public
        .degree_cap
        .map_or(floor, |cap| floor.min(f64::from(cap)));
    (0.5 * worst * (worst + 1.0)).sqrt() / floor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documented_values() {
        let at = |floor, cap| bound(&super::super::public(floor, cap));
        assert_eq!(at(1, None), 1.0);
        assert!((at(10, None) - (1.1_f64 / 2.0).sqrt()).abs() < 1e-15);
        assert_eq!(at(10, Some(40)), at(10, None));
        assert!((at(20, Some(3)) - 6.0_f64.sqrt() / 20.0).abs() < 1e-15);
    }
}
