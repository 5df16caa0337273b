//! Tight sensitivity bounds for one rating, where ratings are kept as numbers.

use std::marker::PhantomData;

use super::rating_range::RatingRange;
use super::rule::{Public, Rule, SensitivityRule};
use super::statistic::Statistic;
use super::unit_row::{self, Of};
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// The bound on quantity `Q` for one rating.
pub(super) struct OneRating<Q>(PhantomData<Q>);

/// One entry of a row becomes another: with norms at most 1, entries at most b and a change of at most c,
///
/// Δ² = max over 0 ≤ t ≤ min(c, 2b) of the larger of t²(2 − t²/2) and t²(2 + 2b² − 4bt + t²).
///
/// # Proof
/// Rows a and a′ differ in entry k, which is x in one and y in the other; let |x| ≥ |y| and x ≥ 0, all else being a matter of names and signs, and
/// t = x − y, 0 ≤ t ≤ 2x. Of C = aaᵀ − a′a′ᵀ row and column k are not 0: (x − y)a_j off the diagonal, x² − y² on it. The other entries of both
/// rows have Σ_{j≠k} a_j² ≤ 1 − x², so that
///
/// ‖C‖_F² = 2t²Σ_{j≠k}a_j² + (x² − y²)² ≤ t²[2(1 − x²) + (2x − t)²] = t²[2 + 2x² − 4xt + t²].
///
/// In x this is convex, so that it is largest at an end of t/2 ≤ x ≤ b: those are the two terms. They are attained, by rows of norm 1. What is
/// released lengthens no matrix. ∎
///
/// The first term grows up to t = √2 and gives √2, as for a whole row in place of another; of the second the ends and the roots of its
/// derivative are looked at. As 2b²t² − 4bt³ + t⁴ ≤ 0.0902·b⁴, Δ² is at most 2c² + 0.0902·b⁴.
///
/// # The packed triangle
/// Entries off the diagonal count once: t²[(1 − x²) + (2x − t)²] instead, with ends t²(1 − t²/4) and t²(1 + 3b² − 4bt + t²).
///
/// # Without a public range
/// A row may then be shortened to norm 1, and one entry more or less turns all of it: what remains is the bound for a whole row of norm at most 1 in
/// place of another, ‖aaᵀ − bbᵀ‖_F² = ‖a‖⁴ + ‖b‖⁴ − 2(aᵀb)² ≤ 2. The packed triangle is no longer than the matrix, and attains it with two unit
/// vectors. The two terms above do not cover that: for w = 1 they are at most 1.
impl<Q: Of + Weighted> Rule for OneRating<Q> {
    const ADJACENCY: Adjacency = Adjacency::Rating;
    const RULE: SensitivityRule = SensitivityRule::UnitRow;
    const QUANTITY: Quantity = Q::QUANTITY;

    fn statistic(_: &Public) -> Statistic {
        Statistic::None
    }

    fn bound(public: &Public, _: f64) -> f64 {
        match public.rating {
            Some(range) => largest_square(range, Q::OFF_DIAGONAL).sqrt(),
            None => std::f64::consts::SQRT_2,
        }
    }
}

/// How often an entry off the diagonal counts.
pub(super) trait Weighted {
    /// w.
    const OFF_DIAGONAL: f64;
}

impl Weighted for unit_row::Product {
    const OFF_DIAGONAL: f64 = 2.0;
}

impl Weighted for unit_row::Isometric {
    const OFF_DIAGONAL: f64 = 2.0;
}

impl Weighted for unit_row::Packed {
    const OFF_DIAGONAL: f64 = 1.0;
}

