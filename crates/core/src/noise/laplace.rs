//! Shares of Laplace noise: numbers that single peers draw and that add up to one Laplace number.
//!
//! # Statement
//! Let G_i, G′_i be independent Gamma numbers of shape κ_i and scale λ. Then Σ_i (G_i − G′_i) has the Laplace law of density
//! e^(−|x|/λ)/(2λ) if Σ κ_i = 1.
//!
//! # Proof
//! A Gamma number of shape κ has the characteristic function (1 − iλt)^(−κ), so that a difference of two has
//! (1 − iλt)^(−κ)(1 + iλt)^(−κ) = (1 + λ²t²)^(−κ), and the sum (1 + λ²t²)^(−Σκ_i): that of Laplace noise where Σκ_i = 1. ∎
//! The variance of one share is 2κλ². With Σκ_i above 1 the sum is a Laplace number and something independent of it; with
//! Σκ_i below 1 it is peaked at 0 and hides less than a Laplace number: see
//! [`noise_plan`](crate::privacy::NoisePlan).
//!
//! # How it is drawn
//! G = H·e^(−E/κ) for H of shape κ + 1 and E exponential, all independent (J. H. Ahrens & U. Dieter's identity; H by G. Marsaglia &
//! W. W. Tsang 2000). With the shapes of many peers nearly all numbers are tiny: their median at κ = 10⁻³ is about 2^(−1000). E is
//! drawn with full relative precision at both ends and the power is taken as an exponential, so that no number is worse than
//! 10⁻¹² relative until it is below 2^(−1074), where it becomes 0. What is lost is less than that, absolutely.

use std::f64::consts::FRAC_1_SQRT_2;

use rand::Rng;
use rand::distr::Distribution as _;
use serde::Serialize;

use crate::vocabulary::{PeerIndex, StandardNormal};

/// How own noise is dealt to peers so that it adds up to Laplace noise. Public.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LaplaceShares {
    /// κ in (0, 1]: every share is a difference of two Gamma numbers of this shape; 1 is a Laplace number.
    pub shape: f64,
    /// So many of the peers draw, and nobody else; `None` for all peers.
    pub holders: Option<u32>,
    /// Number of peers s.
    pub peers: u32,
}

impl LaplaceShares {
    /// All peers draw shares of this shape.
    #[must_use]
    pub fn of_all(shape: f64, peers: u32) -> Self {
        Self {
            shape,
            holders: None,
            peers,
        }
    }

    /// Of `peers` peers so many draw a Laplace number each.
    #[must_use]
    pub fn held(holders: u32, peers: u32) -> Self {
        Self {
            shape: 1.0,
            holders: Some(holders),
            peers,
        }
    }

    /// Whether this peer draws. Holder i of k, from 0, is peer ⌊i·s/k⌋: evenly spaced in the public order of peers.
    #[must_use]
    pub fn draws(&self, peer: PeerIndex) -> bool {
        let Some(holders) = self.holders else {
            return peer.0 < self.peers;
        };
        let (u, s, k) = (
            u64::from(peer.0),
            u64::from(self.peers.max(1)),
            u64::from(holders),
        );
        // The least i with i·s/k ≥ u.
        let i = (u * k).div_ceil(s);
        i < k && i * s / k == u
    }

    /// How many peers draw.
    #[must_use]
    pub fn drawing(&self) -> u32 {
        self.holders
            .map_or(self.peers, |holders| holders.min(self.peers))
    }
}

/// Adds `scale` times shares of shape `shape` and standard deviation 1 to `out`, in order.
pub(super) fn add_shares<R: Rng>(rng: &mut R, shape: f64, scale: f64, out: &mut [f64]) {
    // λ of a share of standard deviation `scale`.
    let unit = scale * FRAC_1_SQRT_2 / shape.sqrt();
    if shape == 1.0 {
        for value in out {
            let size = exponential(rng);
            let sign = if rng.next_u32() & 1 == 0 { unit } else { -unit };
            *value += sign * size;
        }
        return;
    }
    let gamma = Gamma::new(shape);
    for value in out {
        let (plus, minus) = (gamma.draw(rng), gamma.draw(rng));
        *value += unit * (plus - minus);
    }
}

