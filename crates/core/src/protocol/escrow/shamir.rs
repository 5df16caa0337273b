//! Shares of a secret of 32 bytes, some of which give it back and fewer tell nothing (Shamir, CACM 1979).
//!
//! Every byte of the secret is the value at 0 of a polynomial over GF(2⁸) = GF(2)\[x\]/(x⁸ + x⁴ + x³ + x + 1), of degree τ − 1 and with
//! coefficients of its own; a share is the values at one other point. τ values give the polynomial, by interpolation. Any τ − 1 of
//! them are uniform and independent of the secret if the coefficients are: for each secret exactly one choice of coefficients
//! leads to them.
//!
//! Products are computed bit by bit: no table is read and nothing branches on a secret.

use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::protocol::regroup::Threshold;

/// Bytes of a secret, and of a share without its point.
pub(super) const SECRET_LEN: usize = 32;

/// A share of a key. `Debug` prints its point alone.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct Share {
    point: u8,
    value: [u8; SECRET_LEN],
}

/// Why shares give no secret, or a secret no shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// Too few different shares.
    #[error("{found} shares, and a key takes {needed}")]
    TooFew {
        /// How many.
        found: usize,
        /// τ.
        needed: usize,
    },
    /// More shares than there are points, or fewer than open.
    #[error(
        "a key cannot be shared among {found} holders, {needed} of whom open it: there are at least that many and at most 255"
    )]
    Holders {
        /// How many.
        found: usize,
        /// τ.
        needed: usize,
    },
    /// A share without a place.
    #[error("a share at point 0 would be the key itself")]
    Point,
    /// Two shares of one holder.
    #[error("two different shares at point {point}")]
    Twice {
        /// Where.
        point: u8,
    },
}

impl Share {
    /// A share that was kept or sent.
    ///
    /// # Errors
    /// [`ShareError::Point`] for point 0.
    pub fn new(point: u8, value: &[u8; SECRET_LEN]) -> Result<Self, ShareError> {
        match point {
            0 => Err(ShareError::Point),
            _ => Ok(Self {
                point,
                value: *value,
            }),
        }
    }

    /// The place of its holder among the holders, from 1.
    #[must_use]
    pub fn point(&self) -> u8 {
        self.point
    }

    /// What is sent of it, when it is.
    #[must_use]
    pub fn value(&self) -> &[u8; SECRET_LEN] {
        &self.value
    }
}

impl std::fmt::Debug for Share {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Share({}, redacted)", self.point)
    }
}

/// One share for each of `holders` holders, at the points 1, 2, …; `fill` gives the τ − 1 coefficients, secret and uniform.
pub(super) fn split(
    secret: &[u8; SECRET_LEN],
    threshold: Threshold,
    holders: usize,
    mut fill: impl FnMut(&mut [u8]),
) -> Result<Vec<Share>, ShareError> {
    let needed = threshold.shares();
    let points = match u8::try_from(holders) {
        Ok(points) if holders >= needed => points,
        _ => {
            return Err(ShareError::Holders {
                found: holders,
                needed,
            });
        }
    };
    let mut coefficients = Zeroizing::new(vec![[0; SECRET_LEN]; needed - 1]);
    coefficients.iter_mut().for_each(|row| fill(row));
    let at = |point| {
        let mut value = [0; SECRET_LEN];
        // Horner's rule, from the highest coefficient down to the secret.
        for row in coefficients.iter().rev().chain([secret]) {
            for (sum, coefficient) in value.iter_mut().zip(row) {
                *sum = product(*sum, point) ^ coefficient;
            }
        }
        Share { point, value }
    };
    Ok((1..=points).map(at).collect())
}

/// The secret that these shares are of, if they are all right; something else if one is not, which the caller must find out. Of more than τ
/// shares those at the smallest points count.
pub(super) fn combine(
    shares: &[Share],
    threshold: Threshold,
) -> Result<Zeroizing<[u8; SECRET_LEN]>, ShareError> {
    let mut used: Vec<&Share> = shares.iter().collect();
    used.sort_by_key(|share| share.point);
    used.dedup_by(|a, b| a == b);
    if let Some(pair) = used.windows(2).find(|pair| pair[0].point == pair[1].point) {
        let point = pair[0].point;
        return Err(ShareError::Twice { point });
    }
    let (found, needed) = (used.len(), threshold.shares());
    let used = used
        .get(..needed)
        .ok_or(ShareError::TooFew { found, needed })?;
    let mut secret = Zeroizing::new([0; SECRET_LEN]);
    for share in used {
        // Lagrange's coefficient at 0; points are public, and differ.
        let others = used.iter().filter(|other| other.point != share.point);
        let weight = others.fold(1, |weight, other| {
            let away = inverse(other.point ^ share.point);
            product(weight, product(other.point, away))
        });
        for (sum, byte) in secret.iter_mut().zip(&share.value) {
            *sum ^= product(*byte, weight);
        }
    }
    Ok(secret)
}