/// max t²[w(1 − x²) + (2x − t)²] over 0 ≤ t ≤ min(c, 2x), x ≤ b.
fn largest_square(range: RatingRange, w: f64) -> f64 {
    // What is no number is no reason for a smaller bound.
    let within = |x: f64, most: f64| if x > 0.0 && x < most { x } else { most };
    let b = within(range.largest, 1.0);
    let most = within(range.moves, 2.0).min(2.0 * b);
    let value = |t: f64, x: f64| t * t * (w * (1.0 - x * x) + (2.0 * x - t).powi(2));
    // x = t/2: w·t²(1 − t²/4), which grows up to t = √2.
    let half = most.min(std::f64::consts::SQRT_2);
    let ends = [value(half, half / 2.0), value(most, b)];
    // x = b: the derivative is 2t[w(1 − b²) + 4b² − 6bt + 2t²].
    let discriminant = 9.0 * b * b - 2.0 * (w * (1.0 - b * b) + 4.0 * b * b);
    let roots = [-1.0, 1.0].map(|sign| (3.0 * b + sign * discriminant.sqrt()) / 2.0);
    let inner = roots
        .into_iter()
        .filter(|t| (0.0..=most).contains(t))
        .map(|t| value(t, b));
    ends.into_iter().chain(inner).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All x and y on a fine grid, straight from the rows.
    fn searched(range: RatingRange, w: f64) -> f64 {
        let steps = 400;
        let at = |i: i32| range.largest * f64::from(i) / f64::from(steps);
        let mut best = 0.0_f64;
        for x in (-steps..=steps).map(at) {
            for y in (-steps..=steps).map(at) {
                if (x - y).abs() > range.moves * (1.0 + 1e-12) {
                    continue;
                }
                let others = 1.0 - (x * x).max(y * y);
                let diagonal = (x * x - y * y).powi(2);
                best = best.max(w * (x - y).powi(2) * others + diagonal);
            }
        }
        best
    }

    #[test]
    fn the_closed_form_is_the_largest_of_all_changes() {
        for w in [1.0, 2.0] {
            for largest in [0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95, 1.0] {
                for part in [0.1, 0.3, 0.5, 0.8, 1.0] {
                    let moves = 2.0 * largest * part;
                    let range = RatingRange { moves, largest };
                    let (closed, grid) = (largest_square(range, w), searched(range, w));
                    assert!(
                        closed >= grid * (1.0 - 1e-12),
                        "{range:?} {w}: {closed} {grid}"
                    );
                    assert!(closed <= grid * 1.001, "{range:?} {w}: {closed} {grid}");
                }
            }
        }
    }

    /// Rows of norm at most 1 that have nothing to do with each other.
    #[test]
    fn without_a_range_a_row_may_be_any_other() {
        let public = Public {
            degree_floor: 1,
            degree_cap: None,
            rank: 1,
            rating: None,
        };
        let root = 2.0_f64.sqrt();
        assert_eq!(OneRating::<unit_row::Product>::bound(&public, 0.0), root);
        assert_eq!(OneRating::<unit_row::Packed>::bound(&public, 0.0), root);
        assert_eq!(OneRating::<unit_row::Isometric>::bound(&public, 0.0), root);
    }

    #[test]
    fn documented_values() {
        // A hundred ratings between -1/2 and 1/2: norm 5 at most, in units of which one moves by 1/5.
        let jester = RatingRange {
            moves: 0.2,
            largest: 0.1,
        };
        let bound = 25.0 * largest_square(jester, 2.0).sqrt();
        assert!((bound - 49.5_f64.sqrt()).abs() < 1e-12, "{bound}");
        // A whole row in place of another, and whatever is no range.
        for broken in [2.0, f64::NAN, 0.0, -1.0, f64::INFINITY] {
            let range = RatingRange {
                moves: broken,
                largest: broken,
            };
            assert!((largest_square(range, 2.0) - 2.0).abs() < 1e-12, "{broken}");
            assert!((largest_square(range, 1.0) - 1.0).abs() < 1e-12, "{broken}");
        }
        let golden = (3.0 - 5.0_f64.sqrt()) / 2.0;
        let extra = 2.0 * golden.powi(2) - 4.0 * golden.powi(3) + golden.powi(4);
        assert!((extra - 0.0902).abs() < 5e-5, "{extra}");
    }
}
