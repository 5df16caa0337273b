//! Signed fixed-point numbers with 192 binary places, in which the tables of probabilities are computed.
//!
//! Integer arithmetic alone: the same bits on every platform, whatever its mathematical library. Everything computed
//! here is below 2¹⁴ in magnitude, so 64 places before the point are more than enough.

use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A number n·2⁻¹⁹², n in 256-bit two's complement, least significant limb first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fixed([u64; 4]);

/// Binary places after the point.
const PLACES: u32 = 192;

impl Fixed {
    pub(super) const ZERO: Self = Self([0; 4]);
    pub(super) const ONE: Self = Self([0, 0, 0, 1]);

    /// √(2/π), correct to the last place.
    pub(super) const HALF_NORMAL: Self = Self([
        0xa705_3e60_a24e_0db2,
        0x7e59_e280_5d5c_717f,
        0xcc42_299e_a1b2_8468,
        0,
    ]);

    pub(super) const fn integer(value: u64) -> Self {
        assert!(value < 1 << 62, "far above whatever occurs");
        Self([0, 0, 0, value])
    }

    /// `value`·2^−`places`, exactly, for at most 192 places where the result is below 2⁶².
    pub(super) fn scaled(value: u128, places: u32) -> Self {
        assert!(places <= PLACES, "no finer than a number's last place");
        let places = PLACES - places;
        let mut limbs = [0; 5];
        let (limb, bit) = (places as usize / 64, places % 64);
        let halves = [value as u64, (value >> 64) as u64];
        for (i, half) in halves.into_iter().enumerate() {
            let shifted = u128::from(half) << bit;
            for (j, part) in [shifted as u64, (shifted >> 64) as u64]
                .into_iter()
                .enumerate()
            {
                match limbs.get_mut(limb + i + j) {
                    Some(place) => *place |= part,
                    None => assert_eq!(part, 0, "a number below 2^62"),
                }
            }
        }
        assert!(limbs[4] == 0 && limbs[3] < 1 << 62, "a number below 2^62");
        Self([limbs[0], limbs[1], limbs[2], limbs[3]])
    }

    /// `numerator`/`denominator`, the denominator positive and below 2¹²⁷ and the numerator below it, less than 2⁻¹⁹² off.
    pub(super) fn ratio(numerator: u128, denominator: u128) -> Self {
        assert!(numerator < denominator && denominator < 1 << 127);
        let mut limbs = [0; 4];
        let mut rest = numerator;
        for place in (0..PLACES as usize).rev() {
            rest *= 2;
            if rest >= denominator {
                rest -= denominator;
                limbs[place / 64] |= 1 << (place % 64);
            }
        }
        Self(limbs)
    }

    fn is_negative(self) -> bool {
        self.0[3] >> 63 == 1
    }

    fn magnitude(self) -> Self {
        if self.is_negative() { -self } else { self }
    }

    /// Whether this number, not negative, is at most `other`, not negative.
    pub(super) fn at_most(self, other: Self) -> bool {
        self.0.iter().rev().le(other.0.iter().rev())
    }

    /// This number times a small integer.
    pub(super) fn times(self, factor: u64) -> Self {
        let negative = self.is_negative();
        let mut limbs = self.magnitude().0;
        let mut carry = 0_u128;
        for limb in &mut limbs {
            let product = u128::from(*limb) * u128::from(factor) + carry;
            *limb = product as u64;
            carry = product >> 64;
        }
        debug_assert!(carry == 0 && limbs[3] >> 63 == 0, "an overflow");
        if negative { -Self(limbs) } else { Self(limbs) }
    }

    /// This number over a positive integer, towards zero.
    pub(super) fn over(self, divisor: u64) -> Self {
        let negative = self.is_negative();
        let mut limbs = self.magnitude().0;
        let mut rest = 0_u128;
        for limb in limbs.iter_mut().rev() {
            let part = rest << 64 | u128::from(*limb);
            *limb = (part / u128::from(divisor)) as u64;
            rest = part % u128::from(divisor);
        }
        if negative { -Self(limbs) } else { Self(limbs) }
    }