/// a·b in GF(2⁸), in the same steps whatever they are.
pub(super) fn product(mut a: u8, b: u8) -> u8 {
    let mut sum = 0;
    for bit in 0..8 {
        sum ^= a & (b >> bit & 1).wrapping_neg();
        a = a << 1 ^ 0x1b & (a >> 7).wrapping_neg();
    }
    sum
}

/// 1/a in GF(2⁸) as a²⁵⁴; 0 for 0.
pub(super) fn inverse(a: u8) -> u8 {
    // 254 = 2 + 4 + … + 128.
    let (mut square, mut power) = (a, 1);
    for _ in 0..7 {
        square = product(square, square);
        power = product(power, square);
    }
    power
}

#[cfg(test)]
mod tests {
    use rand::{Rng, RngExt};

    use super::*;
    use crate::vocabulary::{Label, Seed};

    fn shares(rng: &mut impl Rng, secret: &[u8; 32], needed: u8, holders: usize) -> Vec<Share> {
        let threshold = Threshold::forged(needed);
        split(secret, threshold, holders, |row| rng.fill_bytes(row)).expect("enough holders")
    }

    #[test]
    fn the_field_is_a_field() {
        // The test vector of FIPS 197, section 4.2.
        assert_eq!(product(0x57, 0x83), 0xc1);
        assert_eq!(product(0x57, 0x13), 0xfe);
        for a in 0..=255 {
            assert_eq!(product(a, 1), a);
            assert_eq!(product(a, inverse(a)), u8::from(a != 0));
            for b in 0..=255 {
                assert_eq!(product(a, b), product(b, a));
                let c = a.wrapping_mul(31) ^ b;
                assert_eq!(product(a, b ^ c), product(a, b) ^ product(a, c));
                assert_eq!(product(product(a, b), c), product(a, product(b, c)));
            }
        }
    }

    #[test]
    fn every_subset_large_enough_opens_and_no_smaller_one_does() {
        let mut rng = Seed::from_u64(1810).generator(Label::Scenario);
        for holders in 1..=8_usize {
            for needed in 1..=holders as u8 {
                let secret: [u8; 32] = rng.random();
                let all = shares(&mut rng, &secret, needed, holders);
                for mask in 0_u32..1 << holders {
                    let some: Vec<Share> = (0..holders)
                        .filter(|i| mask >> i & 1 == 1)
                        .map(|i| all[i].clone())
                        .collect();
                    let found = combine(&some, Threshold::forged(needed));
                    let needed = usize::from(needed);
                    if some.len() >= needed {
                        assert_eq!(*found.expect("enough"), secret);
                        continue;
                    }
                    let refused = ShareError::TooFew {
                        found: some.len(),
                        needed,
                    };
                    assert_eq!(found.err(), Some(refused));
                    // Taken for shares of a lower threshold they give something else; with probability 2⁻²⁵⁶ they would not.
                    if !some.is_empty() {
                        let guess = combine(&some, Threshold::forged(some.len() as u8));
                        assert_ne!(*guess.expect("as many as that takes"), secret);
                    }
                }
            }
        }
    }

    #[test]
    fn a_wrong_share_gives_another_secret_and_impossible_ones_are_refused() {
        let mut rng = Seed::from_u64(1811).generator(Label::Scenario);
        let secret: [u8; 32] = rng.random();
        let all = shares(&mut rng, &secret, 4, 7);
        let threshold = Threshold::forged(4);
        for wrong in 0..4 {
            let mut some = all.clone();
            some[wrong].value[wrong] ^= 1;
            assert_ne!(*combine(&some, threshold).expect("four"), secret);
            // Beyond the fourth it is not looked at.
            let other = combine(&[&all[..4], &some[wrong + 1..]].concat(), threshold);
            assert_eq!(*other.expect("four of each point"), secret);
            let twice = combine(&[&all[..], &some].concat(), threshold);
            let point = wrong as u8 + 1;
            assert_eq!(twice.err(), Some(ShareError::Twice { point }));
        }
        assert_eq!(Share::new(0, &secret).err(), Some(ShareError::Point));
        for holders in [0, 3, 256] {
            let refused = split(&secret, threshold, holders, |_| ()).err();
            let expected = ShareError::Holders {
                found: holders,
                needed: 4,
            };
            assert_eq!(refused, Some(expected));
        }
        assert_eq!(format!("{:?}", all[2]), "Share(3, redacted)");
    }

    #[test]
    fn fewer_shares_are_uniform_whatever_the_secret() {
        // One byte, threshold 3: the values at points 1 and 2 over all coefficients, for two secrets. Each pair comes exactly once.
        for byte in [0, 0xa7] {
            let mut seen = vec![false; 1 << 16];
            for coefficients in 0..1_u32 << 16 {
                let (a, b) = (coefficients as u8, (coefficients >> 8) as u8);
                let mut next = [a, b].into_iter();
                let mut secret = [0; 32];
                secret[0] = byte;
                let all = split(&secret, Threshold::forged(3), 3, |row| {
                    row[0] = next.next().expect("two coefficients");
                });
                let all = all.expect("three holders");
                let pair = usize::from(all[0].value[0]) << 8 | usize::from(all[1].value[0]);
                assert!(!std::mem::replace(&mut seen[pair], true));
            }
        }
    }
}
