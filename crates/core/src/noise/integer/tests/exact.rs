//! Tables and certificate against exact arithmetic: no floating-point number decides.

use num_bigint::BigInt;

use super::super::fixed::Fixed;
use super::super::levels::{Levels, levels, ratio_of};
use super::super::{RoundedGaussian, law};
use super::ideal::{self, PLACES};

/// σ² as numerator and denominator.
fn variance(sigma: f64) -> (u128, u128) {
    let (mantissa, places) = ratio_of(sigma);
    let common = mantissa.trailing_zeros().min(places);
    (
        u128::from(mantissa >> common).pow(2),
        1 << (2 * (places - common)),
    )
}

/// The table of a standard deviation up to 96.
fn table(sigma: f64) -> Vec<u128> {
    match levels(sigma) {
        Levels::One(variance) => law::rounded(variance),
        several => panic!("{sigma} has levels: {several:?}"),
    }
}

/// The probabilities of 0, 1, 2, … that cumulative probabilities of magnitudes stand for, those of ±x together, in
/// units of 2⁻⁶⁰⁰.
fn masses(thresholds: &[u128]) -> Vec<BigInt> {
    let mut cumulative: Vec<BigInt> = thresholds
        .iter()
        .map(|&t| BigInt::from(t) << (PLACES - 126))
        .collect();
    cumulative.push(BigInt::from(1) << PLACES);
    differences(&cumulative)
}

fn differences(cumulative: &[BigInt]) -> Vec<BigInt> {
    let before = std::iter::once(BigInt::ZERO).chain(cumulative.iter().cloned());
    cumulative
        .iter()
        .zip(before)
        .map(|(now, before)| now - before)
        .collect()
}

/// Twice the total variation between two symmetric laws given by magnitudes, of which the second may lack the far end:
/// in units of 2⁻⁶⁰⁰.
fn twice_distance(masses: &[BigInt], ideal: &[BigInt]) -> BigInt {
    let zero = BigInt::ZERO;
    let length = masses.len().max(ideal.len());
    let at = |law: &[BigInt], i: usize| law.get(i).unwrap_or(&zero).clone();
    let inside: BigInt = (0..length)
        .map(|i| BigInt::from((at(masses, i) - at(ideal, i)).magnitude().clone()))
        .sum();
    inside + (BigInt::from(1) << PLACES) - ideal.iter().sum::<BigInt>()
}

/// 2·`draws`·2^−`bits`, in units of 2⁻⁶⁰⁰.
fn twice_bound(draws: u32, bits: u32) -> BigInt {
    BigInt::from(draws) << (PLACES + 1 - bits)
}

#[test]
fn every_threshold_is_the_nearest_and_a_table_is_as_near_to_its_law_as_the_proof_says() {
    for sigma in [0.5, 0.7, 1.0, 1.5, 3.3, 17.25, 64.0, 96.0] {
        let thresholds = table(sigma);
        let (numerator, denominator) = variance(sigma);
        let ideal = ideal::rounded(numerator, denominator, thresholds.len() + 1);
        let nearest = ideal::nearest(&ideal[..thresholds.len()]);
        assert!(thresholds == nearest, "{sigma}");
        let distance = twice_distance(&masses(&thresholds), &differences(&ideal));
        assert!(distance <= twice_bound(1, 115), "{sigma}");

        // One unit of 2⁻¹²⁶ in one entry is seen; one of 2⁻¹¹² is more than the proof allows.
        let mut wrong = thresholds.clone();
        let middle = wrong.len() / 3;
        wrong[middle] += 1;
        assert!(wrong != nearest, "{sigma}");
        wrong[middle] -= 1 << 14;
        let distance = twice_distance(&masses(&wrong), &differences(&ideal));
        assert!(distance > twice_bound(1, 115), "{sigma}");
        // So is a tail that ends at nine standard deviations.
        let cut = &thresholds[..(9.0 * sigma) as usize];
        let distance = twice_distance(&masses(cut), &differences(&ideal));
        assert!(distance > twice_bound(1, 115), "{sigma}");
    }
}

#[test]
fn thresholds_of_discrete_laws_are_the_nearest() {
    let fixed = (Fixed::ONE.over(8192), ideal::scaled(1, 8192));
    // The top level of σ = 100: τ² = 100² − 64² = 5904.
    let top = (Fixed::ratio(1, 11_808), ideal::scaled(1, 11_808));
    for (decay, ideal_decay) in [fixed, top] {
        let thresholds = law::discrete(decay);
        let ideal = ideal::discrete(&ideal_decay, thresholds.len() + 1);
        assert!(thresholds == ideal::nearest(&ideal[..thresholds.len()]));
        let distance = twice_distance(&masses(&thresholds), &differences(&ideal));
        assert!(distance <= twice_bound(1, 115));
    }
}

