//! What the same people may lose over many sessions: Gaussian losses add up, and a budget says where they stop.
//!
//! Sessions are independent mechanisms whose μ is fixed before they start, so that together they have μ² = Σ μ_l²
//! (Dong, Roth & Su, JRSS-B 2022, Corollary 3.3), and ε at a δ follows from the exact curve of [`gaussian`]. A sum is about one unit of
//! protection. Sessions under another unit count with c·μ², c of [`Adjacency::square_factor`](super::Adjacency::square_factor); those that bound nothing about the
//! unit, such as sessions that protect single interactions where the unit is a whole user, are not in the sum and must be named beside it.

use serde::{Deserialize, Serialize};

use super::{Budget, Loss, PrivacyError, gaussian};

/// A sum of squares μ², never below the true sum.
///
/// Adding rounds to the next number above, unless the sum is a number itself: for a, b ≥ 0 with s = a ⊕ b rounded to the nearest, the error
/// a + b − s is a number and is computed exactly by six operations (Knuth's TwoSum); where it is above 0, the next number after s is taken,
/// which is at least a + b.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct SquareSum(f64);

/// A limit on what one group of people may lose over all sessions, per unit of protection.
///
/// # Rounding
/// A session that was planned for exactly what is left would be refused for the rounding of sums, so the limit on μ² is 2⁻⁴⁰ of
/// itself above the largest μ² with δ(ε; μ) ≤ δ. At this ε, δ then grows by a factor of at most exp((b² + 3)·2⁻⁴¹), b = ε/μ + μ/2: with R the
/// Mills ratio, ∂δ/∂μ = φ(a) and δ = φ(a)(R(a) − R(b)) (see [`gaussian`]), so ∂ ln δ/∂ ln μ = μ/(R(a) − R(b)) ≤ 1/(1 − b·R(b)) ≤ b² + 3. The first
/// step holds since R is convex and falls by 1 − bR(b) at b = a + μ; the second is R(b) ≤ (b² + 2)/(b³ + 3b). For b up to 40 the factor is below
/// 1 + 10⁻⁹. What is *reported* as spent has no such allowance. ∎
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LifetimeBudget {
    budget: Budget,
    limit: f64,
}

impl SquareSum {
    /// Nothing spent.
    pub const ZERO: Self = Self(0.0);

    /// A single μ².
    ///
    /// # Errors
    /// [`PrivacyError::Parameter`] unless it is finite and at least 0.
    pub fn new(square: f64) -> Result<Self, PrivacyError> {
        if square.is_finite() && square >= 0.0 {
            // Turns -0 into 0.
            Ok(Self(square + 0.0))
        } else {
            Err(PrivacyError::Parameter {
                name: "mu_squared",
                found: square,
                expected: "a finite number of at least 0",
            })
        }
    }

    /// The sum of both, rounded up; +∞ where it is too large for a number.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let (a, b) = (self.0, other.0);
        let sum = a + b;
        let part = sum - a;
        let error = (a - (sum - part)) + (b - part);
        // NaN only where the sum is infinite.
        Self(if error > 0.0 { sum.next_up() } else { sum })
    }

    /// So many times the square, rounded up.
    #[must_use]
    pub fn times(self, count: u32) -> Self {
        (0..count).map(|_| self).sum()
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// The loss of all of it together.
    #[must_use]
    pub fn loss(self) -> Loss {
        // A square is at least 0 and no NaN, which is all that is asked for.
        Loss::of_square(self.0).unwrap_or_else(|_| unreachable!("squares are at least 0"))
    }
}

impl std::iter::Sum for SquareSum {
    fn sum<I: Iterator<Item = Self>>(squares: I) -> Self {
        squares.fold(Self::ZERO, Self::plus)
    }
}

impl TryFrom<f64> for SquareSum {
    type Error = PrivacyError;

    fn try_from(square: f64) -> Result<Self, PrivacyError> {
        Self::new(square)
    }
}

impl From<SquareSum> for f64 {
    fn from(sum: SquareSum) -> Self {
        sum.0
    }
}

impl LifetimeBudget {
    /// How much a sum may exceed its exact limit, as a fraction of it: 2⁻⁴⁰, for rounding.
    pub const ALLOWANCE: f64 = 1.0 / (1_u64 << 40) as f64;

