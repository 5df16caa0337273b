//! The tight bound for one interaction, where the packed triangle is released.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Packed;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One interaction added or removed, rows normalised with degree floor D: Δ = 1/√D.
///
/// # Proof
/// Let r = r′ + e_k be the larger row, d = |r| its number of interactions, C the change of A (of either sign).
///
/// *d ≤ D.* Both rows are divided by √D, so C = (rᵀr − r′ᵀr′)/D has 1/D at (k, k) and at (k, j) and (j, k) for the d − 1 items j
/// of r′, and nothing else. Its triangle has d entries of size 1/D: ‖triu(C)‖² = d/D² ≤ 1/D.
///
/// *d > D.* Then d − 1 ≥ D ≥ 1, r is divided by √d and r′ by √(d−1). The d entries at k are 1/d; the d(d−1)/2 entries among the
/// items of r′ fall from 1/(d−1) to 1/d, by 1/(d(d−1)). So
/// ‖triu(C)‖² = d/d² + (d(d−1)/2)/(d(d−1))² = 1/d + 1/(2d(d−1)) = (1/d + 1/(d−1))/2 < 1/(d−1) ≤ 1/D. ∎
///
/// Tight: d = D attains it.
impl Rule for Packed<adjacency::Interaction> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::PackedTriangle;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        f64::from(public.degree_floor).sqrt().recip()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both cases of the proof, all degrees: entries counted, not the closed form.
    #[test]
    fn the_closed_form_is_the_enumerated_maximum() {
        for floor in [1_u32, 2, 3, 20, 100] {
            let worst = (1..floor + 500)
                .map(|d| {
                    let (after, before) = (f64::from(d.max(floor)), f64::from((d - 1).max(floor)));
                    let (new, old) = (f64::from(d), f64::from(d * (d - 1)) / 2.0);
                    new / (after * after) + old * (1.0 / before - 1.0 / after).powi(2)
                })
                .fold(0.0, f64::max);
            let public = super::super::public(floor, None);
            let bound = Packed::<adjacency::Interaction>::bound(&public, 0.5);
            assert!((bound / worst.sqrt() - 1.0).abs() < 1e-12, "{floor}");
        }
    }
}
