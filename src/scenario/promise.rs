//! The promise that an experiment file asks for.

use super::pilot;
use crate::config::{Config, EngineKind};
use crate::plan::{LossTolerance, Noise, Promise, SchemeNumbers};
use crate::privacy::{Budget, Delta, Epsilon, PrivacyError, Scheme, SensitivitySpec};
use crate::vocabulary::Distribution;

/// What this configuration promises, of rows that every peer reads from a file of its own, or of one file that is dealt. What is public of a rating
/// is not known yet.
///
/// # Errors
/// [`PrivacyError`] for an ε or δ that is none, and for keys of noise that do not go together.
pub(super) fn of(config: &Config, own_files: bool) -> Result<Promise, PrivacyError> {
    let privacy = &config.privacy;
    let (epsilon, delta) = match config.noise.distribution {
        Distribution::Gaussian => {
            let Budget { epsilon, delta } = Budget::new(privacy.epsilon, privacy.delta())?;
            (epsilon, Some(delta))
        }
        Distribution::Laplace | Distribution::Wishart => {
            let epsilon = Epsilon::new(privacy.epsilon)?;
            (epsilon, Delta::new(privacy.delta()).ok())
        }
    };
    Ok(Promise {
        epsilon,
        delta,
        bounds: SensitivitySpec::new(
            privacy.adjacency,
            privacy.sensitivity(),
            config.data.degree_floor(),
            config.data.degree_cap().copied(),
        ),
        calibration: privacy.calibration,
        split: privacy.budget.clone(),
        part: pilot::share(config),
        noise: noise(config),
        colluders: privacy.colluders,
        losses: config.dropouts.map(|one| LossTolerance {
            tolerate: one.tolerate,
            retries: one.retries,
        }),
        participants: privacy.participants().or(own_files.then_some(1)),
        seen: config.engine.kind.seen(),
    })
}

/// Where the noise comes from.
fn noise(config: &Config) -> Noise {
    let (noise, privacy) = (&config.noise, &config.privacy);
    let numbers = SchemeNumbers {
        overhead: privacy.overhead,
        on_disconnect: privacy.on_disconnect,
        holders: noise.holders,
        bits: noise.bits,
    };
    Noise::named(noise.distribution, noise.scheme, numbers)
}

/// Refuses keys that Laplace or Wishart noise does not go with, and keys of Laplace noise without it.
///
/// # Errors
/// [`PrivacyError`] naming what to change.
pub(super) fn check(config: &Config) -> Result<(), PrivacyError> {
    let noise = &config.noise;
    if noise.distribution != Distribution::Laplace && noise.holders.is_some() {
        return Err(PrivacyError::HoldersOfNothing);
    }
    match noise.distribution {
        Distribution::Gaussian => return Ok(()),
        Distribution::Wishart => return check_wishart(config),
        Distribution::Laplace => {}
    }
    Epsilon::new(config.privacy.epsilon)?;
    if noise.scheme == Scheme::None {
        return Ok(());
    }
    if config.engine.kind == EngineKind::Analytic {
        return Err(PrivacyError::Laplace {
            problem: "engine \"analytic\" draws estimates from a Gaussian law: set engine.kind = \"lockstep\"",
        });
    }
    let found = config.privacy.delta();
    let shares = noise.scheme == Scheme::Pairwise && !config.engine.kind.reveals_only_sums();
    if noise.holders.is_some() && shares {
        Delta::new(found)?;
    }
    of(config, false)?.check_laplace()?;
    match noise.holders.is_none() && found != 0.0 {
        true => Err(PrivacyError::DeltaOfLaplace { found }),
        false => Ok(()),
    }
}

/// Refuses keys that Wishart noise does not go with.
fn check_wishart(config: &Config) -> Result<(), PrivacyError> {
    Epsilon::new(config.privacy.epsilon)?;
    if config.noise.scheme == Scheme::None {
        return Ok(());
    }
    if config.engine.kind == EngineKind::Analytic {
        return Err(PrivacyError::Wishart {
            problem: "engine \"analytic\" draws estimates from a Gaussian law: set engine.kind = \"central\" or \"federated\"",
        });
    }
    of(config, false)?.check_wishart()?;
    match config.privacy.delta() {
        0.0 => Ok(()),
        found => Err(PrivacyError::DeltaOfWishart { found }),
    }
}

