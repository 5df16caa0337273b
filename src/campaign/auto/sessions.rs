//! The configurations of the sessions of an experiment whose algorithm is chosen: of its pilot, of what candidates are held against, and
//! of the choice.

use crate::campaign::advise::Candidate;
use crate::config::{AlgorithmConfig, Config};
use crate::scenario::{ExperimentError, PilotTableError};

/// This algorithm from the start that `own` has, with its P so that it can be refused, and nothing else of `own`.
pub(super) fn bare(own: &AlgorithmConfig, plain: AlgorithmConfig) -> AlgorithmConfig {
    AlgorithmConfig {
        start: own.start,
        precondition: own.precondition,
        precondition_exponent: own.precondition_exponent,
        precondition_shrinkage: own.precondition_shrinkage,
        ..plain
    }
}

/// Refuses keys of an algorithm that is still to be chosen, and a budget divided among iterations that nobody knows.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let own = &config.algorithm;
    let refuse = |key| Err(PilotTableError::Chosen { key }.into());
    if own.iterations != 0 {
        return refuse("iterations");
    }
    let open = |key, why| Err(PilotTableError::Open { key, why }.into());
    if !own.precondition.is_none() {
        return open(
            "algorithm.precondition",
            "candidates are compared by the eigenvectors of A, not of P A P; leave precondition out, or name the algorithm",
        );
    }
    if config.recommender.is_some() {
        return open(
            "[recommender]",
            "recommendations are made of a released Gram matrix, and most candidates release none; set algorithm.kind = \"isometric-covariance\", or leave \
             [recommender] out",
        );
    }
    if *own != bare(own, AlgorithmConfig::plain(own.kind, own.rank, 0)) {
        return refuse("keys beside rank and start");
    }
    if !config.privacy.budget.is_even() {
        let (key, why) = (
            "privacy.budget",
            "weights are of iterations that are still to be chosen; leave it at \"even\"",
        );
        return Err(PilotTableError::With { key, why }.into());
    }
    if config.sweep.is_some() {
        let (key, why) = (
            "[sweep]",
            "a choice is made for one experiment; name an algorithm, or leave [sweep] out",
        );
        return Err(PilotTableError::With { key, why }.into());
    }
    Ok(())
}

/// With the table filled in, so that every session knows its part.
fn shared(config: &Config) -> Config {
    let mut config = config.clone();
    config.pilot = Some(config.pilot.unwrap_or_default());
    config
}

/// The pilot: the same data, graphs, noise and promise.
pub(super) fn of_pilot(config: &Config) -> Config {
    let mut config = shared(config);
    config.algorithm = bare(&config.algorithm, AlgorithmConfig::pilot());
    config
}

/// What candidates are held against: any algorithm that can follow the pilot.
pub(super) fn ground(config: &Config) -> Config {
    let mut config = shared(config);
    let own = config.algorithm;
    config.algorithm = bare(&own, AlgorithmConfig::power(own.rank, 1));
    config
}

/// The session that was chosen.
pub(super) fn chosen(config: &Config, candidate: &Candidate, reference_floor: u32) -> Config {
    let mut config = shared(config);
    config.algorithm = candidate.algorithm;
    config.averaging = candidate.averaging.clone();
    config.data.degree_floor = candidate.degree_floor;
    config.privacy.sensitivity = Some(candidate.sensitivity);
    config.evaluation.reference_floor = Some(reference_floor);
    config
}
