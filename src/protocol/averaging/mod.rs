//! Gossip averaging as a sequence of coefficients.
//!
//! Every scheme here is a two-term recurrence over the mixing matrix W,
//! x^{k+1} = a_k · W x^k + b_k · x^k + c_k · x^{k−1}, so a scheme is a list of (a, b, c) and one kernel
//! serves every peer and every engine. a_k + b_k + c_k = 1 keeps the mean in every round.

mod chebyshev;
mod linear;
mod mix;

use serde::{Deserialize, Serialize};

pub use chebyshev::Chebyshev;
pub use linear::Linear;
pub use mix::{Run, mix, mix_tile, runs};

/// Bounds on the eigenvalues of the mixing matrix other than 1: `lowest ≤ λ_min(W)`, `second ≥ λ₂(W)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixingBounds {
    /// At most the smallest eigenvalue.
    pub lowest: f64,
    /// At least the largest eigenvalue but one.
    pub second: f64,
}

/// The weights of one round: x^{k+1} = mixed · W x^k + current · x^k + previous · x^{k−1}.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coefficients {
    /// Weight of W x^k.
    pub mixed: f64,
    /// Weight of x^k.
    pub current: f64,
    /// Weight of x^{k−1}.
    pub previous: f64,
}

/// Why no schedule of rounds exists.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AveragingError {
    /// The mixing matrix does not contract, as far as the bounds tell.
    #[error(
        "averaging needs eigenvalue bounds strictly inside (-1, 1), found [{lowest}, {second}]: is the topology connected?"
    )]
    NotContracting {
        /// The lower bound.
        lowest: f64,
        /// The upper bound.
        second: f64,
    },
    /// A tolerance that is not a fraction.
    #[error("averaging.tolerance must lie strictly between 0 and 1, found {tolerance}")]
    Tolerance {
        /// The value given.
        tolerance: f64,
    },
    /// More rounds than anybody wants to run.
    #[error(
        "reaching tolerance {tolerance:e} on this topology takes {needed:.0} rounds, more than {limit}; \
         use a better connected topology, averaging.scheme = \"chebyshev\", a larger tolerance or fewer averaging.rounds"
    )]
    TooManyRounds {
        /// The tolerance asked for.
        tolerance: f64,
        /// Rounds that would be needed.
        needed: f64,
        /// The most this build runs.
        limit: u32,
    },
}

/// The most rounds one phase may take.
pub const MAX_ROUNDS: u32 = 1_000_000;

/// An averaging scheme that is a two-term recurrence.
pub trait AveragingScheme {
    /// Rounds after which ‖x^k − x̄‖ ≤ tolerance · ‖x⁰ − x̄‖ for every x⁰, as a real number.
    fn rounds_needed(&self, bounds: MixingBounds, tolerance: f64) -> f64;

    /// The guaranteed factor by which ‖x^k − x̄‖ has shrunk after `rounds` rounds, for every x⁰.
    fn contraction(&self, bounds: MixingBounds, rounds: u32) -> f64;

    /// The coefficients of rounds 0, 1, …, `rounds − 1`.
    fn schedule(&self, bounds: MixingBounds, rounds: u32) -> Vec<Coefficients>;
}

/// The schemes an experiment file can name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AveragingKind {
    /// x ← W x.
    Linear,
    /// Chebyshev-accelerated: about the square root of the linear scheme's rounds.
    Chebyshev,
}

impl AveragingKind {
    /// All schemes, for conformance tests and help texts.
    #[must_use]
    pub fn all() -> [Self; 2] {
        [Self::Linear, Self::Chebyshev]
    }

    /// The scheme.
    #[must_use]
    pub fn scheme(self) -> &'static dyn AveragingScheme {
        match self {
            Self::Linear => &Linear,
            Self::Chebyshev => &Chebyshev,
        }
    }

    /// The number of rounds that guarantees `tolerance`, at least 1.
    ///
    /// # Errors
    /// [`AveragingError`] if the bounds do not contract, the tolerance is no fraction, or more than
    /// [`MAX_ROUNDS`] would be needed.
    pub fn rounds(self, bounds: MixingBounds, tolerance: f64) -> Result<u32, AveragingError> {
        check_bounds(bounds)?;
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(AveragingError::Tolerance { tolerance });
        }
        let needed = self
            .scheme()
            .rounds_needed(bounds, tolerance)
            .ceil()
            .max(1.0);
        if needed <= f64::from(MAX_ROUNDS) {
            Ok(needed as u32)
        } else {
            Err(AveragingError::TooManyRounds {
                tolerance,
                needed,
                limit: MAX_ROUNDS,
            })
        }
    }

    /// The guaranteed contraction of the spread after `rounds` rounds.
    ///
    /// # Errors
    /// [`AveragingError::NotContracting`] if the bounds do not lie inside (−1, 1).
    pub fn contraction(self, bounds: MixingBounds, rounds: u32) -> Result<f64, AveragingError> {
        check_bounds(bounds)?;
        Ok(self.scheme().contraction(bounds, rounds))
    }

    /// The coefficients of `rounds` rounds.
    ///
    /// # Errors
    /// [`AveragingError::NotContracting`] if the bounds do not lie inside (−1, 1).
    pub fn schedule(
        self,
        bounds: MixingBounds,
        rounds: u32,
    ) -> Result<Vec<Coefficients>, AveragingError> {
        check_bounds(bounds)?;
        Ok(self.scheme().schedule(bounds, rounds))
    }
}

