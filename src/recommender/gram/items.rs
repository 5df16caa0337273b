//! How many items a Gram matrix should be released of: signal against noise, by a public rule.

/// Fewest items that are chosen where there are so many: fewer make no lists of twenty.
const FEWEST: usize = 50;
/// κ: an item is worth its noise while d/D ≥ κσ√n.
const WORTH: f64 = 0.25;

/// The floor for so many interactions per user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorRule {
    /// The floor is this part of the mean degree of a user,
    pub part: f64,
    /// but no less than this.
    pub least: u32,
}

impl FloorRule {
    /// Where one record is one interaction: its noise falls with √D, and D = 0.8 of the mean degree loses little of the rows.
    pub const INTERACTION: Self = Self {
        part: 0.8,
        least: 8,
    };
    /// Where one record is a whole user: the noise is the same for every D, so that a low floor, which lets short rows count, is better.
    pub const USER: Self = Self {
        part: 0.4,
        least: 4,
    };

    /// D for the most popular items, whose degrees these are.
    #[must_use]
    pub fn floor(self, degrees: &[u32], users: usize) -> u32 {
        let total: f64 = degrees.iter().map(|d| f64::from(*d)).sum();
        let mean = (self.part * total / users.max(1) as f64).round();
        // Saturates: a mean beyond u32 is no mean of degrees.
        (mean as u32).max(self.least)
    }
}

/// How many of the most popular items, and the floor D for them.
///
/// # Rule
/// The largest n ≤ `most` for which the n-th item still has d_n/D ≥ κ·σ(D)√n, with κ = ¼; at least 50 items. d_n/D is what the item
/// adds to the diagonal of the Gram matrix if none of its users has more than D interactions, σ(D)√n half the edge of the noise of
/// n items: an item far below it is known by its popularity only, and widens the edge for all others.
///
/// `degrees` descend and are public, as is σ, the noise on an entry for a floor.
#[must_use]
pub fn items_worth_their_noise(
    degrees: &[u32],
    most: usize,
    floor: impl Fn(&[u32]) -> u32,
    sigma: impl Fn(u32) -> f64,
) -> usize {
    let top = most.min(degrees.len());
    let least = FEWEST.min(top);
    let worth = |n: &usize| {
        let floor = floor(&degrees[..*n]);
        f64::from(degrees[n - 1]) / f64::from(floor) >= WORTH * sigma(floor) * (*n as f64).sqrt()
    };
    (least.max(1)..=top).rev().find(worth).unwrap_or(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Degrees 10,000/(rank + 10) of 2,000 items, 5,000 users.
    fn degrees() -> Vec<u32> {
        (0..2000).map(|rank| 10_000 / (rank + 10)).collect()
    }

    fn chosen(z: f64, most: usize) -> usize {
        let floor = |d: &[u32]| FloorRule::INTERACTION.floor(d, 5000);
        let sigma = |floor: u32| z / f64::from(floor).sqrt();
        items_worth_their_noise(&degrees(), most, floor, sigma)
    }

    #[test]
    fn less_noise_pays_for_more_items_and_the_last_is_worth_it() {
        assert_eq!(chosen(0.0, 2000), 2000);
        assert_eq!(chosen(0.0, 300), 300);
        assert_eq!(chosen(1e6, 2000), 50);
        let counts = [0.3, 1.0, 3.0].map(|z| chosen(z, 2000));
        assert!(counts[0] > counts[1] && counts[1] > counts[2], "{counts:?}");
        let n = counts[1];
        let floor = f64::from(FloorRule::INTERACTION.floor(&degrees()[..n], 5000));
        let worth = |n: usize| f64::from(degrees()[n - 1]) / floor / (n as f64 / floor).sqrt();
        assert!(worth(n) >= 0.25, "{}", worth(n));
        assert!(worth(n + 20) < 0.25, "{}", worth(n + 20));
    }

    #[test]
    fn the_floor_is_a_part_of_the_mean_degree_and_at_least_what_the_rule_says() {
        assert_eq!(FloorRule::INTERACTION.floor(&[500, 500], 20), 40);
        assert_eq!(FloorRule::USER.floor(&[500, 500], 20), 20);
        assert_eq!(FloorRule::INTERACTION.floor(&[5], 20), 8);
        assert_eq!(FloorRule::USER.floor(&[], 0), 4);
    }
}
