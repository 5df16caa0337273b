//! How many holders open a contribution without its owner.

use std::sync::Arc;

use super::links::Links;
use crate::vocabulary::PeerIndex;

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
    pub(in crate::protocol) fn forged(shares: u8) -> Self {
        Self { shares }
    }
}

/// The thresholds of all peers of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thresholds(Arc<[Threshold]>);

/// Why the peers of a session cannot seal what they contribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThresholdsError {
    /// One of them has too few neighbours, or too many.
    #[error("{peer}: {source}")]
    Peer {
        /// Which.
        peer: PeerIndex,
        /// Why.
        source: ThresholdError,
    },
    /// More dropouts than leave a majority.
    #[error(
        "a session of {peers} peers cannot tolerate {dropouts} dropouts: more than half must be left. Lower dropouts.tolerate to {most}"
    )]
    Majority {
        /// How many peers.
        peers: usize,
        /// f.
        dropouts: usize,
        /// The largest f.
        most: usize,
    },
}

impl Thresholds {
    /// Those of the peers of this communication graph, for `colluders` curious peers (t) and `dropouts` that may be gone (f).
    ///
    /// # Errors
    /// [`ThresholdsError`] for the first peer whose degree does not allow it, or where f ≥ s/2.
    pub fn new(links: &Links, colluders: usize, dropouts: usize) -> Result<Self, ThresholdsError> {
        let peers = links.peers();
        let most = peers.saturating_sub(1) / 2;
        if dropouts > most {
            return Err(ThresholdsError::Majority {
                peers,
                dropouts,
                most,
            });
        }
        let all = (0..peers).map(|u| {
            let peer = PeerIndex::from_index(u);
            let neighbours = links.neighbours(peer).len();
            let threshold = Threshold::new(neighbours, colluders, dropouts);
            threshold.map_err(|source| ThresholdsError::Peer { peer, source })
        });
        Ok(Self(all.collect::<Result<_, _>>()?))
    }

    /// That of one peer.
    #[must_use]
    pub fn of(&self, peer: PeerIndex) -> Option<Threshold> {
        self.0.get(peer.index()).copied()
    }

    /// How many peers.
    #[must_use]
    pub fn peers(&self) -> usize {
        self.0.len()
    }

    /// τ of every peer.
    pub(super) fn shares(&self) -> impl Iterator<Item = u32> + '_ {
        self.0.iter().map(|threshold| u32::from(threshold.shares))
    }

    /// Thresholds that no configuration gives.
    #[cfg(test)]
    pub(crate) fn forged(shares: &[u8]) -> Self {
        Self(shares.iter().map(|&shares| Threshold { shares }).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small networks with one curious peer: which of them can seal, and what the refusal says to change.
    #[test]
    fn small_networks_seal_where_degrees_allow_it() {
        let complete = |s: u32| {
            let pairs = (0..s).flat_map(|u| (u + 1..s).map(move |v| (PeerIndex(u), PeerIndex(v))));
            Links::new(s as usize, pairs.collect()).expect("a graph")
        };
        let line = |s: u32| {
            let pairs = (1..s).map(|v| (PeerIndex(v - 1), PeerIndex(v)));
            Links::new(s as usize, pairs.collect()).expect("a graph")
        };
        // The largest number of dropouts of a complete graph of s: s − 1 ≥ 3f + t + 1.
        for (s, most) in [(3, 0), (4, 0), (5, 0), (6, 1), (8, 1), (9, 2), (12, 3)] {
            let links = complete(s);
            let can = |f| Thresholds::new(&links, 1, f).is_ok();
            assert!(can(most) && !can(most + 1), "{s} peers");
        }
        let refused = Thresholds::new(&line(7), 1, 0).expect_err("its ends have one neighbour");
        let text = refused.to_string();
        assert!(
            text.contains("peer 0") && text.contains("publish = \"open\""),
            "{text}"
        );
        let refused = Thresholds::new(&complete(9), 1, 5);
        let (peers, dropouts, most) = (9, 5, 4);
        assert_eq!(
            refused,
            Err(ThresholdsError::Majority {
                peers,
                dropouts,
                most
            })
        );
        // Of an even number fewer than half.
        let refused = Thresholds::new(&complete(8), 1, 4);
        assert!(
            matches!(refused, Err(ThresholdsError::Majority { most: 3, .. })),
            "{refused:?}"
        );
    }

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
