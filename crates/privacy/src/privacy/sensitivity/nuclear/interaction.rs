//! One interaction of an interaction matrix.

use super::super::rule::{Public, SensitivityRule};
use super::NuclearRule;
use crate::privacy::Adjacency;

/// One interaction added or removed, rows r/√max(d, D): Δ_* = max(√(4D − 3)/D, 2/√(D + 1)).
///
/// # Proof
/// Let r = r′ + e be the larger row, d its number of items, x and y the two rows as they enter A.
///
/// *d ≤ D.* Both are divided by √D: x − y = e/√D and x + y = (2r′ + e)/√D, so that ‖x − y‖·‖x + y‖ = √(4(d − 1) + 1)/D ≤ √(4D − 3)/D.
///
/// *d > D.* Then d − 1 ≥ D, and both rows have norm 1. ⟨x, y⟩² = (d − 1)²/(d(d − 1)) = (d − 1)/d, and by the identity
/// ‖C‖_*² = 4 − 4(d − 1)/d = 4/d ≤ 4/(D + 1). ∎
///
/// Attained at d = D or at d = D + 1, whichever is more.
pub(super) struct Floored;

impl NuclearRule for Floored {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;

    fn bound(public: &Public) -> f64 {
        let floor = f64::from(public.degree_floor);
        let below = (4.0 * floor - 3.0).sqrt() / floor;
        below.max(2.0 / (floor + 1.0).sqrt())
    }
}

/// One interaction added or removed, rows under a root floor, A = Σ rᵀr/√(d·max(d, D)):
/// Δ_*² = max((1 + 3t + 4t²)/((1 + t)·D), 4/(D + 1)) with t = √(1 − 1/D).
///
/// # Proof
/// Let r = r′ + e be the larger row and d its number of items.
///
/// *d ≤ D.* The squared norms of the rows are √(d/D) and √((d − 1)/D), and ⟨x, y⟩² = (d − 1)²/(D·√(d(d − 1))) = (d − 1)^{3/2}/(D·√d).
/// With t_d = √((d − 1)/d), hence d = 1/(1 − t_d²), the identity gives
///
/// D·‖C‖_*² = (√d + √(d − 1))² − 4(d − 1)^{3/2}/√d = d·[(1 + t_d)² − 4t_d³] = (1 + 3t_d + 4t_d²)/(1 + t_d),
///
/// because (1 + t)² − 4t³ = (1 − t)(1 + 3t + 4t²). Its derivative in t_d is (2 + 8t_d + 4t_d²)/(1 + t_d)² > 0, and t_d grows with d: the
/// largest is at d = D.
///
/// *d > D.* Both rows have norm 1, as under a floor that is not a root: at most 4/(D + 1) ([`Floored`]). ∎
///
/// Attained at d = D or at d = D + 1, whichever is more.
pub(super) struct RootFloored;

impl NuclearRule for RootFloored {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::RootFloor;

    fn bound(public: &Public) -> f64 {
        let floor = f64::from(public.degree_floor);
        let t = (1.0 - floor.recip()).sqrt();
        let below = (1.0 + 3.0 * t + 4.0 * t * t) / ((1.0 + t) * floor);
        below.max(4.0 / (floor + 1.0)).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// ‖xxᵀ − yyᵀ‖_* from norms and product, for rows with weights `w(d)` per entry and d − 1 items in common.
    fn moved(d: u32, weight: impl Fn(u32) -> f64) -> f64 {
        let (more, less) = (f64::from(d), f64::from(d - 1));
        let (w, v) = (weight(d), if d > 1 { weight(d - 1) } else { 0.0 });
        let sum = more * w + less * v;
        let product = less * less * w * v;
        (sum * sum - 4.0 * product).sqrt()
    }

    #[test]
    fn the_closed_forms_are_the_enumerated_maxima() {
        for floor in [1_u32, 2, 3, 5, 10, 20, 40] {
            let public = Public {
                degree_floor: floor,
                degree_cap: None,
                rank: 1,
                rating: None,
            };
            let most = |weight: &dyn Fn(u32) -> f64| {
                (1..150).map(|d| moved(d, weight)).fold(0.0, f64::max)
            };
            let plain = most(&|d| f64::from(d.max(floor)).recip());
            assert!(
                (Floored::bound(&public) / plain - 1.0).abs() < 1e-13,
                "{floor}"
            );
            let root = most(&|d| (f64::from(d) * f64::from(d.max(floor))).sqrt().recip());
            assert!(
                (RootFloored::bound(&public) / root - 1.0).abs() < 1e-13,
                "{floor}"
            );
        }
    }
}