fn check_bounds(bounds: MixingBounds) -> Result<(), AveragingError> {
    let MixingBounds { lowest, second } = bounds;
    if lowest > -1.0 && second < 1.0 && lowest <= second {
        Ok(())
    } else {
        Err(AveragingError::NotContracting { lowest, second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Metropolis weights of a ring of `n ≥ 4` peers: 1/3 each; eigenvalues (1 + 2cos(2πk/n))/3.
    fn ring_bounds(n: usize) -> MixingBounds {
        let eigenvalue =
            |k: usize| (1.0 + 2.0 * (std::f64::consts::TAU * k as f64 / n as f64).cos()) / 3.0;
        MixingBounds {
            lowest: (0..n).map(eigenvalue).fold(1.0, f64::min),
            second: eigenvalue(1),
        }
    }

    fn run_ring(kind: AveragingKind, n: usize, rounds: u32, start: &[f64]) -> Vec<f64> {
        let schedule = kind
            .schedule(ring_bounds(n), rounds)
            .expect("rings contract");
        let (mut before, mut now) = (start.to_vec(), start.to_vec());
        for coefficients in schedule {
            let next: Vec<f64> = (0..n)
                .map(|u| {
                    let around = [(u + n - 1) % n, (u + 1) % n];
                    let neighbours = around.map(|v| (1.0 / 3.0, std::slice::from_ref(&now[v])));
                    let mut out = [0.0];
                    mix(
                        coefficients,
                        1.0 / 3.0,
                        &now[u..=u],
                        &neighbours,
                        &before[u..=u],
                        &mut out,
                    );
                    out[0]
                })
                .collect();
            before = std::mem::replace(&mut now, next);
        }
        now
    }

    #[test]
    fn every_scheme_keeps_the_mean_and_contracts_as_promised() {
        let n = 24;
        let start: Vec<f64> = (0..n)
            .map(|u| ((u * u * 7 + 3) % 11) as f64 - 5.0)
            .collect();
        let mean = start.iter().sum::<f64>() / n as f64;
        let spread = |x: &[f64]| x.iter().map(|v| (v - mean).powi(2)).sum::<f64>().sqrt();
        for kind in AveragingKind::all() {
            for tolerance in [0.5, 1e-3, 1e-9] {
                let rounds = kind
                    .rounds(ring_bounds(n), tolerance)
                    .expect("rings contract");
                let end = run_ring(kind, n, rounds, &start);
                assert!((end.iter().sum::<f64>() / n as f64 - mean).abs() < 1e-12);
                assert!(
                    spread(&end) <= tolerance * spread(&start) * (1.0 + 1e-6),
                    "{kind:?} {tolerance}"
                );
                let contraction = kind
                    .contraction(ring_bounds(n), rounds)
                    .expect("rings contract");
                let one_less = kind
                    .contraction(ring_bounds(n), rounds - 1)
                    .expect("rings contract");
                assert!(
                    contraction <= tolerance && tolerance < one_less,
                    "the rounds are the fewest that do"
                );
                for coefficients in kind.schedule(ring_bounds(n), rounds).expect("as before") {
                    let sum = coefficients.mixed + coefficients.current + coefficients.previous;
                    assert!(
                        (sum - 1.0).abs() < 1e-12,
                        "{kind:?}: coefficients sum to {sum}"
                    );
                }
            }
        }
    }

    #[test]
    fn chebyshev_takes_the_rounds_the_reference_measured() {
        // ref C.2: ring-64 at 1e-9 took 216 Chebyshev rounds and 6,131 linear ones (measured, one start).
        let bounds = ring_bounds(64);
        let chebyshev = AveragingKind::Chebyshev
            .rounds(bounds, 1e-9)
            .expect("contracts");
        let linear = AveragingKind::Linear
            .rounds(bounds, 1e-9)
            .expect("contracts");
        assert!((210..=225).contains(&chebyshev), "{chebyshev}");
        assert!((6000..=6600).contains(&linear), "{linear}");
    }

    #[test]
    fn bounds_that_do_not_contract_and_bad_tolerances_are_refused() {
        let bad = [(-1.0, 0.5), (0.0, 1.0), (0.5, 0.0), (f64::NAN, 0.5)];
        for (lowest, second) in bad {
            let outcome = AveragingKind::Linear.rounds(MixingBounds { lowest, second }, 0.1);
            assert!(
                matches!(outcome, Err(AveragingError::NotContracting { .. })),
                "{lowest} {second}"
            );
        }
        for tolerance in [0.0, 1.0, -3.0, f64::NAN] {
            let outcome = AveragingKind::Linear.rounds(ring_bounds(8), tolerance);
            assert!(matches!(outcome, Err(AveragingError::Tolerance { .. })));
        }
        let slow = MixingBounds {
            lowest: -0.3,
            second: 1.0 - 1e-12,
        };
        assert!(matches!(
            AveragingKind::Linear.rounds(slow, 1e-9),
            Err(AveragingError::TooManyRounds { .. })
        ));
    }
}