/// The law of R + `multiple`·J from the laws of magnitudes, as probabilities of 0 and of ±1, ±2, … together, in units
/// of 2⁻⁶⁰⁰.
///
/// Cumulative probabilities are whole multiples of 2⁻¹²⁶, so these are whole multiples of 2⁻²⁵⁴ and nothing is rounded.
fn sum(rounded: &[u128], multiple: usize, discrete: &[u128]) -> Vec<BigInt> {
    let (r, j) = (masses(rounded), masses(discrete));
    // Of one sign: half of what ±x have together.
    let short = |masses: &[BigInt]| -> Vec<BigInt> {
        masses
            .iter()
            .enumerate()
            .map(|(x, mass)| {
                if x == 0 {
                    mass >> (PLACES - 127)
                } else {
                    mass >> (PLACES - 126)
                }
            })
            .collect()
    };
    let (r, j) = (short(&r), short(&j));
    let mut law = vec![BigInt::ZERO; r.len() + multiple * j.len()];
    let reach = |masses: &[BigInt]| 1 - masses.len() as i64..masses.len() as i64;
    for y in reach(&j) {
        let from = multiple as i64 * y;
        for x in reach(&r) {
            if let Ok(place) = usize::try_from(from + x) {
                law[place] += &j[y.unsigned_abs() as usize] * &r[x.unsigned_abs() as usize];
            }
        }
    }
    // Units of 2⁻²⁵⁴ (each half in 2⁻¹²⁷), and two signs but for 0.
    law.iter()
        .enumerate()
        .map(|(x, mass)| mass << (PLACES - 254 + u32::from(x > 0)))
        .collect()
}

/// Twice the distance of a sum of two tables from the rounded Gaussian, and the σ it is for.
fn distance_of_sum(sigma: f64, other: f64) -> BigInt {
    let Levels::Several { fixed, top, decay } = levels(sigma) else {
        panic!("{sigma} has no level");
    };
    assert!(fixed.is_empty());
    let law = sum(
        &law::rounded(Fixed::integer(4096)),
        top as usize,
        &law::discrete(decay),
    );
    let total: BigInt = law.iter().sum();
    assert_eq!(total, BigInt::from(1) << PLACES);
    let (numerator, denominator) = variance(other);
    let ideal = ideal::rounded(numerator, denominator, (13.0 * sigma) as usize);
    twice_distance(&law, &differences(&ideal))
}

#[test]
fn sums_of_two_tables_are_as_near_to_the_rounded_gaussian_as_certified() {
    for sigma in [100.0, 131.7] {
        let gaussian = RoundedGaussian::new(sigma).unwrap();
        assert_eq!(gaussian.statistical_distance(), 2.0_f64.powi(-112));
        let distance = distance_of_sum(sigma, sigma);
        assert!(distance <= twice_bound(2, 113), "{sigma}");
        // And no further off than a bound that says nothing: σ in its last place is seen.
        let distance = distance_of_sum(sigma, sigma.next_up());
        assert!(distance > twice_bound(2, 113), "{sigma}");
    }
}

/// The lemma itself, on small laws with R = round(N(0, 8²)) and J ~ D_8, where h = 8/√(1 + K²) falls with K.
///
/// The ratio's first harmonic is 2·exp(−2π²h²)·cos, whose mean magnitude makes the distance (2/π)·exp(−2π²h²): 2⁻¹⁰⁷·⁹,
/// 2⁻⁷⁰·⁸, 2⁻⁴⁹·⁹ and 2⁻³⁷·¹ for K = 4 … 7, and it is. So neither the bound nor its exponent is loose, and levels with
/// h < 2 would be seen.
#[test]
fn a_level_is_as_far_off_as_the_lemma_says() {
    let rounded = law::rounded(Fixed::integer(64));
    let discrete = law::discrete(Fixed::ONE.over(128));
    for (multiple, bits) in [(4, 107), (5, 70), (6, 49), (7, 37)] {
        let law = sum(&rounded, multiple as usize, &discrete);
        let ideal = ideal::rounded(64 * (1 + multiple * multiple), 1, law.len() + 200);
        let distance = twice_distance(&law, &differences(&ideal));
        assert!(distance <= twice_bound(1, bits), "{multiple}");
        assert!(distance > twice_bound(1, bits + 1), "{multiple}");
    }
}
