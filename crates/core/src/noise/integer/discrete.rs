//! The discrete Gaussian, exactly.

use rand::Rng;

use super::levels::ratio_of;
use super::rounded::UnsupportedSigma;

/// The law P(X = x) ∝ exp(−x²/(2σ²)) on the whole numbers, drawn without any error.
///
/// For comparison and for mechanisms whose analysis asks for it (Canonne, Kamath & Steinke 2020). Added noise of
/// [`super::RoundedGaussian`] keeps the Gaussian's privacy curve, sums of discrete Gaussians do not. How long a draw
/// takes depends on what is drawn.
///
/// # Law
/// For σ = n/d let x = ±(k + f)σ with whole k and 0 ≤ f < 1, so that exp(−x²/(2σ²)) = exp(−k²/2)·exp(−kf)·exp(−f²/2)
/// (Karney 2016). A draw takes k with a weight of exp(−k²/2), one of the ⌈σ⌉ whole numbers from ⌈kσ⌉ on, and a sign; it
/// is thrown away if the number is not below (k + 1)σ, if it is −0, and with the probabilities that make up the other
/// two factors. Every decision is an event of probability exp(−γ), γ = 1/2, f or f²/2, from events of rational
/// probability γ/i: if the first that does not happen, for i = 1, 2, …, is the i-th, P(i > j) = γʲ/j!, and i is odd
/// with probability Σ_j (−γ)ʲ/j! = exp(−γ) (Canonne, Kamath & Steinke 2020, algorithm 1). Those compare whole numbers
/// with uniform whole numbers.
///
/// # Cost
/// About two tries for a draw, each of a constant expected number of words for any σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    sigma: f64,
    /// σ = numerator/denominator.
    numerator: u64,
    denominator: u64,
}

impl DiscreteGaussian {
    /// The discrete Gaussian of parameter `sigma`, taken as the binary fraction it is.
    ///
    /// # Errors
    /// [`UnsupportedSigma`] for a number that is not from ½ to 2⁴⁰.
    pub fn new(sigma: f64) -> Result<Self, UnsupportedSigma> {
        UnsupportedSigma::check(sigma)?;
        let (mantissa, exponent) = ratio_of(sigma);
        let common = mantissa.trailing_zeros().min(exponent);
        Ok(Self {
            sigma,
            numerator: mantissa >> common,
            denominator: 1 << (exponent - common),
        })
    }

    /// The parameter σ; from 1 on the standard deviation is nearly the same.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// One draw.
    pub fn draw<R: Rng + ?Sized>(&self, random: &mut R) -> i64 {
        loop {
            if let Some(draw) = self.attempt(random) {
                return draw;
            }
        }
    }

    fn attempt<R: Rng + ?Sized>(&self, random: &mut R) -> Option<i64> {
        let (n, d) = (u128::from(self.numerator), u128::from(self.denominator));
        let mut k = 0_u64;
        while exp_of_minus(random, half) {
            k += 1;
        }
        // exp(−k/2)·exp(−k(k − 1)/2) = exp(−k²/2).
        all(k * k.saturating_sub(1), || exp_of_minus(random, half)).then_some(())?;
        let before = u128::from(k) * n;
        let first = before.div_ceil(d);
        let x = first + u128::from(below(random, self.numerator.div_ceil(self.denominator)));
        let negative = below(random, 2) == 1;
        // f = over/n.
        let over = x * d - before;
        let kept = over < n && !(negative && x == 0);
        kept.then_some(())?;
        let over = over as u64;
        let fraction = |random: &mut R| below(random, self.numerator) < over;
        all(k, || exp_of_minus(random, fraction)).then_some(())?;
        let half_square = |random: &mut R| half(random) && fraction(random) && fraction(random);
        exp_of_minus(random, half_square).then_some(())?;
        let x = x as i64;
        Some(if negative { -x } else { x })
    }
}

/// An event of probability exactly ½.
fn half<R: Rng + ?Sized>(random: &mut R) -> bool {
    below(random, 2) == 0
}

/// An event of probability exactly exp(−γ), where `event` has probability γ ≤ 1.
fn exp_of_minus<R: Rng + ?Sized>(random: &mut R, event: impl Fn(&mut R) -> bool) -> bool {
    let mut i = 1;
    while event(random) && below(random, i) == 0 {
        i += 1;
    }
    i % 2 == 1
}

/// Whether all of `count` tries succeed; stops at the first that does not.
fn all(count: u64, mut succeeds: impl FnMut() -> bool) -> bool {
    (0..count).all(|_| succeeds())
}

/// A uniform whole number below `bound`, at least 1.
fn below<R: Rng + ?Sized>(random: &mut R, bound: u64) -> u64 {
    let mask = u64::MAX
        .checked_shr((bound - 1).leading_zeros())
        .unwrap_or(0);
    loop {
        let found = random.next_u64() & mask;
        if found < bound {
            return found;
        }
    }
}