    /// The limit that `budget` sets to all sessions together.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        let mu = gaussian::mu(budget.epsilon, budget.delta);
        Self {
            budget,
            limit: mu * mu * (1.0 + Self::ALLOWANCE),
        }
    }

    /// ε and δ.
    #[must_use]
    pub fn budget(&self) -> Budget {
        self.budget
    }

    /// The largest sum of μ² that is allowed.
    #[must_use]
    pub fn limit(&self) -> f64 {
        self.limit
    }

    /// Whether sessions that sum up to `total` keep within the budget.
    #[must_use]
    pub fn allows(&self, total: SquareSum) -> bool {
        // An infinite limit would be no limit.
        total.0 <= self.limit && total.0.is_finite()
    }

    /// What sessions may still spend, as a μ²; 0 when it is all gone.
    #[must_use]
    pub fn left(&self, spent: SquareSum) -> f64 {
        (self.limit - spent.0).next_down().max(0.0)
    }

    /// The ε of what was spent, at this budget's δ, rounded up.
    #[must_use]
    pub fn epsilon_of(&self, spent: SquareSum) -> f64 {
        spent.loss().epsilon(self.budget.delta)
    }

    /// The ε that one more session may have at this budget's δ, rounded to the nearest: what a planner can be asked for.
    #[must_use]
    pub fn epsilon_left(&self, spent: SquareSum) -> f64 {
        gaussian::epsilon(self.left(spent).sqrt(), self.budget.delta)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::privacy::{Delta, Epsilon};

    fn square(value: f64) -> SquareSum {
        SquareSum::new(value).expect("a square")
    }

    fn budget(epsilon: f64, delta: f64) -> LifetimeBudget {
        LifetimeBudget::new(Budget::new(epsilon, delta).expect("a budget"))
    }

    /// A finite number of at least 0 as a multiple of 2⁻¹⁰⁷⁴, exactly.
    fn exact(value: f64) -> BigInt {
        let bits = value.to_bits();
        let (exponent, mantissa) = ((bits >> 52) as usize, bits & ((1 << 52) - 1));
        match exponent {
            0 => BigInt::from(mantissa),
            _ => BigInt::from(mantissa | 1 << 52) << (exponent - 1),
        }
    }

    #[test]
    fn sums_are_the_next_number_above_the_exact_sum() {
        // xorshift; squares from 2⁻⁶⁰ to 2⁴.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from_bits(((963 + state % 64) << 52) | (state >> 12))
        };
        let (mut above, mut equal) = (0, 0);
        for _ in 0..20_000 {
            let (a, b) = (next(), next());
            let sum = square(a).plus(square(b)).get();
            let (found, wanted) = (exact(sum), exact(a) + exact(b));
            assert!(found >= wanted, "{a} + {b}");
            assert!(exact(sum.next_down()) < wanted, "{a} + {b} is too high");
            if found > wanted {
                above += 1;
            } else {
                equal += 1;
            }
        }
        assert!(above > 10_000 && equal > 10, "{above} {equal}");
        let most = square(f64::MAX);
        assert_eq!(most.plus(most).get(), f64::INFINITY);
        assert_eq!(most.plus(most).plus(square(1.0)).get(), f64::INFINITY);
    }

    #[test]
    fn a_budget_is_where_the_exact_curve_meets_it() {
        for (epsilon, delta) in [(0.1, 1e-6), (1.0, 1e-5), (4.0, 1e-6), (10.0, 1e-12)] {
            let lifetime = budget(epsilon, delta);
            // Found without the planner's inverse: halving on the curve of δ itself.
            let (mut low, mut high) = (0.0_f64, 1e4);
            for _ in 0..200 {
                let middle = 0.5 * (low + high);
                match gaussian::delta(epsilon, middle.sqrt()) <= delta {
                    true => low = middle,
                    false => high = middle,
                }
            }
            assert!(lifetime.allows(square(low)), "{epsilon} {delta}");
            assert!(
                !lifetime.allows(square(low * (1.0 + 1e-11))),
                "{epsilon} {delta}"
            );
            // Sessions of equal size, planned for all there is.
            for count in [1, 3, 7, 1_000] {
                let one = square(low / f64::from(count));
                let all: SquareSum = (0..count).map(|_| one).sum();
                assert!(lifetime.allows(all), "{count} of {epsilon}");
                assert!(!lifetime.allows(all.plus(one)));
                let spent = lifetime.epsilon_of(all);
                assert!((spent / epsilon - 1.0).abs() < 1e-10, "{spent}");
                assert!(lifetime.epsilon_left(all) < 1e-5);
            }
        }
    }

    #[test]
    fn the_allowance_costs_less_than_a_billionth_of_delta() {
        for epsilon in [0.01, 0.3, 1.0, 4.0, 30.0] {
            for delta in [1e-30, 1e-12, 1e-5, 1e-2] {
                let lifetime = budget(epsilon, delta);
                let spent = gaussian::ln_delta(epsilon, lifetime.limit().sqrt());
                assert!(
                    spent - f64::ln(delta) < 1e-9,
                    "{epsilon} {delta}: {}",
                    spent - f64::ln(delta)
                );
            }
        }
    }

    #[test]
    fn what_is_no_square_is_refused_and_nothing_infinite_is_allowed() {
        for bad in [f64::NAN, -1e-300, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(SquareSum::new(bad).is_err(), "{bad}");
        }
        let lifetime = budget(1.0, 1e-5);
        let most = square(f64::MAX);
        assert!(!lifetime.allows(most) && !lifetime.allows(most.plus(most)));
        assert_eq!(lifetime.left(most), 0.0);
        assert!(lifetime.allows(SquareSum::ZERO));
        let alone = lifetime.epsilon_left(SquareSum::ZERO);
        let Budget { epsilon, delta } = lifetime.budget();
        assert_eq!((epsilon.get(), delta), (1.0, Delta::new(1e-5).expect("δ")));
        assert!((alone - 1.0).abs() < 1e-10 && Epsilon::new(alone).is_ok());
    }
}