/// An exponential number of mean 1, between 2^(−65) and 46, with full relative precision: one of 2⁶⁴ equal parts of (0, 1), at its
/// middle.
fn exponential<R: Rng>(rng: &mut R) -> f64 {
    const UNIT: f64 = 1.0 / (1_u128 << 64) as f64;
    let word = rng.next_u64();
    if word >> 63 == 0 {
        -libm::log1p(-((word as f64 + 0.5) * UNIT))
    } else {
        -libm::log(((!word) as f64 + 0.5) * UNIT)
    }
}

/// Gamma numbers of scale 1 and a shape below 1.
struct Gamma {
    shape: f64,
    /// d = κ + 1 − 1/3 of Marsaglia and Tsang.
    centre: f64,
    /// 1/√(9d).
    width: f64,
}

impl Gamma {
    fn new(shape: f64) -> Self {
        let centre = shape + 2.0 / 3.0;
        Self {
            shape,
            centre,
            width: (9.0 * centre).sqrt().recip(),
        }
    }

    fn draw<R: Rng>(&self, rng: &mut R) -> f64 {
        let raised = loop {
            let normal: f64 = StandardNormal.sample(rng);
            let cube = (1.0 + self.width * normal).powi(3);
            let room = exponential(rng);
            if cube > 0.0
                && -room < 0.5 * normal * normal + self.centre * (1.0 - cube + libm::log(cube))
            {
                break self.centre * cube;
            }
        };
        raised * libm::exp(-exponential(rng) / self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::{Label, Seed};
    use statrs::distribution::{ContinuousCDF, Gamma as Reference};

    fn rng(number: u64) -> impl Rng {
        Seed::from_u64(number).generator(Label::Scenario)
    }

    /// Kolmogorov's distance of the numbers from a law.
    fn distance(mut numbers: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
        numbers.sort_by(f64::total_cmp);
        let count = numbers.len() as f64;
        let gaps = numbers.iter().enumerate().map(|(i, &x)| {
            let at = law(x);
            (at - i as f64 / count).max((i + 1) as f64 / count - at)
        });
        gaps.fold(0.0, f64::max)
    }

    /// Passed by honest numbers but with probability 10⁻⁶ (Massart 1990: 2e^(−2nd²)).
    fn allowed(count: usize) -> f64 {
        ((2e6_f64).ln() / (2.0 * count as f64)).sqrt()
    }

    fn laplace(x: f64) -> f64 {
        let half = 0.5 * (-x.abs()).exp();
        if x < 0.0 { half } else { 1.0 - half }
    }

    /// Sums of shares of honest peers, in units of λ.
    fn sums(peers: usize, shape: f64, count: usize) -> Vec<f64> {
        let mut rng = rng(7);
        let mut sum = vec![0.0; count];
        for _ in 0..peers {
            add_shares(&mut rng, shape, (2.0 * shape).sqrt(), &mut sum);
        }
        sum
    }

    #[test]
    fn the_shares_of_the_honest_add_up_to_laplace_noise() {
        const COUNT: usize = 20_000;
        for (peers, shape) in [(1, 1.0), (3, 1.0 / 3.0), (20, 0.05)] {
            let found = distance(sums(peers, shape, COUNT), laplace);
            assert!(found < allowed(COUNT), "{peers}: {found}");
        }
        // Shares that are dealt to all 20 where 8 collude leave a sum of shape 0.6, which is no Laplace number.
        let short = distance(sums(12, 0.05, COUNT), laplace);
        assert!(short > 3.0 * allowed(COUNT), "{short}");
    }

    #[test]
    fn small_shapes_have_their_law_down_to_the_least_numbers() {
        const COUNT: usize = 20_000;
        for shape in [0.5, 0.1, 1e-3, 1e-5] {
            let (gamma, mut rng) = (Gamma::new(shape), rng(8));
            let drawn: Vec<f64> = (0..COUNT).map(|_| gamma.draw(&mut rng)).collect();
            assert!(drawn.iter().all(|x| x.is_finite() && *x >= 0.0));
            // Near 0 the law is x^κ/Γ(κ + 1), to a relative error of x.
            let start = libm::lgamma(shape + 1.0);
            let reference = Reference::new(shape, 1.0).expect("valid");
            let law = |x: f64| match x {
                0.0 => 0.0,
                x if x < 1e-9 => (shape * x.ln() - start).exp(),
                x => reference.cdf(x),
            };
            // Of what is 0 it is known only that it is below 2^(−1074).
            let least = law(f64::from_bits(1));
            let zeros = drawn.iter().filter(|x| **x == 0.0).count() as f64 / COUNT as f64;
            assert!(
                (zeros - least).abs() < allowed(COUNT),
                "{shape}: {zeros} {least}"
            );
            let positive: Vec<f64> = drawn.into_iter().filter(|x| *x > 0.0).collect();
            if positive.len() > 1_000 {
                let count = positive.len();
                let found = distance(positive, |x| (law(x) - least) / (1.0 - least));
                assert!(found < allowed(count), "{shape}: {found}");
            }
        }
    }

    #[test]
    fn exponentials_are_precise_at_both_ends() {
        struct Fixed(u64);
        impl rand::TryRng for Fixed {
            type Error = std::convert::Infallible;
            fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
                Ok(self.0 as u32)
            }
            fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
                Ok(self.0)
            }
            fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
                Ok(())
            }
        }
        let least = exponential(&mut Fixed(0));
        assert!((least * 2.0_f64.powi(65) - 1.0).abs() < 1e-12);
        let most = exponential(&mut Fixed(u64::MAX));
        assert!((most - 65.0 * std::f64::consts::LN_2).abs() < 1e-12);
        let middle = exponential(&mut Fixed(1 << 63));
        assert!((middle - std::f64::consts::LN_2).abs() < 1e-12);
    }

    #[test]
    fn a_peer_s_noise_is_planned_only_with_its_own_share() {
        use crate::noise::{PeerNoise, Sigmas, Term};
        let key = || Seed::from_u64(5).key(Label::Scenario, 1, 2);
        let noise = |own: Term| PeerNoise::new(own, Vec::new(), Term::new(key(), 0.0));
        let planned = |shares| Sigmas {
            laplace: Some(shares),
            ..Sigmas::of_sums(0.5, 0.0)
        };
        let shares = LaplaceShares::of_all(0.25, 4);
        let mine = noise(Term::laplace(key(), 0.5, 0.25));
        assert!(mine.is_planned(PeerIndex(1), &[], planned(shares)));
        assert!(!mine.is_planned(PeerIndex(1), &[], Sigmas::of_sums(0.5, 0.0)));
        for other in [
            Term::laplace(key(), 0.5, 0.5),
            Term::laplace(key(), 0.4, 0.25),
            Term::new(key(), 0.5),
        ] {
            assert!(!noise(other).is_planned(PeerIndex(1), &[], planned(shares)));
        }
        // Of two holders among four, peers 0 and 2, peer 1 is none.
        let held = planned(LaplaceShares::held(2, 4));
        let whole = noise(Term::laplace(key(), 0.5, 1.0));
        assert!(whole.is_planned(PeerIndex(2), &[], held));
        assert!(!whole.is_planned(PeerIndex(1), &[], held));
        let none = noise(Term::laplace(key(), 0.0, 1.0));
        assert!(none.is_planned(PeerIndex(1), &[], held));
        assert!(!none.is_planned(PeerIndex(2), &[], held));
    }

    #[test]
    fn holders_are_as_many_as_said_and_evenly_spaced() {
        for peers in [1, 2, 7, 64, 1000] {
            for holders in 1..=peers.min(12) {
                let shares = LaplaceShares::held(holders, peers);
                let found: Vec<u32> = (0..peers).filter(|&u| shares.draws(PeerIndex(u))).collect();
                let expected: Vec<u32> = (0..holders).map(|i| i * peers / holders).collect();
                assert_eq!(found, expected);
                assert_eq!(shares.drawing(), holders);
            }
        }
        assert!(LaplaceShares::of_all(0.5, 3).draws(PeerIndex(2)));
    }
}
