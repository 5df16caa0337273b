//! The configurations of the sessions of an experiment whose algorithm is chosen: of its pilot, of what candidates are held against, and
//! of the choice.

use crate::algorithm::{PilotTable, Start};
use crate::campaign::advise::Candidate;
use crate::config::{AnyAlgorithmTable, Config};
use crate::scenario::{ExperimentError, PilotTableError};

/// Refuses what a choice would have to know of, and a budget divided among iterations that nobody knows.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    let open = |key, why| Err(PilotTableError::Open { key, why }.into());
    if config.recommender.is_some() {
        return open(
            "[recommender]",
            "recommendations are made of a released Gram matrix, and most candidates release none; set algorithm.kind = \"isometric-covariance\", or leave \
             [recommender] out",
        );
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

fn start_of(config: &Config) -> Start {
    config.algorithm.table().requirements().start
}

/// The pilot: the same data, graphs, noise and promise.
pub(super) fn of_pilot(config: &Config) -> Config {
    let mut config = shared(config);
    config.algorithm = PilotTable {
        rank: 1,
        iterations: 1,
        start: start_of(&config),
    }
    .into();
    config
}

/// What candidates are held against: any algorithm that can follow the pilot.
pub(super) fn ground(config: &Config) -> Config {
    let mut config = shared(config);
    let rank = config.algorithm.table().rank();
    config.algorithm = AnyAlgorithmTable::power(rank, 1, start_of(&config));
    config
}

/// The session that was chosen.
pub(super) fn chosen(config: &Config, candidate: &Candidate, reference_floor: u32) -> Config {
    let mut config = shared(config);
    config.algorithm = candidate.algorithm;
    config.averaging = candidate.averaging.clone();
    config.data.set_degree_floor(candidate.degree_floor);
    config.privacy.sensitivity = Some(candidate.sensitivity);
    config.evaluation.reference_floor = Some(reference_floor);
    config
}
