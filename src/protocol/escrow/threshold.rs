//! How many holders open a contribution without its owner.

/// The most holders of one contribution: shares are points of a field with 255 of them.
pub const MOST_HOLDERS: usize = 255;

/// How many shares of one peer's contribution open it. It is fixed for the session, whoever is there later.
///
/// # Statement
/// Let a peer have m₀ neighbours in the communication graph, of whom at most t + f are ever curious: t colluders, and up to f that drop out
/// and turn curious afterwards. With **τ = ⌊(m₀ + t + f)/2⌋ + 1** and **m₀ ≥ 3f + t + 1**,
/// 1. the curious alone open nothing: t + f < τ;
/// 2. two attempts are not both opened, if everybody honest gives a share of at most one of them;
/// 3. whichever f holders are gone, the others can open: m₀ − f ≥ τ.
///
/// # Proof
/// m₀ > t + f gives (m₀ + t + f)/2 > t + f, hence 1. Two openings take 2τ shares; the honest give at most m₀ − t − f, one each, the
/// curious at most 2(t + f): together m₀ + t + f < 2τ, hence 2. Since m₀ − 2f ≥ t + f + 1, m₀ − f ≥ (m₀ + t + f + 1)/2, and a whole number that is
/// at least (k + 1)/2 is at least ⌊k/2⌋ + 1: 3. ∎
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Threshold {
    shares: u8,
}

/// Why contributions of a peer cannot be sealed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdError {
    /// Too few neighbours.
    #[error(
        "a peer with {neighbours} neighbours cannot seal what it contributes: {colluders} colluders and {dropouts} dropouts need {needed}. \
         Lower dropouts.tolerate, give it more neighbours in the communication graph, or set publish = \"open\""
    )]
    TooFew {
        /// m₀.
        neighbours: usize,
        /// t.
        colluders: usize,
        /// f.
        dropouts: usize,
        /// 3f + t + 1.
        needed: usize,
    },
    /// Too many neighbours.
    #[error(
        "a peer has {neighbours} neighbours and can share a key among at most {MOST_HOLDERS}: use a communication graph of lower degree, or \
         set publish = \"open\""
    )]
    TooMany {
        /// m₀.
        neighbours: usize,
    },
}

impl Threshold {
    /// The threshold of a peer with `neighbours` neighbours before anything went wrong (m₀), for `colluders` curious peers (t) and `dropouts` that may
    /// be gone and turn curious (f).
    ///
    /// # Errors
    /// [`ThresholdError`] for fewer than 3f + t + 1 neighbours, or more than 255.
    pub fn new(
        neighbours: usize,
        colluders: usize,
        dropouts: usize,
    ) -> Result<Self, ThresholdError> {
        if neighbours > MOST_HOLDERS {
            return Err(ThresholdError::TooMany { neighbours });
        }
        let needed = dropouts
            .saturating_mul(3)
            .saturating_add(colluders)
            .saturating_add(1);
        if neighbours < needed {
            return Err(ThresholdError::TooFew {
                neighbours,
                colluders,
                dropouts,
                needed,
            });
        }
        // At most 255 by now: t + f < m₀.
        let shares = (neighbours + colluders + dropouts) / 2 + 1;
        Ok(Self {
            shares: shares as u8,
        })
    }

    /// τ: how many shares open, at least 1.
    #[must_use]
    pub fn shares(self) -> usize {
        usize::from(self.shares)
    }

    /// A threshold that no configuration gives, to show what happens then.
    #[cfg(test)]
    pub(super) fn forged(shares: u8) -> Self {
        Self { shares }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_keep_two_attempts_apart_and_let_the_others_open() {
        let mut splits = 0;
        for t in 0..6_usize {
            for f in 0..6 {
                for m in 3 * f + t + 1..3 * f + t + 6 {
                    let shares = Threshold::new(m, t, f).expect("enough").shares();
                    assert!(t + f < shares && m - f >= shares);
                    for first in 0..=m - t - f {
                        let second = m - t - f - first;
                        assert!(!(first + t + f >= shares && second + t + f >= shares));
                        splits += 1;
                    }
                }
                let needed = 3 * f + t + 1;
                let refused = Threshold::new(needed - 1, t, f);
                assert!(
                    matches!(refused, Err(ThresholdError::TooFew { needed: found, .. }) if found == needed)
                );
            }
        }
        assert!(splits > 1000);
        assert_eq!(Threshold::new(255, 254, 0).map(Threshold::shares), Ok(255));
        let refused = Threshold::new(256, 0, 0);
        assert_eq!(refused, Err(ThresholdError::TooMany { neighbours: 256 }));
        assert!(Threshold::new(10, usize::MAX, usize::MAX).is_err());
    }
}
