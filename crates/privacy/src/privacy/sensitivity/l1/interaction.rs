//! One interaction of an interaction matrix.

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};
use std::marker::PhantomData;

use super::super::rule::SensitivityRule;
use super::super::statistic::Statistic;
use super::rule::{Public1, Rule1};
use super::unit_row::Of;
use crate::privacy::Adjacency;
use crate::vocabulary::Quantity;

/// The bound on quantity `Q`.
pub(super) struct One<Q>(PhantomData<Q>);

/// One interaction, rows normalised with degree floor D: no power of n is in any of them.
///
/// - product: √p·max((2 − 1/D)·D̂, D̂ + 2·min(D̂, 1/√D)), at most 3√p·D̂;
/// - packed triangle: 3/2, and n/D where n ≤ D;
/// - isometric triangle: (2 − 1/√2 + (n−1)·(√2 + 1/√2))/n, below 3/√2, and (1 + √2(n−1))/D where n ≤ D.
///
/// # Proof
/// Let item i join d others, the set r: C = r̂′ᵀr̂′ − r̂ᵀr̂, r̂′ of d + 1 items.
///
/// *d + 1 ≤ D.* Both rows are divided by √D. C has 1/D at (i, i), at (i, j) and at (j, i), j ∈ r. The packed triangle changes by
/// (1 + d)/D, the isometric one by (1 + √2·d)/D. Row i of CX is (Σ_{j∈r} x_j + x_i)/D, of absolute sum at most (d + 1)·√p·D̂/D, and
/// the d rows of r are x_i/D: together at most (2d + 1)·√p·D̂/D, the most for d = D − 1.
///
/// *d ≥ D.* r̂′ is divided by √(d+1), r̂ by √d. C has 1/(d+1) in row and column i and 1/(d+1) − 1/d = −1/(d(d+1)) at the d² places
/// of r. The packed triangle changes by (d+1)/(d+1) + (d(d+1)/2)/(d(d+1)) = 3/2; the isometric one by
/// (1 + √2·d)/(d+1) + (d + d(d−1)/√2)/(d(d+1)) = (2 − 1/√2 + d(√2 + 1/√2))/(d+1), which grows with d ≤ n − 1. Row i of CX is
/// Σ_{r′} x_j/(d+1), of Euclidean norm at most min(D̂, 1/√(d+1)), since Σ_{r′} x_j = r̂′X·√(d+1) and ‖r̂′‖ = 1. Each row of r is
/// x_i/(d+1) − (Σ_r x_j)/(d(d+1)), and d of them have norms that sum to at most D̂·d/(d+1) + min(d·D̂, √d)/(d+1) ≤ D̂ + min(D̂, 1/√d). Absolute
/// sums of rows of p numbers are at most √p times these, and 1/√d ≤ 1/√D.
///
/// The first case never exceeds the second where there is one, d = D ≤ n − 1: 1 < 3/2, and √2 < (2 − 1/√2 + √2 + 1/√2)/2. ∎
///
/// The triangles are attained. The product is nearly, for p = 1: on a vector of entries ±h with x_i of the other sign it is
/// (3d − 1)/(d + 1)·h for D = 1.
impl<Q: Of> Rule1 for One<Q> {
    const ADJACENCY: Adjacency = Adjacency::Interaction;
    const RULE: SensitivityRule = SensitivityRule::Exact;
    const QUANTITY: Quantity = Q::QUANTITY;

    fn statistic(_: &Public1) -> Statistic {
        match Q::QUANTITY {
            Quantity::Product => Statistic::MaxRowNorm,
            _ => Statistic::None,
        }
    }

    fn bound(public: &Public1, row_norm: f64) -> f64 {
        let (n, floor) = (public.items(), public.floor());
        let short = n <= floor;
        match Q::QUANTITY {
            Quantity::PackedTriangle if short => n / floor,
            Quantity::PackedTriangle => 1.5,
            Quantity::IsometricTriangle if short => (1.0 + SQRT_2 * (n - 1.0)) / floor,
            Quantity::IsometricTriangle => {
                (2.0 - FRAC_1_SQRT_2 + (n - 1.0) * (SQRT_2 + FRAC_1_SQRT_2)) / n
            }
            _ => {
                let joined = (2.0 - floor.recip()) * row_norm;
                let diluted = row_norm + 2.0 * row_norm.min(floor.sqrt().recip());
                public.rank().sqrt() * joined.max(diluted)
            }
        }
    }
}
