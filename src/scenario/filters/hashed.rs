//! What goes with a partition by hashes of users' names.
//!
//! Without a list of users their number is private, and so is the number of rows at a peer: one user more is one more. Whatever
//! needs either is refused there, so that nothing is planned by them.

use crate::config::{Config, PeerCount};
use crate::data::Partition;
use crate::privacy::Scheme;
use crate::scenario::error::{ExperimentError, NetworkError};
use crate::scenario::rules::{Rule, keep};

/// What says how many users there are, or which peer holds whom.
const RULES: &[Rule] = &[
    (
        "data.format",
        |config| !config.data.is_of_ratings(),
        "has rows without names to hash: leave peers.partition out",
    ),
    (
        "peers.count",
        |config| config.peers.count == PeerCount::Users,
        "= \"users\" is one peer per user: give a number of peers, or leave peers.partition out",
    ),
    (
        "peers.sizes",
        |config| config.peers.sizes.is_some(),
        "says how many users each peer holds, and a hash does not: leave one of the two out",
    ),
];

/// What is planned by the number of users.
const UNLISTED: &[Rule] = &[
    (
        "noise.scheme",
        |config| config.noise.scheme == Scheme::Ring,
        "= \"ring\" is planned by the most rows of a peer",
    ),
    (
        "algorithm.clip",
        |config| config.algorithm.clip(1).is_some(),
        "is planned by the number of users",
    ),
    (
        "data.values",
        |config| config.data.is_of_numbers(),
        "= \"ratings\" may be planned by the number of users",
    ),
    (
        "algorithm.kind",
        |config| config.algorithm.table().requirements().arrival.is_some(),
        "= \"streaming\" takes users in the order of their list",
    ),
    (
        "recommender",
        |config| config.recommender.is_some(),
        "weighs popularity by the number of users",
    ),
    (
        "pilot",
        |config| config.pilot.is_some(),
        "is read with the number of users",
    ),
];

/// Refuses settings that a partition by hashes cannot serve, whatever the data.
pub(super) fn check(config: &Config) -> Result<(), ExperimentError> {
    if config.peers.partition != Partition::Hashed {
        return Ok(());
    }
    keep(RULES, config, |key, why| NetworkError::Hashed { key, why })?;
    if config.hides_users() {
        keep(UNLISTED, config, |key, why| NetworkError::HashedUnlisted {
            key,
            why,
        })?;
    }
    Ok(())
}
