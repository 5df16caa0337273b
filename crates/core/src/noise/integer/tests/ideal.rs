//! The ideal laws in whole numbers of 600 bits, by other series than the tables': alternating ones, π by Machin's
//! formula.

use num_bigint::{BigInt, BigUint};

/// Binary places.
pub(super) const PLACES: u32 = 600;

/// A number in units of 2⁻⁶⁰⁰.
pub(super) fn scaled(numerator: u128, denominator: u128) -> BigInt {
    (BigInt::from(numerator) << PLACES) / BigInt::from(denominator)
}

/// arctan(1/x), x ≥ 5.
fn arctan_of_inverse(x: u32) -> BigInt {
    let mut power = scaled(1, u128::from(x));
    let mut sum = BigInt::ZERO;
    for n in 0_u32.. {
        if power == BigInt::ZERO {
            break;
        }
        let term = &power / (2 * n + 1);
        sum += if n % 2 == 0 { term } else { -term };
        power /= x * x;
    }
    sum
}

/// √(2/π).
fn root_of_two_over_pi() -> BigInt {
    let pi = 4_u32 * (4_u32 * arctan_of_inverse(5) - arctan_of_inverse(239));
    ((BigInt::from(2) << (3 * PLACES)) / pi).sqrt()
}

/// P(|round(N(0, σ²))| ≤ k) for k = 0, …, `entries` − 1 and σ² = `numerator`/`denominator`: the error is below 2⁻⁴⁰⁰.
///
/// √(2/π)·x·Σ_n (−y)ⁿ/(n!(2n + 1)), x = (2k + 1)/(2σ) and y = x²/2. No term is above e^y < 2¹⁴⁰.
pub(super) fn rounded(numerator: u128, denominator: u128, entries: usize) -> Vec<BigInt> {
    let scale = root_of_two_over_pi();
    // 1/σ = √(denominator/numerator).
    let inverse: BigInt =
        ((BigInt::from(denominator) << (2 * PLACES)) / BigInt::from(numerator)).sqrt();
    let cumulative = (0..entries as u64).map(|k| {
        let odd = BigInt::from(2 * k + 1);
        let (above, under) = (&odd * &odd * denominator, BigInt::from(8) * numerator);
        let mut power = BigInt::from(1) << PLACES;
        let mut sum = BigInt::ZERO;
        for n in 0_u32.. {
            let term = &power / (2 * n + 1);
            if term == BigInt::ZERO {
                break;
            }
            sum += &term;
            power = -(power * &above) / (&under * (n + 1));
        }
        (((sum * odd * &inverse) >> (PLACES + 1)) * &scale) >> PLACES
    });
    cumulative.collect()
}

/// P(|J| ≤ j) for j = 0, …, `entries` − 1 and P(J = j) ∝ exp(−`decay`·j²), with an error below 2⁻⁵⁰⁰.
pub(super) fn discrete(decay: &BigInt, entries: usize) -> Vec<BigInt> {
    let weights: Vec<BigInt> = (0_u64..)
        .map(|j| exp_of_minus(&(decay * j * j)))
        .take_while(|weight| *weight != BigInt::ZERO)
        .collect();
    let mut sum = -weights[0].clone();
    let sums: Vec<BigInt> = weights
        .iter()
        .map(|weight| {
            sum += 2_u32 * weight;
            sum.clone()
        })
        .collect();
    let total = &sums[sums.len() - 1];
    let cumulative = sums.iter().take(entries);
    cumulative.map(|sum| (sum << PLACES) / total).collect()
}

/// e⁻ˣ = (e^{−x/2ⁿ})^{2ⁿ} with x/2ⁿ < 2⁻⁸, whose series' terms fall fast.
fn exp_of_minus(x: &BigInt) -> BigInt {
    let extra = 64_u32;
    let halvings = (x.bits() + 8).saturating_sub(u64::from(PLACES)) as u32;
    let x: BigInt = (x << extra) >> halvings;
    let places = PLACES + extra;
    let mut term = BigInt::from(1) << places;
    let mut sum = BigInt::ZERO;
    for n in 1_u32.. {
        if term == BigInt::ZERO {
            break;
        }
        sum += &term;
        term = -((term * &x) >> places) / n;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> places;
    }
    sum >> extra
}

/// The nearest multiples of 2⁻¹²⁶, as the tables have them.
pub(super) fn nearest(cumulative: &[BigInt]) -> Vec<u128> {
    let shift = PLACES - 126;
    let half = BigInt::from(1) << (shift - 1);
    let rounded = cumulative.iter().map(|p| (p + &half) >> shift);
    rounded
        .map(|units: BigInt| {
            u128::try_from(BigUint::try_from(units).expect("not negative")).expect("126 bits")
        })
        .collect()
}
