//! Noise terms of integers mod 2^k: own noise that is rounded, and masks.

use std::sync::Arc;

use super::peer_noise::{Law, NoiseChunk, PeerNoise, Scale, Term};
use super::ring::RingLaws;
use crate::vocabulary::{CHUNK, ReleaseId, StreamKey};

/// Terms of integers. Which a session needs, and that it has no others, is checked before it begins
/// ([`PeerNoise::is_in_ring`]).
impl Term {
    /// A term of own noise in a ring: rounded Gaussians whose standard deviation is `scale` per unit sensitivity.
    #[must_use]
    pub fn rounded(key: StreamKey, scale: f64, laws: Arc<RingLaws>) -> Self {
        Self::of_law(key, scale, Law::Rounded(laws))
    }

    /// A term of masks: uniform integers, times `sign`.
    #[must_use]
    pub fn mask(key: StreamKey, sign: f64, laws: Arc<RingLaws>) -> Self {
        Self::of_law(key, sign, Law::Mask(laws))
    }

    /// Adds this term's share of one chunk to `out`, mod 2⁶⁴. Its unit is one step of the grid, whatever `at` says.
    ///
    /// # Shapes
    /// `out` is that chunk of the release's coordinates.
    ///
    /// # Panics
    /// If the term draws real numbers.
    pub fn add_integers(&self, at: NoiseChunk, out: &mut [u64]) {
        match &self.law {
            Law::Rounded(_) if self.scale.times(1.0) == 0.0 => {}
            Law::Rounded(laws) => {
                laws.add_own(&self.key, self.place(at), self.scale.factor(), out);
            }
            Law::Mask(_) => {
                let sign = sign(self.scale);
                if sign == 0 {
                    return;
                }
                let mut drawn = vec![0; out.len()];
                self.draw_masks(at, &mut drawn);
                add(sign, &drawn, out);
            }
            Law::Normal | Law::Laplace(_) | Law::Wishart(_) => {
                panic!("real noise is not added to integers")
            }
        }
    }

    /// The masks behind this term's share of one chunk.
    ///
    /// # Panics
    /// If the term draws anything else.
    pub(crate) fn draw_masks(&self, at: NoiseChunk, out: &mut [u64]) {
        let Law::Mask(laws) = &self.law else {
            panic!("only masks are drawn for two");
        };
        laws.masks(&self.key, self.place(at), out);
        match self.scale.defect {
            None => {}
            Some(defect) => defect.narrow(laws.bits, out),
        }
    }

    /// Adds one chunk of masks that are drawn already to the lower end of an edge, `plus`, and to the upper one, `minus`, whose scale is
    /// `opposite`.
    pub(crate) fn add_masks(
        &self,
        drawn: &[u64],
        plus: &mut [u64],
        (minus, opposite): (&mut [u64], Scale),
    ) {
        add(sign(self.scale), drawn, plus);
        add(sign(opposite), drawn, minus);
    }
}

/// What a mask is multiplied by: ±1, but for defects that tests build.
fn sign(scale: Scale) -> i64 {
    scale.times(1.0).round() as i64
}

fn add(sign: i64, masks: &[u64], out: &mut [u64]) {
    for (value, mask) in out.iter_mut().zip(masks) {
        *value = value.wrapping_add(mask.wrapping_mul(sign as u64));
    }
}

impl PeerNoise {
    /// Adds all terms of one release to `out`, the peer's share of a sum of integers, mod 2⁶⁴.
    ///
    /// # Panics
    /// If a term draws real numbers.
    pub fn add_integers_to(&self, release: ReleaseId, out: &mut [u64]) {
        for term in self.terms() {
            term.add_integers_to(release, out);
        }
    }
}

impl Term {
    /// Adds this term's share of a whole release to `out`, mod 2⁶⁴.
    ///
    /// # Panics
    /// If the term draws real numbers.
    pub fn add_integers_to(&self, release: ReleaseId, out: &mut [u64]) {
        for (chunk, out) in (0_u64..).zip(out.chunks_mut(CHUNK)) {
            let at = NoiseChunk {
                release,
                chunk,
                unit: 1.0,
            };
            self.add_integers(at, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn both_ends_of_an_edge_add_masks_that_cancel_mod_2_to_the_64() {
        let key = || Seed::from_u64(5).key(Label::Scenario, 1, 2);
        for bits in [32, 64] {
            let laws = Arc::new(RingLaws::new(&[300.0], bits).expect("supported"));
            let plus = Term::mask(key(), 1.0, Arc::clone(&laws));
            let minus = Term::mask(key(), -1.0, Arc::clone(&laws));
            let mut sum = vec![7; CHUNK + 9];
            plus.add_integers_to(ReleaseId(1), &mut sum);
            assert!(sum.iter().any(|&x| x != 7));
            minus.add_integers_to(ReleaseId(1), &mut sum);
            assert!(sum.iter().all(|&x| x == 7));
            // Own noise is small and of both signs, mod 2⁶⁴.
            let own = Term::rounded(key(), 1.0, laws);
            let mut drawn = vec![0; CHUNK + 9];
            own.add_integers_to(ReleaseId(1), &mut drawn);
            let drawn = || drawn.iter().map(|&x| x as i64);
            assert!(drawn().all(|x| x.abs() <= 18 * 300) && drawn().any(|x| x < 0));
        }
    }

    /// Coordinates of a peer's own are real numbers, in a ring too.
    #[test]
    fn the_term_of_own_coordinates_is_normal_in_and_out_of_a_ring() {
        let key = || Seed::from_u64(5).key(Label::Scenario, 1, 2);
        let laws = Arc::new(RingLaws::new(&[300.0], 32).expect("supported"));
        let rounded = || Term::rounded(key(), 1.0, Arc::clone(&laws));
        let of = |own, coordinate| PeerNoise::new(own, Vec::new(), coordinate);
        assert!(of(rounded(), Term::new(key(), 1.0)).is_in_ring(Some(&laws)));
        assert!(!of(rounded(), rounded()).is_in_ring(Some(&laws)));
        assert!(of(Term::new(key(), 1.0), Term::new(key(), 1.0)).is_in_ring(None));
        assert!(!of(Term::new(key(), 1.0), rounded()).is_in_ring(None));
    }

    #[test]
    #[should_panic(expected = "real noise")]
    fn real_noise_is_not_added_to_integers() {
        let key = Seed::from_u64(5).key(Label::Scenario, 1, 2);
        Term::new(key, 1.0).add_integers_to(ReleaseId(1), &mut [0]);
    }
}
