//! One interaction.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::super::statistic::Statistic;
use super::Isometric;
use crate::privacy::adjacency::{self, Adjacency};
use crate::vocabulary::Quantity;

/// One interaction added or removed, rows normalised with degree floor D: Δ = √(2D − 1)/D.
///
/// # Proof
/// Let r = r′ + e_k be the larger row, d = |r| its number of interactions, C the change of A (of either sign).
///
/// *d ≤ D.* Both rows are divided by √D, so C has 1/D at (k, k) and at (k, j) and (j, k) for the d − 1 items j of r′, and
/// nothing else: ‖C‖_F² = (2d − 1)/D² ≤ (2D − 1)/D².
///
/// *d > D.* Then d − 1 ≥ D, r is divided by √d and r′ by √(d−1). The 2d − 1 entries at k are 1/d; the (d−1)² entries among the
/// items of r′ fall from 1/(d−1) to 1/d, by 1/(d(d−1)). So ‖C‖_F² = (2d − 1)/d² + 1/d² = 2/d ≤ 2/(D + 1),
/// which is no more, because 2D² ≤ (2D − 1)(D + 1) = 2D² + D − 1 for D ≥ 1. ∎
///
/// Tight: d = D attains it.
impl Rule for Isometric<adjacency::Interaction> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Quantity::IsometricTriangle;

    fn statistic(public: &Public) -> Statistic {
        super::statistic(public)
    }

    fn bound(public: &Public, _: f64) -> f64 {
        let floor = f64::from(public.degree_floor);
        (2.0 * floor - 1.0).sqrt() / floor
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
                    let (new, old) = (f64::from(2 * d - 1), f64::from((d - 1) * (d - 1)));
                    new / (after * after) + old * (1.0 / before - 1.0 / after).powi(2)
                })
                .fold(0.0, f64::max);
            let public = Public {
                degree_floor: floor,
                degree_cap: None,
                rank: 3,
                rating: None,
            };
            let bound = Isometric::<adjacency::Interaction>::bound(&public, 0.5);
            assert!((bound / worst.sqrt() - 1.0).abs() < 1e-12, "{floor}");
        }
    }
}
