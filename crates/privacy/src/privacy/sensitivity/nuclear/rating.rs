//! One rating, where ratings are kept as numbers.

use std::f64::consts::SQRT_2;

use super::super::rule::{Public, SensitivityRule};
use super::NuclearRule;
use crate::privacy::Adjacency;

/// One number of a row moves by at most s, rows projected on the ball of radius 1: Δ_* = s·√(4 − s²) for s ≤ √2, and 2 otherwise, where
/// s = min(c, 2b) for a public change c and a public largest number b; without a public range 2.
///
/// # Proof
/// The projection on a ball brings no two points farther apart, so that t = ‖x − y‖ ≤ s for the rows that enter A. By the parallelogram law
/// ‖x + y‖² = 2‖x‖² + 2‖y‖² − t² ≤ 4 − t². The identity gives ‖C‖_* ≤ t·√(4 − t²), which grows up to t = √2, where it is 2. Two numbers of
/// at most b differ by at most 2b. Without a range nothing is known of t, and ‖C‖_* ≤ ‖x‖² + ‖y‖² ≤ 2. ∎
///
/// Attained by rows (±s/2, √(1 − s²/4)), and where s > √2 by shorter changes, as far as b allows.
pub(super) struct OneRating;

impl NuclearRule for OneRating {
    const ADJACENCY: Adjacency = Adjacency::Rating;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;

    fn bound(public: &Public) -> f64 {
        let Some(range) = public.rating else {
            return 2.0;
        };
        // What is no number is no reason for a smaller bound.
        let within = |x: f64, most: f64| if x > 0.0 && x < most { x } else { most };
        let most = within(range.moves, SQRT_2).min(2.0 * within(range.largest, 1.0));
        if most >= SQRT_2 {
            return 2.0;
        }
        most * (4.0 - most * most).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::RatingRange;

    fn bound(moves: f64, largest: f64) -> f64 {
        OneRating::bound(&Public {
            degree_floor: 1,
            degree_cap: None,
            rank: 1,
            rating: Some(RatingRange { moves, largest }),
        })
    }

    /// Pairs of rows of norm at most 1 that differ in one number, on a grid.
    #[test]
    fn no_pair_of_rows_moves_further_and_some_come_near() {
        for moves in [0.05, 0.3, 1.0, 1.5] {
            let steps = 400;
            let at = |i: i32| f64::from(i) / f64::from(steps);
            let mut best = 0.0_f64;
            for x in (-steps..=steps).map(at) {
                for y in (-steps..=steps).map(at) {
                    if (x - y).abs() > moves + 1e-12 {
                        continue;
                    }
                    let others = 1.0 - (x * x).max(y * y);
                    let (a, b) = (x * x + others, y * y + others);
                    let product = x * y + others;
                    let square = (a + b).powi(2) - 4.0 * product * product;
                    best = best.max(square.max(0.0).sqrt());
                }
            }
            let bound = bound(moves, 1.0);
            assert!(best <= bound * (1.0 + 1e-12), "{moves}: {best} {bound}");
            assert!(best > 0.999 * bound, "{moves}: {best} {bound}");
        }
    }

    #[test]
    fn broken_ranges_never_lower_the_bound() {
        for (moves, largest) in [(f64::NAN, 1.0), (0.0, f64::NAN), (-1.0, -1.0), (3.0, 4.0)] {
            assert_eq!(bound(moves, largest), 2.0);
        }
        assert!((bound(3.0, 0.25) - 0.5 * 3.75_f64.sqrt()).abs() < 1e-15);
    }
}
