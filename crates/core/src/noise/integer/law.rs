//! The cumulative probabilities of the two laws that are drawn from tables, in units of 2⁻¹²⁶.
//!
//! Both are of magnitudes, |J| and |R|, as every law here is symmetric and a fair bit gives the sign. Entry j is the
//! probability of a magnitude of at most j; what lies above the last entry falls to the last magnitude, one above the
//! last entry's.
//!
//! # How exact they are
//! Numbers carry 192 binary places. q, a power's base, is off by less than 2⁻¹⁸⁶; so a ratio, the m-th power, by less
//! than m·2⁻¹⁸⁵, and the product of m ratios by less than m²·2⁻¹⁸⁵ ≤ 2⁻¹⁶¹, m ≤ 2¹². (v² off by 2⁻¹⁹¹ changes
//! e^{−(2m+1)²v²/2} by less than 2⁻¹⁶⁵.) Means over intervals are off by less than 2⁻¹⁷⁰: their terms are below 1 and
//! fall, and a step multiplies v² by at most 2¹³. Sums of at most 2¹² products are then off by less than 2⁻¹⁴⁸, and
//! rounding to 126 places adds 2⁻¹²⁷. A test compares whole tables with other series in whole numbers of 600 bits: they
//! are equal.

use super::fixed::Fixed;

/// How many standard deviations a table reaches, in halves. The mass beyond is below 2⁻¹¹⁶.
const REACH_IN_HALVES: u64 = 25;

/// The discrete Gaussian's magnitudes: P(|J| ≤ j), j = 0, 1, …, for P(J = j) ∝ exp(−`decay`·j²), `decay` = 1/(2σ²) for
/// σ from 4 to 96.
///
/// The weights follow from one another: w_{j+1} = w_j·q^{2j+1}, q = exp(−`decay`).
pub(super) fn discrete(decay: Fixed) -> Vec<u128> {
    let q = decay.exp_of_minus();
    let square = q * q;
    let (mut weight, mut ratio) = (Fixed::ONE, q);
    let mut total = Fixed::ONE;
    let mut sums = Vec::new();
    while weight != Fixed::ZERO {
        sums.push(total);
        weight = weight * ratio;
        ratio = ratio * square;
        total += weight.times(2);
    }
    let inverse = total.inverse();
    // 8j²·decay ≥ 625: j is at least 12.5 standard deviations.
    let inside = |j: u64| !Fixed::integer(REACH_IN_HALVES.pow(2)).at_most(decay.times(8 * j * j));
    let magnitudes = (0..).zip(sums).take_while(|&(j, _)| inside(j));
    magnitudes.map(|(_, sum)| (sum * inverse).units()).collect()
}

/// The rounded Gaussian's magnitudes: P(|R| ≤ k), k = 0, 1, …, for R = round(N(0, `variance`)), `variance` from 1/4 to
/// 2¹⁴.
///
/// P(|R| ≤ k) = √(2/π)·∫₀^{(k+½)/s} e^{−x²/2} dx. The line is cut into intervals of width w = 2v ≤ 1/16 so that every
/// (k+½)/s ends one. Around the centre c = (2m+1)v of the m-th, e^{−(c+t)²/2} = e^{−c²/2}·Σ_n He_n(c)(−t)ⁿ/n! (the
/// generating function of Hermite's polynomials), odd powers cancel, and
///
/// ∫ = 2v·e^{−c²/2}·Σ_{n even} a_n/(n+1), a_n = He_n(c)vⁿ/n!, a_{n+1} = v²((2m+1)a_n − a_{n−1})/(n+1).
///
/// By Cramér's inequality, |He_n(c)| < 1.1·√(n!)·e^{c²/4}, the terms fall at least as fast as vⁿ/√(n!), v ≤ 1/32. They
/// end where two have vanished in 192 places; what follows is below 2⁻¹⁷⁰.
pub(super) fn rounded(variance: Fixed) -> Vec<u128> {
    let step = variance.root().inverse();
    let mut intervals = 1;
    let mut half_width = step.over(4);
    while !half_width.at_most(Fixed::ONE.over(32)) {
        half_width = half_width.over(2);
        intervals *= 2;
    }
    let square = half_width * half_width;
    let q = square.times(4).exp_of_minus();
    let mut ratio = q;
    let mut height = square.over(2).exp_of_minus();
    let mut sum = Fixed::ZERO;
    let scale = half_width.times(2) * Fixed::HALF_NORMAL;
    let mut cumulative = Vec::new();
    for k in 0_u64.. {
        // 4k² ≥ 625·variance: k is at least 12.5 standard deviations.
        let reach = variance.times(REACH_IN_HALVES.pow(2));
        if reach.at_most(Fixed::integer(4 * k * k)) {
            break;
        }
        // From (k − ½)/s, or from 0, to (k + ½)/s.
        let first = if k == 0 { 0 } else { (2 * k - 1) * intervals };
        for m in first..(2 * k + 1) * intervals {
            sum += height * mean_over_interval(square, 2 * m + 1);
            height = height * ratio;
            ratio = ratio * q;
        }
        cumulative.push((sum * scale).units());
    }
    cumulative
}

/// Σ_{n even} He_n(c)vⁿ/(n+1)!, the mean of e^{−ct−t²/2} over |t| ≤ v, for v² = `square` and c = `odd`·v.
fn mean_over_interval(square: Fixed, odd: u64) -> Fixed {
    let (mut before, mut term) = (Fixed::ZERO, Fixed::ONE);
    let mut mean = Fixed::ZERO;
    let mut n = 0;
    while term != Fixed::ZERO || before != Fixed::ZERO {
        if n % 2 == 0 {
            mean += term.over(n + 1);
        }
        let next = (square * (term.times(odd) - before)).over(n + 1);
        (before, term) = (term, next);
        n += 1;
    }
    mean
}
