//! The tight bound for exchanging one item for another.

use super::super::rule::{Public, Rule, SensitivityRule};
use super::Exact;
use crate::privacy::adjacency::{self, Adjacency};

/// One item of a user exchanged for another, or one added or removed. With
///
/// B(d) = (2d−1)·min((d+1)·D̂², 1 + 2D̂², 2)/d²,
///
/// Δ² = B(D) for a degree floor D ≥ 2, and Δ² = max(B(1), B(2)) = max(2D̂², min(9D̂²/4, 3/2)) for D = 1.
///
/// # Proof
/// Let s be what the two rows r = s + e_a and r′ = s + e_b share, d = |r| = |r′|, m = d − 1 = |s|, N = max(d, D).
/// Both rows are divided by √N, so C = (rᵀr − r′ᵀr′)/N; row a of it is r/N, row b is −r′/N, and each of the m
/// rows j ∈ s is (e_a − e_b)/N. Write σ = Σ_{j∈s} x_j, y = (x_a + x_b)/2, z = (x_a − x_b)/2. Then
///
/// N²‖CX‖_F² = ‖σ + x_a‖² + ‖σ + x_b‖² + m‖x_a − x_b‖² = 2‖σ + y‖² + 2(2d−1)‖z‖²,    (∗)
///
/// and ‖y‖² + ‖z‖² = (‖x_a‖² + ‖x_b‖²)/2 ≤ D̂². Three bounds on (∗):
///
/// - ‖σ‖ ≤ m·D̂ gives 2(mD̂ + ‖y‖)² + 2(2d−1)(D̂² − ‖y‖²). It is largest at ‖y‖ = D̂/2, where it is
///   (2m² + 5m + 2)·D̂² = (2d−1)(d+1)·D̂².
/// - The vectors s + (e_a + e_b)/2 and (e_a − e_b)/2 have squared norms (2d−1)/2 and 1/2, and ‖X‖₂ = 1, so
///   ‖σ + y‖² ≤ (2d−1)/2 and ‖z‖² ≤ 1/2: (∗) is at most 2(2d−1).
/// - The first of these with ‖z‖² ≤ D̂² gives (2d−1)(1 + 2D̂²).
///
/// So N²‖CX‖_F² ≤ d²·B(d). Each of the three increases with d, so while d ≤ D, where N = D, the worst is d = D. From
/// there on N = d, and each of the three, divided by d², does not increase for d ≥ 2: (2d−1)/d² falls, and
/// (2d−1)(d+1)/d² = 2 + 1/d − 1/d² falls as soon as 1/d ≤ 1/2. So the worst is d = D if D ≥ 2, and d = 1 or d = 2 if
/// D = 1. At d = 2 the minimum never is 1 + 2D̂² ≥ 3D̂², since D̂ ≤ 1.
///
/// *Added or removed.* The bound for that ([`Exact<adjacency::Interaction>`](adjacency::Interaction)) is never the larger: its
/// square times D² is min(D²D̂², D) + (D−1)D̂², and D̂ ≤ 1. At D = 1 it is at most D̂² ≤ 2D̂². At D ≥ 2 it is at most each of
/// the three: (2D−1)(D+1)D̂² = (2D²+D−1)D̂² ≥ (D²+D−1)D̂²; (2D−1)(1+2D̂²) ≥ D + (D−1)D̂²; 2(2D−1) ≥ 2D−1 ≥ D + (D−1)D̂².
///
/// *Under a cap* rows have at most m items; the proof is for rows of any length, so the bound holds, without a gain. ∎
///
/// Tight where (2D−1)·D̂² ≤ 2: x_a and x_b of length D̂ at ±60° from the direction that all of s share.
///
/// # Two tempting bounds
/// √2·D̂ (twice the interaction would be 2·D̂) holds for a single column, p = 1, and for d = 1, but not
/// for p ≥ 2: three items at 0° and ±60° reach ‖CX‖_F = 1.5·D̂ at d = 2. And √((2/d)(2 − 1/d)), the bound from
/// ‖X‖₂ = 1 alone, is private as long as d is; d = max(D, 2) makes it public, and that is what is done here.
impl Rule for Exact<adjacency::Swap> {
    const ADJACENCY: Adjacency = Adjacency::Swap;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const COVERS_CAP: bool = true;

    fn bound(public: &Public, row_norm: f64) -> f64 {
        bound(row_norm, public.degree_floor)
    }
}

/// √B(d).
fn at_degree(row_norm: f64, degree: f64) -> f64 {
    let square = row_norm * row_norm;
    let shared = (2.0 - 1.0 / degree) / degree;
    // The first term without squaring D̂, which could underflow.
    let rows = row_norm * ((2.0 - 1.0 / degree) * (1.0 + 1.0 / degree)).sqrt();
    rows.min((shared * (1.0 + 2.0 * square).min(2.0)).sqrt())
}

fn bound(row_norm: f64, degree_floor: u32) -> f64 {
    if degree_floor == 1 {
        at_degree(row_norm, 1.0).max(at_degree(row_norm, 2.0))
    } else {
        at_degree(row_norm, f64::from(degree_floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_worst_of_all_degrees() {
        for floor in [1, 2, 3, 5, 20, 100] {
            for step in 1..=200 {
                let row_norm = 0.005 * f64::from(step);
                let full = (1..floor + 2000)
                    .map(|d| {
                        let shrunk = f64::from(d) / f64::from(d.max(floor));
                        shrunk * at_degree(row_norm, f64::from(d))
                    })
                    .fold(0.0, f64::max);
                let closed = bound(row_norm, floor);
                assert!((closed / full - 1.0).abs() < 1e-12, "{floor} {row_norm}");
            }
        }
    }

    #[test]
    fn an_addition_never_costs_more() {
        for floor in (1..200).chain([1000, 100_000]) {
            let public = Public {
                degree_floor: floor,
                degree_cap: None,
                rank: 3,
                rating: None,
            };
            for step in 1..=200 {
                let row_norm = 0.005 * f64::from(step);
                let addition = Exact::<adjacency::Interaction>::bound(&public, row_norm);
                let swap = bound(row_norm, floor);
                assert!(addition <= swap, "{floor} {row_norm}: {addition} {swap}");
            }
        }
    }

    #[test]
    fn documented_values() {
        assert!((bound(1.0, 1) - 2.0_f64.sqrt()).abs() < 1e-15);
        assert!((bound(0.5, 1) - 0.75).abs() < 1e-15);
        assert!((bound((2.0_f64 / 3.0).sqrt(), 1) - 1.5_f64.sqrt()).abs() < 1e-15);
        // D = 20 at D̂ = 1: √(2·39)/20.
        assert!((bound(1.0, 20) - 78.0_f64.sqrt() / 20.0).abs() < 1e-15);
        assert!(bound(1e-200, 3) > 1e-200);
    }
}
