//! Two sessions under one budget: a pilot, and what is chosen by it.
//!
//! # What is run
//! A pilot spends the share f of μ². Everybody sees what it released, and a public rule chooses a session among declared ones: an
//! algorithm, its iterations, a degree floor, an averaging scheme. The session chosen spends 1 − f. Both are planned as if each had the
//! whole budget, and their noise is then multiplied: by 1/√f in the pilot and by 1/√(1 − f) in the other ([`Part::factors`]).
//!
//! # Statement
//! Let an adversary (a set of colluders that sees everything published) learn at most μ_0 from the pilot and at most μ_c from session c,
//! each planned for the whole budget, about one record of the *original* adjacency. Then it learns at most √(f·μ_0² + (1 − f)·max_c μ_c²) from
//! the pilot and the session chosen together, however the choice depends on what the pilot released. If all are within the μ of the
//! budget, so is that.
//!
//! # Proof
//! Noise 1/√f times as large makes the pilot √f·μ_0-GDP for this adversary, noise 1/√(1 − f) times as large session c √(1 − f)·μ_c-GDP, since
//! a Gaussian mechanism of μ whose noise is k times as large is one of μ/k. Given what the pilot published, c is a constant: the choice is a
//! function of that and of public numbers, and of nothing else. So the second mechanism is √(1 − f)·max_c μ_c-GDP *for every* outcome of the
//! first, and its noise is independent of the first one's. Adaptive composition (Dong, Roth & Su 2022, Theorem 3.2 and Corollary 3.3) gives
//! the root of the sum of squares. ∎
//!
//! Three things it rests on, and where they are kept:
//!
//! - *Every possible choice is private in the original adjacency.* A degree floor D divides rows by √max(d, D) and leaves nobody out, so
//!   that one record of the data as read is one of the rows whatever D is, with the Δ(D) of the bound for that D. (A floor that left users out
//!   would have another adjacency behind it: one interaction can bring a user across.) Each session is planned and checked as any other.
//! - *The choice sees noisy numbers only*, as [`campaign::auto`](crate::campaign::auto) is written: it is handed what was released.
//! - *The noise of the two is independent.* Keys of noise are bound to the whole plan, which differs; and the pilot has a seed of its own
//!   ([`Seed::pilot`]), so that they differ whatever plans say.
//!
//! What is *not* true: that a run which chose fewer iterations spent less. Its promise is what it was planned for.

use super::error::{ExperimentError, PilotTableError};
use super::experiment::Experiment;
use super::{completion, numbers};
use crate::algorithm::{AlgorithmKind, ClipRule};
use crate::config::{AlgorithmConfig, Config};
use crate::privacy::{Scheme, SensitivitySpec};
use crate::vocabulary::{Distribution, Quantity, Seed};

/// The part of μ² that one of two sessions spends: above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part(f64);

impl Part {
    /// The part of a session of this algorithm where a pilot has this share; `None` unless that is above 0 and below 1.
    #[must_use]
    pub fn of(kind: AlgorithmKind, share: f64) -> Option<Self> {
        let part = match kind {
            AlgorithmKind::Pilot => share,
            _ => 1.0 - share,
        };
        (share > 0.0 && share < 1.0).then_some(Self(part))
    }

    /// The part.
    #[must_use]
    pub fn get(self) -> f64 {
        self.0
    }

    /// What noise is multiplied by: 1/√part.
    #[must_use]
    pub fn factor(self) -> f64 {
        self.0.sqrt().recip()
    }

    /// The noise factors of so many releases whose own factors are `own` (empty: all 1). Σ 1/f_l² is the part of what it was.
    #[must_use]
    pub fn factors(self, own: &[f64], releases: usize) -> Vec<f64> {
        let factor = |index: usize| own.get(index).copied().unwrap_or(1.0) * self.factor();
        (0..releases).map(factor).collect()
    }
}

impl Experiment {
    /// The part of μ² that this experiment spends; `None` where it has no pilot and spends all.
    #[must_use]
    pub fn part(&self) -> Option<Part> {
        let pilot = self.config.pilot?;
        Part::of(self.config.algorithm.kind, pilot.share)
    }

    /// The root of all random streams of this experiment's sessions. A pilot has one of its own.
    #[must_use]
    pub fn root_seed(&self) -> Seed {
        let seed = Seed::from_u64(self.config.seed);
        match self.config.algorithm.kind {
            AlgorithmKind::Pilot => seed.pilot(),
            _ => seed,
        }
    }
}

