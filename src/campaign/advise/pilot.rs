//! What a pilot measured, as advice takes it: noisy numbers of how active users are, and of what those like who are active least.

use serde::{Deserialize, Serialize};

/// For every public threshold D_j the number of users with at least D_j interactions, under Gaussian noise of a known standard
/// deviation.
///
/// Everything here is an output of a release, so that whatever is made of it costs nothing more. Counts are as they were released:
/// they may be negative, and they may rise with the threshold; [`tail`](Self::tail) is what counts could have been.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PilotCounts {
    thresholds: Vec<u32>,
    counts: Vec<f64>,
    sigma: f64,
    shares: Vec<f64>,
    sigma_of_shares: f64,
}

/// Numbers that no pilot releases.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PilotCountsError {
    /// As many counts as thresholds, and at least one.
    #[error(
        "a pilot has one count for every threshold and at least one, found {counts} for {thresholds}"
    )]
    Length {
        /// Thresholds given.
        thresholds: usize,
        /// Counts given.
        counts: usize,
    },
    /// Thresholds that do not ascend from 1.
    #[error("thresholds of a pilot ascend strictly from at least 1, found {found} after {before}")]
    Order {
        /// The one before.
        before: u32,
        /// The one that is not above it.
        found: u32,
    },
    /// A count or standard deviation that is no number.
    #[error(
        "counts of a pilot are finite and their standard deviation is finite and at least 0, found {found}"
    )]
    Number {
        /// The value given.
        found: f64,
    },
}

impl PilotCounts {
    /// Counts as released at these thresholds, each with noise of standard deviation `sigma`, 0 without noise.
    ///
    /// # Errors
    /// [`PilotCountsError`] for lists of different length or none, thresholds that do not ascend strictly from 1, and numbers
    /// that are not finite.
    pub fn new(
        thresholds: Vec<u32>,
        counts: Vec<f64>,
        sigma: f64,
    ) -> Result<Self, PilotCountsError> {
        if thresholds.is_empty() || thresholds.len() != counts.len() {
            let (thresholds, counts) = (thresholds.len(), counts.len());
            return Err(PilotCountsError::Length { thresholds, counts });
        }
        let mut before = 0;
        for &found in &thresholds {
            if found <= before {
                return Err(PilotCountsError::Order { before, found });
            }
            before = found;
        }
        let broken = counts.iter().find(|count| !count.is_finite());
        if let Some(&found) = broken {
            return Err(PilotCountsError::Number { found });
        }
        if !(sigma.is_finite() && sigma >= 0.0) {
            return Err(PilotCountsError::Number { found: sigma });
        }
        Ok(Self {
            thresholds,
            counts,
            sigma,
            shares: Vec::new(),
            sigma_of_shares: 0.0,
        })
    }

    /// The same with what every item has of its users' rows, Σ_u 1/√d_u over the users of the item, in the order of the items, each with noise
    /// of standard deviation `sigma`.
    ///
    /// # Errors
    /// [`PilotCountsError::Number`] for numbers that are not finite.
    pub fn with_shares(mut self, shares: Vec<f64>, sigma: f64) -> Result<Self, PilotCountsError> {
        if let Some(&found) = shares.iter().find(|share| !share.is_finite()) {
            return Err(PilotCountsError::Number { found });
        }
        if !(sigma.is_finite() && sigma >= 0.0) {
            return Err(PilotCountsError::Number { found: sigma });
        }
        self.shares = shares;
        self.sigma_of_shares = sigma;
        Ok(self)
    }

    /// The counts alone.
    pub(super) fn without_shares(&self) -> Self {
        Self {
            shares: Vec::new(),
            sigma_of_shares: 0.0,
            ..self.clone()
        }
    }

    /// The shares as released, one per item; none where there was no such block.
    #[must_use]
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// Standard deviation of the noise on every share.
    #[must_use]
    pub fn sigma_of_shares(&self) -> f64 {
        self.sigma_of_shares
    }

    /// D_1 < D_2 < …, from at least 1.
    #[must_use]
    pub fn thresholds(&self) -> &[u32] {
        &self.thresholds
    }

    /// The counts as released, one per threshold.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Standard deviation of the noise on every count; 0 without noise.
    #[must_use]
    pub fn sigma(&self) -> f64 {
        self.sigma
    }

