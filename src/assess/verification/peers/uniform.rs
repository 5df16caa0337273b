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
    /// k, at least 8.
    bits: u32,
    high: [u64; 256],
    low: [u64; 256],
}

impl Uniform {
    /// Nothing counted yet, of residues mod 2^`bits`.
    pub(super) fn new(bits: u32) -> Self {
        Self {
            bits,
            high: [0; 256],
            low: [0; 256],
        }
    }

    /// Counts residues. One that is none shows as such where messages are held against the plan.
    pub(super) fn add(&mut self, residues: &[u64]) {
        for &residue in residues {
            self.high[(residue >> (self.bits - 8)) as usize & 255] += 1;
            self.low[residue as usize & 255] += 1;
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
        for bits in [32, 64] {
            let residues: Vec<u64> = (0..100_000)
                .map(|_| rng.random::<u64>() >> (64 - bits))
                .collect();
            let p = |residues: &[u64]| {
                let mut uniform = Uniform::new(bits);
                uniform.add(residues);
                let tests = uniform.tests();
                (tests[0].1.1, tests[1].1.1)
            };
            // Fixed seed; by chance each is below 1e-4 with probability 1e-4.
            let (high, low) = p(&residues);
            assert!(high > 1e-4 && low > 1e-4, "{high} {low}");
            // One bit short, a step of two, and no mask at all.
            let short: Vec<u64> = residues.iter().map(|x| x / 2).collect();
            assert!(p(&short).0 < 1e-9);
            let even: Vec<u64> = residues.iter().map(|x| x & !1).collect();
            assert!(p(&even).1 < 1e-9);
            assert!(p(&[5; 1000]).0 < 1e-9);
        }
    }
}