    /// The largest number below 2⁹ of which `small` holds, where it holds up to some number only.
    fn largest_where(small: impl Fn(Self) -> bool) -> Self {
        let mut found = Self::ZERO;
        for bit in (0..=PLACES + 8).rev() {
            let mut with = found;
            with.0[bit as usize / 64] |= 1 << (bit % 64);
            if small(with) {
                found = with;
            }
        }
        found
    }

    /// The square root of a positive number below 2¹⁶, less than 2⁻¹⁹² + 2⁻¹⁹²/√self off.
    pub(super) fn root(self) -> Self {
        Self::largest_where(|root| (root * root).at_most(self))
    }

    /// One over a number from 2⁻⁸ to 2¹⁴, less than 2⁻¹⁹²(1 + 1/self) off.
    pub(super) fn inverse(self) -> Self {
        Self::largest_where(|inverse| (inverse * self).at_most(Self::ONE))
    }

    /// e⁻ˣ for x from 0 to 1/16 by its series, less than 64·2⁻¹⁹² off.
    ///
    /// Every term is computed from the one before with an error below 2⁻¹⁹¹ that later terms shrink, and the 28th is
    /// below 2⁻¹⁹².
    pub(super) fn exp_of_minus(self) -> Self {
        let mut term = Self::ONE;
        let mut sum = Self::ONE;
        for n in 1.. {
            term = -(term * self).over(n);
            if term == Self::ZERO {
                break;
            }
            sum += term;
        }
        sum
    }

    /// About this number, not negative.
    #[cfg(test)]
    pub(super) fn to_f64(self) -> f64 {
        let [_, low, middle, high] = self.0.map(|limb| limb as f64);
        high + middle * 2.0_f64.powi(-64) + low * 2.0_f64.powi(-128)
    }

    /// This number, from 0 to 1, in units of 2⁻¹²⁶, to the nearest.
    pub(super) fn units(self) -> u128 {
        let [_, low, middle, high] = (self + Self([0, 2, 0, 0])).0;
        debug_assert!(high <= 1, "a probability");
        u128::from(high) << 126 | u128::from(middle) << 62 | u128::from(low >> 2)
    }
}

impl Add for Fixed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let mut limbs = [0; 4];
        let mut carry = false;
        for (i, limb) in limbs.iter_mut().enumerate() {
            let (sum, first) = self.0[i].overflowing_add(other.0[i]);
            let (sum, second) = sum.overflowing_add(u64::from(carry));
            *limb = sum;
            carry = first || second;
        }
        Self(limbs)
    }
}

impl AddAssign for Fixed {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Neg for Fixed {
    type Output = Self;

    fn neg(self) -> Self {
        Self(self.0.map(|limb| !limb)) + Self([1, 0, 0, 0])
    }
}

impl Sub for Fixed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + -other
    }
}

impl Mul for Fixed {
    type Output = Self;

    /// The product, towards zero: less than 2⁻¹⁹² off.
    fn mul(self, other: Self) -> Self {
        let (a, b) = (self.magnitude().0, other.magnitude().0);
        let mut product = [0_u64; 8];
        for (i, &a) in a.iter().enumerate() {
            let mut carry = 0_u128;
            for (j, &b) in b.iter().enumerate() {
                let sum = u128::from(a) * u128::from(b) + u128::from(product[i + j]) + carry;
                product[i + j] = sum as u64;
                carry = sum >> 64;
            }
            product[i + 4] = carry as u64;
        }
        debug_assert!(product[7] == 0 && product[6] >> 63 == 0, "an overflow");
        let magnitude = Self([product[3], product[4], product[5], product[6]]);
        if self.is_negative() == other.is_negative() {
            magnitude
        } else {
            -magnitude
        }
    }
}
