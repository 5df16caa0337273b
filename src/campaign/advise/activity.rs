//! How many interactions users have, as a pilot's noisy counts tell it.

use super::pilot::PilotCounts;
use super::public::PublicQuantities;

/// Times the mean is corrected: more than enough, since only rows that are nearly full are cut off.
const CORRECTIONS: usize = 20;
/// The most of all items that a user is thought to have.
pub(super) const FULL: f64 = 0.98;

/// Numbers of interactions of so many users, none for some, in descending order, whose mean is the public one: the quantiles of a law
/// fitted to a pilot's counts.
///
/// Counts are first made possible ([`PilotCounts::tail`]). Between two thresholds the share of users falls with the logarithm
/// of the number of interactions. From the first threshold that at most twice the noise of a count reach, none is thought to reach
/// twice that: counts beyond are noise, and one user too many with all items weighs as much as hundreds with one. At last all numbers are
/// multiplied by what makes their mean that of the public item degrees.
pub(super) fn degrees(pilot: &PilotCounts, public: PublicQuantities, drawn: usize) -> Vec<f64> {
    let (users, items) = (public.users as f64, public.items as f64);
    let mean = public.interactions as f64 / users.max(1.0);
    // Numbers of interactions, and how many users have at least so many: none at the last.
    let mut law: Vec<(f64, f64)> = Vec::new();
    let mut end = items + 1.0;
    for (&least, count) in pilot.thresholds().iter().zip(pilot.tail(public.users)) {
        let least = f64::from(least);
        if least > items {
            break;
        }
        law.push((least, count));
        if count <= 2.0 * pilot.sigma() {
            end = end.min(2.0 * least);
            break;
        }
    }
    law.push((end, 0.0));
    let mut degrees: Vec<f64> = (0..drawn)
        .map(|k| quantile(&law, (k as f64 + 0.5) / drawn as f64 * users))
        .collect();
    if mean == 0.0 || degrees.iter().all(|&degree| degree == 0.0) {
        return vec![mean; drawn];
    }
    for _ in 0..CORRECTIONS {
        let now: f64 = degrees.iter().sum::<f64>() / drawn as f64;
        for degree in &mut degrees {
            *degree = (*degree * mean / now).min(FULL * items);
        }
    }
    degrees
}

/// The number of interactions that so many users exceed, rounded down to one that a user can have.
fn quantile(law: &[(f64, f64)], users: f64) -> f64 {
    let segment = law
        .windows(2)
        .find(|pair| pair[1].1 < users && users <= pair[0].1);
    let Some(&[(low, more), (high, fewer)]) = segment else {
        // More than reach the least threshold.
        return 0.0;
    };
    let share = (more - users) / (more - fewer);
    (low * libm::pow(high / low, share)).floor()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUBLIC: PublicQuantities = PublicQuantities {
        users: 1000,
        items: 50,
        interactions: 11_000,
    };

    fn pilot(thresholds: &[u32], counts: &[f64], sigma: f64) -> PilotCounts {
        PilotCounts::new(thresholds.to_vec(), counts.to_vec(), sigma).expect("valid")
    }

    fn reaching(degrees: &[f64], least: f64) -> usize {
        degrees.iter().filter(|&&degree| degree >= least).count()
    }

    /// 900 users have 1 or more, 600 5 or more, 200 20 or more; the mean of the law through these is about 11, so that the
    /// correction moves few over a threshold.
    #[test]
    fn the_law_goes_through_the_counts_and_has_the_public_mean() {
        let counts = pilot(&[1, 5, 20, 60], &[900.0, 600.0, 200.0, 7.0], 0.0);
        let degrees = degrees(&counts, PUBLIC, 1000);
        let mean = degrees.iter().sum::<f64>() / 1000.0;
        assert!((mean - 11.0).abs() < 1e-9, "{mean}");
        assert!(degrees.is_sorted_by(|a, b| a >= b));
        assert!(degrees[0] <= FULL * 50.0);
        assert_eq!(reaching(&degrees, 1e-9), 900);
        for (least, wanted) in [(5.0, 600), (20.0, 200)] {
            let found = reaching(&degrees, least);
            assert!(found.abs_diff(wanted) <= 60, "{least}: {found}");
        }
        // Half as many users drawn are the same law.
        assert_eq!(reaching(&super::degrees(&counts, PUBLIC, 500), 1e-9), 450);
        // Other counts are another law.
        let flat = pilot(&[1, 5, 20], &[900.0, 880.0, 10.0], 0.0);
        assert!(reaching(&super::degrees(&flat, PUBLIC, 1000), 5.0) > 700);
    }

    /// A count that is noise does not give anybody all items.
    #[test]
    fn counts_below_their_noise_end_the_law() {
        let counts = |sigma| {
            let all = pilot(
                &[1, 5, 10, 20, 40],
                &[900.0, 300.0, 60.0, 55.0, 50.0],
                sigma,
            );
            let public = PublicQuantities {
                interactions: 4000,
                ..PUBLIC
            };
            degrees(&all, public, 1000)
        };
        let (quiet, noisy) = (counts(0.0), counts(40.0));
        assert!(quiet[0] > 30.0, "{}", quiet[0]);
        // None has more than 20 before the mean is corrected.
        assert!(noisy[0] < 25.0 && noisy[0] / noisy[899] < 20.0, "{noisy:?}");
    }

    #[test]
    fn counts_that_say_nothing_give_everybody_the_mean() {
        let nothing = pilot(&[1, 2], &[-30.0, -50.0], 20.0);
        assert_eq!(degrees(&nothing, PUBLIC, 3), [11.0; 3]);
        let empty = PublicQuantities {
            interactions: 0,
            ..PUBLIC
        };
        let counts = pilot(&[1, 2], &[500.0, 50.0], 1.0);
        assert_eq!(degrees(&counts, empty, 2), [0.0; 2]);
    }
}
