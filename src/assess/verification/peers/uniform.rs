//! Residues that look uniform: what every peer publishes where masks are uniform mod 2^k.

use super::super::statistics::chi_squared;

/// Counts of the highest and of the lowest eight bits of everything that is published.
///
/// # Statement
/// A peer with at least one honest partner publishes residues that are uniform mod 2^k, given everything but that partner's masks. Over all peers of a
/// connected noise graph of s peers any s − 1 residues of a coordinate are independent; the last is then determined by the sum. So the number of
/// residues in each of 256 equal bins gives a statistic Σ (n − E)²/E that is nearly χ² with 255 degrees of freedom, of
/// a variance at most s/(s − 1) times as large: what depends is one residue in s.
#[derive(Debug)]
pub(super) struct Uniform {
    high: [u64; 256],
    low: [u64; 256],
}

impl Default for Uniform {
    fn default() -> Self {
        Self {
            high: [0; 256],
            low: [0; 256],
        }
    }
}

impl Uniform {
    /// Counts residues mod 2³².
    pub(super) fn add(&mut self, residues: &[f64]) {
        for &residue in residues {
            // Residues are whole numbers below 2³²; what is not is counted where it shows.
            let word = residue as u32;
            self.high[(word >> 24) as usize] += 1;
            self.low[(word & 255) as usize] += 1;
        }
    }

    /// The tests, by name.
    pub(super) fn tests(&self) -> Vec<(&'static str, (f64, f64))> {
        vec![
            (
                "highest bits of residues over uniform (chi-squared)",
                even(&self.high),
            ),
            (
                "lowest bits of residues over uniform (chi-squared)",
                even(&self.low),
            ),
        ]
    }
}

/// χ² of counts that should be even.
fn even(counts: &[u64; 256]) -> (f64, f64) {
    let expected = counts.iter().sum::<u64>() as f64 / 256.0;
    let square = |&count: &u64| (count as f64 - expected).powi(2) / expected;
    chi_squared(counts.iter().map(square).sum(), 255.0)
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::vocabulary::{Label, Seed};

    #[test]
    fn uniform_residues_pass_and_others_do_not() {
        let mut rng = Seed::from_u64(3).generator(Label::Scenario);
        let residues: Vec<f64> = (0..100_000)
            .map(|_| f64::from(rng.random::<u32>()))
            .collect();
        let p = |residues: &[f64]| {
            let mut uniform = Uniform::default();
            uniform.add(residues);
            let tests = uniform.tests();
            (tests[0].1.1, tests[1].1.1)
        };
        // Fixed seed; by chance each is below 1e-4 with probability 1e-4.
        let (high, low) = p(&residues);
        assert!(high > 1e-4 && low > 1e-4, "{high} {low}");
        // One bit short, a step of two, and no mask at all.
        let short: Vec<f64> = residues.iter().map(|x| (x / 2.0).floor()).collect();
        assert!(p(&short).0 < 1e-9);
        let even: Vec<f64> = residues.iter().map(|x| x - x % 2.0).collect();
        assert!(p(&even).1 < 1e-9);
        assert!(p(&[5.0; 1000]).0 < 1e-9);
    }
}
