//! How many bits the integers of a sum need.

use serde::{Deserialize, Serialize};

use crate::privacy::PrivacyError;

/// ℤ mod 2^k with k = 32 or 64, in which sums are exact as long as they stay within ±2^(k−1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub enum Modulus {
    /// k = 32.
    Bits32,
    /// k = 64.
    Bits64,
}

impl Modulus {
    /// The fewest bits in which a sum over `peers` numbers of at most `largest` each, in absolute value, cannot wrap; or
    /// `asked` bits, if they are enough.
    ///
    /// # Errors
    /// [`PrivacyError::Wraps`] with how many bits it takes.
    pub fn holding(peers: usize, largest: f64, asked: Option<Self>) -> Result<Self, PrivacyError> {
        let choices: &[Self] = match &asked {
            Some(one) => std::slice::from_ref(one),
            None => &[Self::Bits32, Self::Bits64],
        };
        if let Some(found) = choices
            .iter()
            .find(|modulus| modulus.headroom(peers, largest).is_some())
        {
            return Ok(*found);
        }
        let modulus = choices[choices.len() - 1];
        Err(PrivacyError::Wraps {
            peers,
            needed: libm::log2(peers as f64 * largest),
            bits: modulus.bits(),
            advice: match asked {
                Some(Self::Bits32) => "set noise.bits = 64, or leave it out",
                _ => "let every peer hold fewer rows, or raise privacy.overhead for a coarser grid",
            },
        })
    }

    /// How many bits are to spare where `peers` numbers of at most `largest` each are added; `None` if their sum could wrap.
    #[must_use]
    pub fn headroom(self, peers: usize, largest: f64) -> Option<u32> {
        let most = libm::exp2(f64::from(self.bits() - 1));
        let sum = peers as f64 * largest;
        // Written so that what is no number does not fit.
        if !(sum < most && sum >= 0.0) {
            return None;
        }
        let spare =
            (0..self.bits()).take_while(|&bits| sum * libm::exp2(f64::from(bits + 1)) < most);
        Some(spare.count() as u32)
    }

    /// k.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::Bits32 => 32,
            Self::Bits64 => 64,
        }
    }
}

impl TryFrom<u32> for Modulus {
    type Error = PrivacyError;

    fn try_from(bits: u32) -> Result<Self, PrivacyError> {
        match bits {
            32 => Ok(Self::Bits32),
            64 => Ok(Self::Bits64),
            found => Err(PrivacyError::Bits { found }),
        }
    }
}

impl From<Modulus> for u32 {
    fn from(modulus: Modulus) -> Self {
        modulus.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fewest_bits_that_hold_the_sum_are_taken() {
        let holding = |peers, largest| Modulus::holding(peers, largest, None);
        assert_eq!(holding(4, 1e6), Ok(Modulus::Bits32));
        assert_eq!(Modulus::Bits32.headroom(4, 1e6), Some(9));
        // 2³¹ itself does not fit, one less does.
        assert_eq!(Modulus::Bits32.headroom(1, 2_147_483_647.0), Some(0));
        assert_eq!(Modulus::Bits32.headroom(1, 2_147_483_648.0), None);
        assert_eq!(holding(2, 1_073_741_824.0), Ok(Modulus::Bits64));
        assert_eq!(holding(1, 0.0), Ok(Modulus::Bits32));
        for bad in [f64::NAN, f64::INFINITY, 1e19, -1.0] {
            assert!(matches!(holding(1, bad), Err(PrivacyError::Wraps { .. })));
        }
        let narrow = Modulus::holding(1000, 1e7, Some(Modulus::Bits32)).expect_err("wraps");
        assert!(narrow.to_string().contains("noise.bits = 64"), "{narrow}");
        let wide = Modulus::holding(1, 1.0, Some(Modulus::Bits64));
        assert_eq!(wide, Ok(Modulus::Bits64));
    }

    #[test]
    fn other_numbers_of_bits_are_refused() {
        for bits in [0, 16, 33, 128] {
            assert_eq!(
                Modulus::try_from(bits),
                Err(PrivacyError::Bits { found: bits })
            );
            assert!(serde_json::from_str::<Modulus>(&bits.to_string()).is_err());
        }
        for bits in [32, 64] {
            let read: Modulus = serde_json::from_str(&bits.to_string()).expect("a modulus");
            assert_eq!(u32::from(read), bits);
        }
    }
}