/// Refuses a number of bits where there are no integers.
///
/// # Errors
/// [`PrivacyError::BitsOfNothing`].
pub(super) fn check_bits(config: &Config) -> Result<(), PrivacyError> {
    match config.noise.bits.is_some() && config.noise.scheme != Scheme::Ring {
        true => Err(PrivacyError::BitsOfNothing),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ExperimentError;
    use super::super::experiment::Experiment;
    use super::*;
    use crate::scenario::testing::sim;

    const USERS: [&str; 3] = [
        "privacy.adjacency=user",
        "peers.count=12",
        "topology.degree=4",
    ];

    fn with(more: &[&str]) -> Result<Experiment, ExperimentError> {
        sim("quickstart.toml", &[&USERS[..], more].concat())
    }

    #[test]
    fn persons_at_several_peers_are_refused_where_nothing_is_proved() {
        for (set, said) in [
            (
                &["privacy.participants_per_person=0"][..],
                "at one participant or more",
            ),
            (
                &["privacy.participants_per_person=13"],
                "there are 12 peers",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "privacy.adjacency=matrix",
                ],
                "not about rows of persons",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "noise.distribution=laplace",
                    "noise.holders=3",
                ],
                "noise.holders",
            ),
            (
                &[
                    "privacy.participants_per_person=2",
                    "engine.kind=central",
                    "algorithm={kind=\"power\",rank=2,iterations=2,clip=\"sparse-vector\"}",
                    "averaging={scheme=\"chebyshev\"}",
                ],
                "sparse-vector",
            ),
        ] {
            let refused = with(set).expect_err(said).to_string();
            assert!(refused.contains(said), "{refused}");
        }
        // One is what is meant without it.
        let (one, none) = (with(&["privacy.participants_per_person=1"]), with(&[]));
        let (one, none) = (one.expect("valid"), none.expect("valid"));
        assert_eq!(one.noise(), none.noise());
        assert_eq!(one.statement(), none.statement());
        assert!(one.groups().is_empty() && none.groups().is_empty());
    }

    #[test]
    fn a_curator_and_laplace_noise_protect_persons_at_several_peers_too() {
        for (set, least) in [
            (&["engine.kind=central"][..], 1.99),
            (&["engine.kind=federated", "noise.scheme=independent"], 1.9),
            (&["noise.scheme=local"], 1.99),
            (
                &[
                    "noise.scheme=local",
                    "noise.distribution=laplace",
                    "privacy.delta=0",
                ],
                1.99,
            ),
        ] {
            let plan = |k: usize| {
                let asked = format!("privacy.participants_per_person={k}");
                with(&[set, &[&asked]].concat()).expect("valid")
            };
            let (one, three) = (plan(1), plan(3));
            let factor = three.noise().sigma_sum() / one.noise().sigma_sum();
            let expected = match (one.config.noise.scheme, one.config.noise.distribution) {
                (Scheme::Local, Distribution::Gaussian) => 3.0_f64.sqrt(),
                _ => 3.0,
            };
            assert!((factor / expected - 1.0).abs() < 1e-8, "{set:?}: {factor}");
            if one.config.engine.kind == EngineKind::Central {
                assert_eq!(three.sigma_central(), three.noise().sigma_sum());
            }
            let group = three.groups().iter().find(|group| group.peers == 3);
            let epsilon = group.expect("stated").epsilon;
            assert!(
                epsilon <= 2.0 * (1.0 + 1e-8) && epsilon > least,
                "{set:?}: {epsilon}"
            );
        }
    }

    /// A pilot of half the budget and what follows it, under noise that every peer adds by itself, which is exactly what hides a person's rows.
    #[test]
    fn a_pilot_and_its_session_protect_persons_together() {
        let mut squares = 0.0;
        let mut allowed = 0.0;
        for kind in ["pilot", "covariance"] {
            let kind = format!("algorithm.kind={kind}");
            let asked = [
                "privacy.participants_per_person=2",
                "noise.scheme=local",
                "pilot.share=0.5",
                kind.as_str(),
            ];
            let set = [&USERS[..], &asked].concat();
            let part = crate::scenario::testing::part_of("quickstart.toml", &set).expect("valid");
            squares +=
                2.0 * part.plan().guarantee().division().cost() / part.noise().sigma_own().powi(2);
            allowed = part.calibrated().mu_total();
            // Stated is the whole, with what the other part spends.
            let stated = part.groups()[0].mu;
            assert!((stated / allowed - 1.0).abs() < 1e-8, "{stated} {allowed}");
        }
        let spent = squares.sqrt();
        assert!(
            spent <= allowed && spent > 0.999 * allowed,
            "{spent} {allowed}"
        );
    }
}