    /// The counts nearest to those released, in the sum of squares, that could be true of so many users: none negative, none above the
    /// number of users, none above the one before. For noise of one law on all counts this is the maximum likelihood.
    ///
    /// # Proof
    /// The nearest sequence that does not rise is found by pooling adjacent violators (Ayer, Brunk, Ewing, Reid & Silverman 1955): its
    /// blocks are means of runs of the counts. Bounds that are the same for all entries are then kept by clamping it (Barlow,
    /// Bartholomew, Bremner & Brunk 1972, section 2.2): clamping keeps the order, and the optimality conditions of each block, which
    /// are about signs of partial sums of its residuals, hold with the multiplier of the bound in place of 0. ∎
    #[must_use]
    pub fn tail(&self, users: usize) -> Vec<f64> {
        // Sums and lengths of runs; each mean is above the next.
        let mut runs: Vec<(f64, usize)> = Vec::new();
        for &count in &self.counts {
            let mut run = (count, 1);
            while let Some(&(sum, length)) = runs.last() {
                // sum/length ≥ run.0/run.1 is in order.
                if sum * run.1 as f64 >= run.0 * length as f64 {
                    break;
                }
                runs.pop();
                run = (run.0 + sum, run.1 + length);
            }
            runs.push(run);
        }
        let most = users as f64;
        let mean = |(sum, length): (f64, usize)| (sum / length as f64).clamp(0.0, most);
        let each = runs.into_iter();
        each.flat_map(|run| std::iter::repeat_n(mean(run), run.1))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(counts: &[f64]) -> PilotCounts {
        let thresholds = (1..=counts.len() as u32).collect();
        PilotCounts::new(thresholds, counts.to_vec(), 3.0).expect("valid")
    }

    #[test]
    fn counts_that_could_be_true_stay_as_they_are() {
        assert_eq!(
            of(&[9.0, 7.0, 7.0, 1.0, 0.0]).tail(9),
            [9.0, 7.0, 7.0, 1.0, 0.0]
        );
        // Violators share their mean, and nothing leaves 0 to the number of users.
        assert_eq!(of(&[12.0, 3.0, 5.0, -1.0]).tail(10), [10.0, 4.0, 4.0, 0.0]);
        assert_eq!(of(&[-3.0, -1.0]).tail(10), [0.0, 0.0]);
    }

    /// Against all sequences of whole numbers that do not rise: none is nearer than rounding of the projection allows.
    #[test]
    fn no_sequence_is_nearer() {
        let released = [3.6, 4.9, -2.0, 2.5, 5.5];
        let users = 5;
        let distance = |tail: &[f64]| -> f64 {
            released
                .iter()
                .zip(tail)
                .map(|(a, b)| (a - b).powi(2))
                .sum()
        };
        let found = distance(&of(&released).tail(users));
        // A grid of halves holds sequences near the best one.
        let grid: Vec<f64> = (0..=2 * users).map(|k| k as f64 / 2.0).collect();
        let mut least = f64::INFINITY;
        let mut walk = vec![Vec::new()];
        while let Some(begun) = walk.pop() {
            if begun.len() == released.len() {
                least = least.min(distance(&begun));
                continue;
            }
            let top = begun.last().copied().unwrap_or(f64::INFINITY);
            for next in grid.iter().filter(|value| **value <= top) {
                let mut longer = begun.clone();
                longer.push(*next);
                walk.push(longer);
            }
        }
        assert!(found <= least, "{found} against {least}");
        assert!(
            least < found + 0.6,
            "the grid is fine enough to mean something"
        );
    }

    #[test]
    fn numbers_that_no_pilot_releases_are_refused() {
        let new = |thresholds: &[u32], counts: &[f64], sigma| {
            PilotCounts::new(thresholds.to_vec(), counts.to_vec(), sigma)
        };
        for refused in [
            new(&[], &[], 1.0),
            new(&[1, 2], &[3.0], 1.0),
            new(&[0, 2], &[3.0, 2.0], 1.0),
            new(&[2, 2], &[3.0, 2.0], 1.0),
            new(&[1, 2], &[3.0, f64::NAN], 1.0),
            new(&[1, 2], &[3.0, 2.0], f64::INFINITY),
            new(&[1, 2], &[3.0, 2.0], -1.0),
        ] {
            assert!(refused.is_err(), "{refused:?}");
        }
        let counts = new(&[1, 2], &[3.0, 2.0], 0.0).expect("valid");
        assert!(counts.clone().with_shares(vec![1.0, -2.0], 0.5).is_ok());
        for (shares, sigma) in [
            (vec![f64::NAN], 1.0),
            (vec![1.0], -1.0),
            (vec![1.0], f64::NAN),
        ] {
            assert!(counts.clone().with_shares(shares, sigma).is_err());
        }
    }
}
