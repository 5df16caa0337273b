//! Integers mod 2^k that hide a sum: the laws of own noise, and masks.

use rand::Rng;

use super::integer::{RoundedGaussian, UnsupportedSigma};
use crate::vocabulary::{CHUNK, StreamKey};

/// What a peer draws in a session whose sums are integers mod 2^k, k = 32. Public: it holds no keys.
///
/// Own noise of release l is a rounded Gaussian of standard deviation σ_l steps of the grid; a mask is uniform on ℤ mod 2^k.
/// Residues are held as `f64`, which is exact: whoever adds up to 2²¹ of them stays below 2⁵³.
#[derive(Clone, Debug)]
pub struct RingLaws {
    /// One law per different standard deviation.
    laws: Vec<RoundedGaussian>,
    /// For every release the position of its law.
    of_release: Vec<usize>,
}

impl RingLaws {
    /// 2^k.
    pub const MODULUS: f64 = (1_u64 << 32) as f64;

    /// The laws of releases with these standard deviations, in steps of the grid.
    ///
    /// # Errors
    /// [`UnsupportedSigma`] for one that no sampler draws.
    pub fn new(sigmas: &[f64]) -> Result<Self, UnsupportedSigma> {
        let mut laws: Vec<RoundedGaussian> = Vec::new();
        let mut of_release = Vec::with_capacity(sigmas.len());
        for &sigma in sigmas {
            let known = laws.iter().position(|law| law.sigma() == sigma);
            of_release.push(match known {
                Some(position) => position,
                None => {
                    laws.push(RoundedGaussian::new(sigma)?);
                    laws.len() - 1
                }
            });
        }
        Ok(Self { laws, of_release })
    }

    /// The law of own noise in the release of this number, from 1.
    #[must_use]
    pub fn of(&self, release: u32) -> Option<&RoundedGaussian> {
        let index = (release as usize).checked_sub(1)?;
        self.laws.get(*self.of_release.get(index)?)
    }

    /// Adds own noise of `(release, chunk)` of a stream to `out`, integers of at most one chunk; `factor` times as much, rounded,
    /// which is 1 but for defects that tests build.
    pub(super) fn add_own(
        &self,
        key: &StreamKey,
        (release, chunk): (u32, u64),
        factor: f64,
        out: &mut [f64],
    ) {
        // A plan has a law for each of its releases.
        let Some(law) = self.of(release) else {
            out.fill(f64::NAN);
            return;
        };
        let mut draws = vec![0_i64; out.len().min(CHUNK)];
        law.fill(key, (release, chunk), &mut draws);
        for (value, draw) in out.iter_mut().zip(draws) {
            let draw = draw as f64;
            *value += if factor == 1.0 {
                draw
            } else {
                (factor * draw).round()
            };
        }
    }

    /// The residue of every integer: in [0, 2^k).
    pub fn reduce(values: &mut [f64]) {
        for value in values {
            // Exact, as the modulus is a power of two and the value an integer below 2⁵³.
            *value = value.rem_euclid(Self::MODULUS);
        }
    }

    /// The integer in [−2^(k−1), 2^(k−1)) with the residue of every integer.
    pub fn lift(values: &mut [f64]) {
        Self::reduce(values);
        for value in values {
            if *value >= Self::MODULUS / 2.0 {
                *value -= Self::MODULUS;
            }
        }
    }
}

/// Laws are the same if they have the same standard deviations.
impl PartialEq for RingLaws {
    fn eq(&self, other: &Self) -> bool {
        let sigmas = |laws: &Self| -> Vec<f64> {
            let of = laws.of_release.iter();
            of.map(|&position| laws.laws[position].sigma()).collect()
        };
        sigmas(self) == sigmas(other)
    }
}

/// Writes the masks of `(release, chunk)` of a stream to `out`: uniform residues mod 2^32, in order.
pub(super) fn masks(key: &StreamKey, (release, chunk): (u32, u64), out: &mut [f64]) {
    let mut words = key.stream(release, chunk);
    for value in out {
        *value = f64::from(words.next_u32());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn residues_and_lifts_are_exact_at_the_edges() {
        let modulus = RingLaws::MODULUS;
        let mut values = [
            -1.0,
            0.0,
            modulus,
            modulus / 2.0,
            modulus / 2.0 - 1.0,
            -modulus * 7.0 - 3.0,
        ];
        RingLaws::reduce(&mut values);
        assert_eq!(
            values,
            [
                modulus - 1.0,
                0.0,
                0.0,
                modulus / 2.0,
                modulus / 2.0 - 1.0,
                modulus - 3.0
            ]
        );
        RingLaws::lift(&mut values);
        assert_eq!(
            values,
            [-1.0, 0.0, 0.0, -modulus / 2.0, modulus / 2.0 - 1.0, -3.0]
        );
        let largest = 2.0_f64.powi(53) - 1.0;
        let mut value = [largest];
        RingLaws::lift(&mut value);
        assert_eq!(value, [-1.0]);
    }

    #[test]
    fn masks_use_all_bits_and_every_release_has_its_own() {
        let key = Seed::from_u64(5).key(Label::Scenario, 1, 2);
        let drawn = |at| {
            let mut drawn = [0.0; 100];
            masks(&key, at, &mut drawn);
            drawn
        };
        let first = drawn((3, 1));
        assert_eq!(first, drawn((3, 1)));
        assert!(first.iter().any(|&mask| mask >= RingLaws::MODULUS / 2.0));
        assert!(
            first
                .iter()
                .all(|&mask| mask < RingLaws::MODULUS && mask.fract() == 0.0)
        );
        for other in [drawn((4, 1)), drawn((3, 2))] {
            assert!(first.iter().zip(&other).filter(|(a, b)| a == b).count() < 3);
        }
    }

    #[test]
    fn every_release_has_the_law_of_its_own_standard_deviation() {
        let laws = RingLaws::new(&[100.0, 200.0, 100.0]).expect("supported");
        assert_eq!(laws.laws.len(), 2);
        assert_eq!(laws.of(3).map(RoundedGaussian::sigma), Some(100.0));
        assert_eq!(laws.of(2).map(RoundedGaussian::sigma), Some(200.0));
        assert!(laws.of(0).is_none() && laws.of(4).is_none());
        assert_ne!(
            laws,
            RingLaws::new(&[100.0, 200.0, 201.0]).expect("supported")
        );
        assert!(RingLaws::new(&[0.1]).is_err());
    }
}
