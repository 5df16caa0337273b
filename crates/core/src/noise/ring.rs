//! Integers mod 2^k that hide a sum: the laws of own noise, and masks.

use rand::Rng;

use super::integer::{RoundedGaussian, UnsupportedSigma};
use crate::vocabulary::{CHUNK, StreamKey};

/// What a peer draws in a session whose sums are integers mod 2^k. Public: it holds no keys.
///
/// Own noise of release l is a rounded Gaussian of standard deviation σ_l steps of the grid; a mask is uniform on ℤ mod 2^k.
/// Both are added mod 2⁶⁴, of which 2^k is a divisor: whoever publishes a sum reduces it mod 2^k.
#[derive(Clone, Debug)]
pub struct RingLaws {
    /// One law per different standard deviation.
    laws: Vec<RoundedGaussian>,
    /// For every release the position of its law.
    of_release: Vec<usize>,
    /// k.
    pub(super) bits: u32,
}

impl RingLaws {
    /// The laws of releases with these standard deviations, in steps of the grid, and masks of k = `bits` uniform bits, at most 64.
    ///
    /// # Errors
    /// [`UnsupportedSigma`] for a standard deviation that no sampler draws.
    pub fn new(sigmas: &[f64], bits: u32) -> Result<Self, UnsupportedSigma> {
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
        Ok(Self {
            laws,
            of_release,
            bits,
        })
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
        out: &mut [u64],
    ) {
        let law = self
            .of(release)
            .expect("a plan has a law for each of its releases");
        let mut draws = vec![0_i64; out.len().min(CHUNK)];
        law.fill(key, (release, chunk), &mut draws);
        for (value, draw) in out.iter_mut().zip(draws) {
            let draw = if factor == 1.0 {
                draw
            } else {
                (factor * draw as f64).round() as i64
            };
            *value = value.wrapping_add(draw as u64);
        }
    }

    /// Writes the masks of `(release, chunk)` of a stream to `out`: uniform integers of k bits, in order.
    pub(super) fn masks(&self, key: &StreamKey, (release, chunk): (u32, u64), out: &mut [u64]) {
        let mut words = key.words(release, chunk);
        if self.bits <= 32 {
            out.fill_with(|| u64::from(words.next_u32()));
        } else {
            out.fill_with(|| words.next_u64());
        }
    }
}

/// Laws are the same if they have the same standard deviations and as many bits.
impl PartialEq for RingLaws {
    fn eq(&self, other: &Self) -> bool {
        let sigmas = |laws: &Self| -> Vec<f64> {
            let of = laws.of_release.iter();
            of.map(|&position| laws.laws[position].sigma()).collect()
        };
        self.bits == other.bits && sigmas(self) == sigmas(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn masks_use_all_bits_and_every_release_has_its_own() {
        let key = Seed::from_u64(5).key(Label::Scenario, 1, 2);
        for bits in [32, 64] {
            let laws = RingLaws::new(&[], bits).expect("nothing refused");
            let drawn = |at| {
                let mut drawn = [0; 100];
                laws.masks(&key, at, &mut drawn);
                drawn
            };
            let first = drawn((3, 1));
            assert_eq!(first, drawn((3, 1)));
            // Every bit is 0 somewhere and 1 somewhere: of 100 fair bits, but with probability 64·2⁻⁹⁹.
            let most = u64::MAX >> (64 - bits);
            assert_eq!(first.iter().fold(0, |all, mask| all | mask), most);
            assert_eq!(first.iter().fold(most, |all, mask| all & mask), 0);
            for other in [drawn((4, 1)), drawn((3, 2))] {
                assert!(first.iter().zip(&other).filter(|(a, b)| a == b).count() < 3);
            }
        }
    }

    #[test]
    fn every_release_has_the_law_of_its_own_standard_deviation() {
        let laws = RingLaws::new(&[100.0, 200.0, 100.0], 32).expect("supported");
        assert_eq!(laws.laws.len(), 2);
        assert_eq!(laws.of(3).map(RoundedGaussian::sigma), Some(100.0));
        assert_eq!(laws.of(2).map(RoundedGaussian::sigma), Some(200.0));
        assert!(laws.of(0).is_none() && laws.of(4).is_none());
        let others = [(&[100.0, 200.0, 201.0], 32), (&[100.0, 200.0, 100.0], 64)];
        for (sigmas, bits) in others {
            assert_ne!(laws, RingLaws::new(sigmas, bits).expect("supported"));
        }
        assert!(RingLaws::new(&[0.1], 32).is_err());
    }
}
