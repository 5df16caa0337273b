//! A number with proved lower and upper ends.

use serde::Serialize;

/// Relative outward rounding of one operation on ends: several units in the last place.
const OUTWARD: f64 = 4.0 * f64::EPSILON;

/// A value known to lie in an interval: `low` ≤ truth ≤ `high`, both proved, rounding included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bracket {
    /// Certified lower end.
    pub low: f64,
    /// The best single number, between the ends.
    pub estimate: f64,
    /// Certified upper end: what a privacy statement uses.
    pub high: f64,
}

impl Bracket {
    /// The bracket with these ends, `estimate` being moved between them. An end that is not a number becomes the
    /// one that claims nothing (0 or +∞).
    pub(crate) fn new(low: f64, estimate: f64, high: f64) -> Self {
        let low = if low.is_nan() { 0.0 } else { low.max(0.0) };
        let high = if high.is_nan() { f64::INFINITY } else { high };
        // A proof that crosses itself is no proof of the lower end.
        let low = low.min(high);
        let estimate = if estimate.is_nan() { high } else { estimate };
        Self {
            low,
            estimate: estimate.clamp(low, high),
            high,
        }
    }

    /// A value computed in a few roundings.
    pub(crate) fn rounded(value: f64) -> Self {
        Self::new(value * (1.0 - OUTWARD), value, value * (1.0 + OUTWARD))
    }

    /// (high − low)/low: how much the upper end can overstate, relatively; +∞ for a lower end of 0.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.high == self.low {
            0.0
        } else if self.high.is_infinite() {
            f64::INFINITY
        } else {
            (self.high - self.low) / self.low
        }
    }

    /// Whether `value` lies in the bracket.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }

    /// The bracket of `factor`·value, rounded outwards, for `factor` ≥ 0.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        Self::new(
            self.low * factor * (1.0 - OUTWARD),
            self.estimate * factor,
            self.high * factor * (1.0 + OUTWARD),
        )
    }

    /// The bracket of the sum of two values, rounded outwards.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self::new(
            (self.low + other.low) * (1.0 - OUTWARD),
            self.estimate + other.estimate,
            (self.high + other.high) * (1.0 + OUTWARD),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_rounds_outwards_and_nonsense_claims_nothing() {
        let third = Bracket::rounded(1.0 / 3.0);
        assert!(third.low < third.high && third.gap() < 1e-14);
        assert!(third.times(3.0).contains(1.0) && third.plus(third).contains(2.0 / 3.0));
        // Of this sum the nearest number is 1, which is too small for its upper end.
        let sum = Bracket::new(1.0, 1.0, 1.0).plus(Bracket::new(1e-20, 1e-20, 1e-20));
        assert!(sum.low <= 1.0 && sum.high > 1.0, "{sum:?}");
        let nothing = Bracket::new(f64::NAN, f64::NAN, f64::NAN);
        assert_eq!((nothing.low, nothing.high), (0.0, f64::INFINITY));
        assert_eq!(nothing.gap(), f64::INFINITY);
        let crossed = Bracket::new(2.0, 1.5, 1.0);
        assert_eq!((crossed.low, crossed.high), (1.0, 1.0));
    }
}
