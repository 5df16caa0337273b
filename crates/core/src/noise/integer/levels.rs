//! How a wide Gaussian is put together from narrow ones.

use super::fixed::Fixed;

/// Standard deviation of the fixed laws: the rounded Gaussian at the bottom and the discrete ones between it and the top.
pub(super) const FIXED_SIGMA: u64 = 64;

/// The fixed laws' variance.
const FIXED: u128 = (FIXED_SIGMA * FIXED_SIGMA) as u128;

/// The largest standard deviation of a table: 1.5 times the fixed laws'.
const TABLE_SIGMA: u128 = 96;

/// How many times what is below it a sum with a top level may be.
const TOP_GROWTH: u128 = 40;

/// A decomposition of N(0, σ²), exact in the variances.
#[derive(Debug, PartialEq)]
pub(super) enum Levels {
    /// No level: a rounded Gaussian of this variance, at most 96².
    One(Fixed),
    /// σ² = 64²(1 + Σ k_i²) + K²τ².
    Several {
        /// k_1 < k_2 < …, what the fixed discrete Gaussian is multiplied by.
        fixed: Vec<i64>,
        /// K, what the top level's discrete Gaussian is multiplied by.
        top: i64,
        /// 1/(2τ²), for 48 < τ ≤ 96.
        decay: Fixed,
    },
}

/// The decomposition of a standard deviation from ½ to 2⁴⁰.
///
/// From the bottom s = 64 upwards, while σ > 40s, the largest k with 64s/√(s² + 64²k²) ≥ 2 is added, k² ≤ s²(1/4 −
/// 1/64²), which multiplies s by almost 32. The top level takes what is left, with the smallest K for which τ ≤ 96.
/// Then τs/σ ≥ 2, too: write σ = rs, so that 1.5 ≤ r ≤ 40 and τ = s√(r² − 1)/K. If K = 1, τs/σ = s√(1 − 1/r²) > 47. If
/// K > 1, τ > 96(K − 1)/K, and r² ≤ 1 + (96K/s)² ≤ 1 + 2.25K² gives τs/σ = τ/r > 15 for K = 2 and more than 2.3 up to K
/// = 26, beyond which τ/r > 92/40.
///
/// Whole numbers throughout: σ = m·2^−p with m < 2⁵³ and 12 ≤ p ≤ 53, variances in units of 2^−2p.
pub(super) fn levels(sigma: f64) -> Levels {
    let (mantissa, places) = ratio_of(sigma);
    let one = 1_u128 << (2 * places);
    let variance = u128::from(mantissa).pow(2);
    if variance <= TABLE_SIGMA * TABLE_SIGMA * one {
        return Levels::One(Fixed::scaled(variance, 2 * places));
    }
    let mut below = FIXED;
    let mut fixed = Vec::new();
    while variance > TOP_GROWTH * TOP_GROWTH * below * one {
        let multiple = (below * (FIXED / 4 - 1) / FIXED).isqrt();
        below += FIXED * multiple * multiple;
        fixed.push(multiple as i64);
    }
    let left = variance - below * one;
    let unit = TABLE_SIGMA * TABLE_SIGMA * one;
    let top = (left.div_ceil(unit) - 1).isqrt() + 1;
    Levels::Several {
        fixed,
        top: top as i64,
        decay: Fixed::ratio(top * top * one, left).over(2),
    }
}

/// The whole number m and the binary places p, 12 to 53, of `sigma` = m·2^−p from ½ to 2⁴⁰.
pub(super) fn ratio_of(sigma: f64) -> (u64, u32) {
    let bits = sigma.to_bits();
    let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
    (mantissa, 1075 - (bits >> 52) as u32)
}