/// Refuses a pilot before an algorithm that was not chosen by it: the rest of the budget would be spent without the pilot's release.
pub(super) fn check_alone(config: &Config) -> Result<(), PilotTableError> {
    let kind = config.algorithm.kind;
    let alone = matches!(kind, AlgorithmKind::Auto | AlgorithmKind::Pilot);
    match config.pilot {
        Some(_) if !alone => Err(PilotTableError::NotChosen { kind: kind.name() }),
        _ => Ok(()),
    }
}

/// The part of the budget that this experiment spends; `None` for all of it.
///
/// # Errors
/// [`PilotTableError`] for a share that is none, and for what two sessions under one budget do not go with.
pub(super) fn part(config: &Config) -> Result<Option<Part>, ExperimentError> {
    let kind = config.algorithm.kind;
    if kind == AlgorithmKind::Pilot {
        check_counts(config)?;
    }
    let Some(pilot) = config.pilot else {
        return Ok(None);
    };
    let share = pilot.share;
    if !(0.0..1.0).contains(&share) {
        return Err(PilotTableError::Share { found: share }.into());
    }
    if share == 0.0 {
        return match kind {
            AlgorithmKind::Pilot => Err(PilotTableError::Nothing.into()),
            _ => Ok(None),
        };
    }
    check_counts(config)?;
    check_composition(config)?;
    Ok(Part::of(kind, share))
}

/// Refuses data of which a pilot can say nothing, and adjacencies under which it may not.
fn check_counts(config: &Config) -> Result<(), PilotTableError> {
    let with = |key, why| Err(PilotTableError::With { key, why });
    if numbers::are_meant(&config.data) || completion::is_meant(config) {
        return with(
            "rows of numbers",
            "a pilot counts interactions; leave [pilot] out",
        );
    }
    let privacy = &config.privacy;
    let spec = SensitivitySpec::new(
        privacy.adjacency,
        privacy.sensitivity,
        1,
        config.data.degree_cap,
    );
    let bound = spec.of(Quantity::TailCounts, 1);
    bound.map(|_| ()).map_err(PilotTableError::Unproved)
}

/// Refuses what two sessions under one budget have not been shown to go with.
fn check_composition(config: &Config) -> Result<(), PilotTableError> {
    let with = |key, why| Err(PilotTableError::With { key, why });
    if config.noise.distribution != Distribution::Gaussian {
        return with(
            "noise.distribution = \"laplace\"",
            "counts of users have no bound in absolute values; set noise.distribution = \"gaussian\"",
        );
    }
    if config.noise.scheme == Scheme::Ring {
        return with(
            "noise.scheme = \"ring\"",
            "what samplers of integers deviate is charged for one session; set noise.scheme = \"pairwise\" or share = 0",
        );
    }
    let AlgorithmConfig { kind, clip, .. } = config.algorithm;
    let follows = matches!(
        kind,
        AlgorithmKind::Pilot
            | AlgorithmKind::Power
            | AlgorithmKind::Momentum
            | AlgorithmKind::Krylov
            | AlgorithmKind::Covariance
            | AlgorithmKind::IsometricCovariance
    );
    match follows && clip == ClipRule::None {
        true => Ok(()),
        false => Err(PilotTableError::Follows { kind: kind.name() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_budget_add_up_and_cost_what_they_are() {
        for share in [0.01, 0.05, 0.5, 0.99] {
            let pilot = Part::of(AlgorithmKind::Pilot, share).expect("above 0");
            let rest = Part::of(AlgorithmKind::Krylov, share).expect("above 0");
            assert!((pilot.get() + rest.get() - 1.0).abs() < 1e-15);
            for part in [pilot, rest] {
                let own = [0.5, 2.0, 1.0];
                let cost = |factors: &[f64]| factors.iter().map(|f| f.powi(-2)).sum::<f64>();
                let found = cost(&part.factors(&own, 3)) / cost(&own);
                assert!((found / part.get() - 1.0).abs() < 1e-12);
                let even = cost(&part.factors(&[], 4));
                assert!((even / (4.0 * part.get()) - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn shares_that_leave_one_session_nothing_are_none() {
        for share in [f64::NAN, -0.1, 0.0, 1.0, 2.0, f64::INFINITY] {
            assert_eq!(Part::of(AlgorithmKind::Pilot, share), None);
            assert_eq!(Part::of(AlgorithmKind::Power, share), None);
        }
    }
}
