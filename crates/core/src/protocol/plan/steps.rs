//! Whole steps of a grid, and their sums mod 2^k.

use super::parameters::RingParameters;
use crate::privacy::ring::Modulus;
use crate::protocol::values::Values;

/// The grid of a release whose sum is one of integers mod 2^k.
///
/// # Sums
/// Residues are held as `u64`. They are added mod 2⁶⁴ and reduced mod 2^k at the end: 2^k divides 2⁶⁴, so that the outcome is the sum
/// mod 2^k, in whatever order and however often it was reduced on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steps {
    /// One step, in the units in which reals would be published.
    size: f64,
    /// The most steps of one coordinate of a contribution.
    clamp: f64,
    /// k, at least 1 and at most 64.
    bits: u32,
}

impl Steps {
    /// The grid of a release with this sensitivity.
    pub(super) fn new(ring: RingParameters, sensitivity: f64) -> Self {
        Self {
            size: ring.grid.step() * sensitivity,
            clamp: ring.clamp as f64,
            bits: ring.modulus.bits(),
        }
    }

    /// The same mod 2^`bits`: a defect that tests build.
    pub(super) fn with_bits(self, bits: u32) -> Self {
        Self { bits, ..self }
    }

    /// One step, in the units in which reals would be published.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Rounds every coordinate of a contribution to the nearest step and counts it in steps, within the clamp. What is no number
    /// stays none.
    pub(super) fn count(&self, values: &mut [f64]) {
        for value in values {
            *value = (*value / self.size).round().clamp(-self.clamp, self.clamp);
        }
    }

    /// Adds a contribution that is counted in steps to `out`, mod 2⁶⁴; `None`, with only a part of it added, if a
    /// coordinate is no number.
    pub fn add(&self, counted: &[f64], out: &mut [u64]) -> Option<()> {
        for (sum, &steps) in out.iter_mut().zip(counted) {
            if steps.is_nan() {
                return None;
            }
            // A whole number within the clamp, which is below 2⁶³.
            *sum = sum.wrapping_add(steps as i64 as u64);
        }
        Some(())
    }

    /// The residue mod 2^k of every integer mod 2⁶⁴: what a peer publishes and sends.
    pub fn reduce(&self, values: &mut [u64]) {
        let most = u64::MAX >> (64 - self.bits);
        for value in values {
            *value &= most;
        }
    }

    /// The integer in [−2^(k−1), 2^(k−1)) with this residue.
    #[must_use]
    pub fn lift(&self, residue: u64) -> i64 {
        let unused = 64 - self.bits;
        (residue << unused) as i64 >> unused
    }

    /// From sums of residues to reals: the integer nearest to 0 with that residue, times one step.
    ///
    /// Integers beyond 2⁵³ are rounded to 53 bits, as every f64 is; what peers hold and compare are the residues.
    pub fn to_reals<'a>(&self, residues: &'a [u64]) -> impl Iterator<Item = f64> + use<'a> {
        let steps = *self;
        residues
            .iter()
            .map(move |&residue| steps.lift(residue) as f64 * steps.size)
    }

    /// Adds what another peer holds to what this one holds, mod 2^k.
    pub fn add_residues(&self, other: &[u64], out: &mut [u64]) {
        for (sum, x) in out.iter_mut().zip(other) {
            *sum = sum.wrapping_add(*x);
        }
        self.reduce(out);
    }
}

impl RingParameters {
    /// How residues travel.
    #[must_use]
    pub fn values(&self) -> Values {
        match self.modulus {
            Modulus::Bits32 => Values::Residues32,
            Modulus::Bits64 => Values::Residues64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::ring::Grid;

    fn steps(modulus: Modulus) -> Steps {
        let ring = RingParameters {
            grid: Grid::of(3),
            modulus,
            clamp: 1000,
        };
        Steps::new(ring, 2.0)
    }

    #[test]
    fn residues_and_lifts_are_exact_at_the_edges() {
        for (modulus, k) in [(Modulus::Bits32, 32), (Modulus::Bits64, 64)] {
            let steps = steps(modulus);
            let half = 1_u64 << (k - 1);
            let most = half.wrapping_mul(2).wrapping_sub(1);
            let mut values = [u64::MAX, 0, most, half, half - 1, half.wrapping_add(most)];
            steps.reduce(&mut values);
            assert_eq!(values, [most, 0, most, half, half - 1, half - 1]);
            let lifted = values.map(|residue| i128::from(steps.lift(residue)));
            let half = i128::from(half);
            assert_eq!(lifted, [-1, 0, -1, -half, half - 1, half - 1]);
        }
    }

    #[test]
    fn contributions_are_rounded_clamped_and_summed_wherever_they_wrap() {
        for modulus in [Modulus::Bits32, Modulus::Bits64] {
            let steps = steps(modulus);
            assert_eq!(steps.size(), 0.25);
            let mut counted = [0.37, -0.37, 0.1, 1e9, -1e9];
            steps.count(&mut counted);
            assert_eq!(counted, [1.0, -1.0, 0.0, 1000.0, -1000.0]);
            let mut sum = [0, 0, 5, 0, 0];
            steps.add(&counted, &mut sum).expect("numbers");
            steps.reduce(&mut sum);
            let reals: Vec<f64> = steps.to_reals(&sum).collect();
            assert_eq!(reals, [0.25, -0.25, 1.25, 250.0, -250.0]);
            // A mask at one peer and its negative at another, and the sum is what it was.
            let mask = [u64::MAX / 3; 5];
            let mut first = sum;
            steps.add_residues(&mask, &mut first);
            let mut second = mask.map(u64::wrapping_neg);
            steps.reduce(&mut second);
            steps.add_residues(&second, &mut first);
            assert_eq!(first, sum);
            // What is no number is not 0 steps.
            let mut bad = [0.0, f64::NAN];
            steps.count(&mut bad);
            assert!(bad[1].is_nan());
            assert_eq!(steps.add(&bad, &mut [0, 0]), None);
        }
    }
}
